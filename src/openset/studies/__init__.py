"""Grids of trainings: cells that share a training, resumable runs, summaries; benchmarks and reproductions use them."""
