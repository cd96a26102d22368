"""Grids of training runs: cells that share one, resumable runs, summaries; benchmarks and reproductions use them."""
