"""Training: from a recipe to weights, scores and a frozen threshold."""

from openset.errors import need

need("Training", "torch", "lightning_fabric", "safetensors")
