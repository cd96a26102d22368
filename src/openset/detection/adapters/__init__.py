"""Detectors that are run on images: torchvision, transformers, and the small one of the demo."""
