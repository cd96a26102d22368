"""Figures fit for a paper: one function per figure, frozen results in, a matplotlib figure out."""

from openset.errors import needing

with needing("Drawing figures"):
    import matplotlib as mpl  # noqa: F401

from openset.present.plots.bench import bench as bench
from openset.present.plots.classes import per_class_ccr as per_class_ccr
from openset.present.plots.curves import oscr as oscr
from openset.present.plots.curves import risk as risk
from openset.present.plots.curves import roc as roc
from openset.present.plots.curves import unknown_recall as unknown_recall
from openset.present.plots.detection import detection_confusion as detection_confusion
from openset.present.plots.detection import detection_errors as detection_errors
from openset.present.plots.detection import impact_of_families as impact_of_families
from openset.present.plots.detection import object_versus_background as object_versus_background
from openset.present.plots.detection import wilderness as wilderness
from openset.present.plots.detection import write_detection_figures as write_detection_figures
from openset.present.plots.evaluation import write_figures as write_figures
from openset.present.plots.histograms import score_histograms as score_histograms
from openset.present.plots.matrices import confusion as confusion
from openset.present.plots.style import save as save
from openset.present.plots.times import quality_against_time as quality_against_time
from openset.present.plots.training import gamma_over_epochs as gamma_over_epochs
from openset.present.plots.training import sensitivity as sensitivity
from openset.present.plots.training import training_curves as training_curves
