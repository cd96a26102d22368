"""What every number is counted from: checks, one sort, counts, decisions, resampling, alignment, the registry."""
