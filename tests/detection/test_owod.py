"""OWOD's own figures against a loop over detections."""

import numpy as np
import pytest

from detection_sets import random_set, random_wild
from detection_textbook import iou_by_hand, match_slowly
from openset.detection.measure.evaluation import matched
from openset.detection.measure.owod import owod
from openset.detection.measure.sets import arrange


def owod_slowly(known, found, wild, wild_found, recall):
    fate = match_slowly(known, found, "voc", 0.5)
    n_open = n_all = a_ose = 0
    for c in range(known.n_classes):
        rows = [(-found.score[d], 0, d) for d in range(len(found)) if found.category[d] == c]
        rows += [(-wild_found.score[d], 1, d) for d in range(len(wild_found)) if wild_found.category[d] == c]
        n_objects = int(((known.category == c) & known.counted).sum())
        hits, seen, opened, best = 0, 0, 0, None
        for _, is_wild, d in sorted(rows):
            if is_wild:
                near = [
                    iou_by_hand(wild_found.box[d], wild.box[g]) > 0.5
                    for g in range(len(wild.image))
                    if wild.image[g] == wild_found.image[d] and not wild.crowd[g]
                ]
                opened, seen = opened + any(near), seen + 1
            else:
                hits, seen = hits + fate["correct"][d], seen + (not fate["ignored"][d])
            distance = abs(hits / n_objects - recall)
            if best is None or distance < best[0]:
                best = (distance, opened, seen)
        a_ose += opened
        n_open, n_all = n_open + best[1], n_all + best[2]
    return n_open / n_all, a_ose


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("recall", [0.1, 0.3, 0.8])
def test_equals_a_loop(seed, recall):
    case = (*random_set(seed), *random_wild(seed))
    data = arrange(*case)
    result = owod(data, matched(data)[0], recall=recall)
    wi, a_ose = owod_slowly(*case, recall)
    assert a_ose > 0
    assert result.wi == pytest.approx(wi)
    assert result.a_ose == a_ose
    assert result.n_unknown == np.count_nonzero(case[2].counted)
