"""The peers: packages that the tests import where they are installed, and published programs that are no packages."""

from conformance.card import Peer


def define_torchvision_names() -> None:
    """Let torchvision be imported although its compiled part does not fit this torch; its names are enough here."""
    import torch

    try:
        import torchvision  # noqa: F401
    except ImportError:
        return
    except RuntimeError:
        library = torch.library.Library("torchvision", "FRAGMENT")
        for name in ("nms", "qnms"):
            if not hasattr(torch.ops.torchvision, name):
                library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _KEPT.append(library)  # its names last as long as it does


_KEPT: list[object] = []

SCIKIT_LEARN = Peer("scikit-learn", "scikit-learn")
SCIPY = Peer("SciPy", "scipy")
TORCHMETRICS = Peer("torchmetrics", "torchmetrics", define_torchvision_names)  # it imports what it finds
PYTORCH_OOD = Peer("pytorch-ood", "pytorch-ood", define_torchvision_names)
OSR_METRICS = Peer("osr-metrics", "osr-metrics")
CREPES = Peer("crepes", "crepes")
MLSTATKIT = Peer("MLstatkit", "MLstatkit")
PYCOCOTOOLS = Peer("pycocotools", "pycocotools")
FASTER_COCO_EVAL = Peer("faster-coco-eval", "faster-coco-eval")

ARPL = Peer("evaluation program of ARPL")
OSCR_LOOP = Peer("OSCR loop of ARPL, Vaze et al. and others")
VAZE = Peer("evaluation program of Vaze et al.")
OPENAUC_PAPER = Peer("OpenAUC paper, eq. 12")
OPENAUC_PROGRAM = Peer("evaluation program of OpenAUC")
OPENOOD = Peer("evaluation program of OpenOOD")
COMPARISON = Peer("evaluation program of openset-imagenet-comparison")
OOSA = Peer("evaluation program of PostMax and OOSA (Cruz et al.)")
POSTMAX = Peer("program of PostMax (Cruz et al.)")
GHOST = Peer("program of GHOST (Rabinowitz et al.)")
COSTARR = Peer("program of COSTARR (Rabinowitz et al.), as ND-25-Nuisance-Novelty has it")
OWOD = Peer("evaluation program of OWOD")
