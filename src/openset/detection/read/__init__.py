"""Ground truth and results of detectors from files: COCO, VOC and YOLO folders."""
