"""Frozen results made for looking at: what plots draw and what the page steps over. Nothing is drawn here."""

from openset.results.views.bands import Band as Band
from openset.results.views.bands import oscr_band as oscr_band
from openset.results.views.classes import ClassRates as ClassRates
from openset.results.views.classes import class_rates as class_rates
from openset.results.views.details import Details as Details
from openset.results.views.details import details_at as details_at
from openset.results.views.histograms import Histogram as Histogram
from openset.results.views.histograms import probability_histogram as probability_histogram
from openset.results.views.histograms import score_histogram as score_histogram
from openset.results.views.risk import RiskCurve as RiskCurve
from openset.results.views.risk import risk_curve as risk_curve
from openset.results.views.runs import BenchRow as BenchRow
from openset.results.views.runs import GammaLog as GammaLog
from openset.results.views.runs import Sensitivity as Sensitivity
from openset.results.views.runs import TrainingLog as TrainingLog
from openset.results.views.samples import WorstSamples as WorstSamples
from openset.results.views.samples import class_texts as class_texts
from openset.results.views.samples import worst_samples as worst_samples
from openset.results.views.steps import Steps as Steps
from openset.results.views.steps import steps_of as steps_of
from openset.results.views.thin import thin as thin
