"""Figures fit for a paper: one function per figure, frozen results in, a matplotlib figure out."""

from openset.plots.bench import bench as bench
from openset.plots.classes import per_class_ccr as per_class_ccr
from openset.plots.curves import oscr as oscr
from openset.plots.curves import risk as risk
from openset.plots.curves import roc as roc
from openset.plots.curves import unknown_recall as unknown_recall
from openset.plots.detection import detection_confusion as detection_confusion
from openset.plots.detection import detection_errors as detection_errors
from openset.plots.detection import object_versus_background as object_versus_background
from openset.plots.detection import wilderness as wilderness
from openset.plots.detection import write_detection_figures as write_detection_figures
from openset.plots.evaluation import write_figures as write_figures
from openset.plots.histograms import score_histograms as score_histograms
from openset.plots.matrices import confusion as confusion
from openset.plots.style import save as save
from openset.plots.times import quality_against_time as quality_against_time
from openset.plots.training import gamma_over_epochs as gamma_over_epochs
from openset.plots.training import sensitivity as sensitivity
from openset.plots.training import training_curves as training_curves
