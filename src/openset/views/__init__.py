"""Frozen results made for looking at: what figures draw and what the report steps over. Nothing is drawn here."""

from openset.views.bands import Band as Band
from openset.views.bands import oscr_band as oscr_band
from openset.views.classes import ClassFigures as ClassFigures
from openset.views.classes import class_figures as class_figures
from openset.views.details import Details as Details
from openset.views.details import details_at as details_at
from openset.views.histograms import Histogram as Histogram
from openset.views.histograms import probability_histogram as probability_histogram
from openset.views.histograms import score_histogram as score_histogram
from openset.views.risk import RiskCurve as RiskCurve
from openset.views.risk import risk_curve as risk_curve
from openset.views.runs import BenchRow as BenchRow
from openset.views.runs import GammaLog as GammaLog
from openset.views.runs import Sensitivity as Sensitivity
from openset.views.runs import TrainingLog as TrainingLog
from openset.views.steps import Steps as Steps
from openset.views.steps import steps_of as steps_of
from openset.views.thin import thin as thin
