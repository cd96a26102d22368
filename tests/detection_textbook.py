"""Matching of detections written from its definition, slowly."""

import numpy as np


def iou_by_hand(a, b, crowd=False):
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    both = width * height
    return both / (a[2] * a[3] if crowd else a[2] * a[3] + b[2] * b[3] - both)


def match_slowly(truth, found, rule, bar):
    """A loop over detections by falling score, as the rules are told in words."""
    n = len(found)
    out = {"object": [-1] * n, "correct": [False] * n, "duplicate": [False] * n, "ignored": [False] * n}
    taken = set()
    for d in sorted(range(n), key=lambda d: -found.score[d]):  # sorted() keeps file order for ties
        here = [g for g in range(len(truth.image)) if truth.image[g] == found.image[d]]
        iou = {g: iou_by_hand(found.box[d], truth.box[g], truth.crowd[g]) for g in here}
        own = [g for g in here if truth.category[g] == found.category[d] and iou[g] > 0]
        crowds = [g for g in own if truth.crowd[g] and iou[g] >= bar]
        if rule == "coco":
            _coco_step(truth, d, own, iou, bar, taken, out)
            continue
        pool = own if rule == "voc" else [g for g in here if iou[g] > 0]
        pool = [g for g in pool if not truth.crowd[g]]
        best = max(pool, key=lambda g: (iou[g], -g), default=-1)
        out["object"][d] = best
        if best >= 0 and iou[best] >= bar and truth.category[best] == found.category[d]:
            if truth.ignore[best]:
                out["ignored"][d] = True
            elif best in taken:
                out["duplicate"][d] = True
            else:
                out["correct"][d] = True
                taken.add(best)
        elif crowds:
            out["ignored"][d] = True
    return {key: np.array(values) for key, values in out.items()}


def _coco_step(truth, d, own, iou, bar, taken, out):
    soft = truth.ignore | truth.crowd
    hard = [g for g in own if not soft[g] and g not in taken and iou[g] >= bar]
    easy = [g for g in own if soft[g] and (truth.crowd[g] or g not in taken) and iou[g] >= bar]
    if hard:
        best = max(hard, key=lambda g: (iou[g], g))
        taken.add(best)
        out["object"][d], out["correct"][d] = best, True
        return
    best = max([g for g in own if not truth.crowd[g]], key=lambda g: (iou[g], -g), default=-1)
    out["object"][d] = best
    if easy:
        taken.add(max(easy, key=lambda g: (iou[g], g)))
        out["ignored"][d] = True
    elif best >= 0 and iou[best] >= bar and not soft[best]:
        out["duplicate"][d] = True


def coco_objects(truth, found, kind=None):
    """Ground truth and results for COCOeval; `kind` is the COCO class of another package than pycocotools."""
    from pycocotools.coco import COCO

    coco = (kind or COCO)()
    coco.dataset = {
        "images": [{"id": i} for i in truth.image_ids],
        "categories": [{"id": i, "name": name} for i, name in zip(truth.class_ids, truth.class_names, strict=True)],
        "annotations": [
            {
                "id": i + 1,
                "image_id": int(truth.image[i]),
                "category_id": truth.class_ids[truth.category[i]],
                "bbox": truth.box[i].tolist(),
                "area": float(truth.box[i, 2] * truth.box[i, 3]),
                "iscrowd": int(truth.crowd[i]),
            }
            for i in range(len(truth.image))
        ],
    }
    coco.createIndex()
    rows = [
        {
            "image_id": int(found.image[d]),
            "category_id": truth.class_ids[found.category[d]],
            "bbox": found.box[d].tolist(),
            "score": float(found.score[d]),
        }
        for d in range(len(found))
    ]
    return coco, coco.loadRes(rows)
