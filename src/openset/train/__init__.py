"""Training: from a recipe to weights, scores and a frozen threshold."""
