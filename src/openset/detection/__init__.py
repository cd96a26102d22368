"""Open-set object detection: what the open world does to any detector, from its COCO results."""
