"""Choosing the threshold above which a sample is rejected: by rule, on validation scores, then frozen and applied."""

from openset.operating.origin import Origin as Origin
from openset.operating.rates import Rate as Rate
from openset.operating.rates import Rates as Rates
from openset.operating.rule_card import RULES as RULES
from openset.operating.rule_card import Rule as Rule
from openset.operating.rules import at_acceptance as at_acceptance
from openset.operating.rules import at_fpr as at_fpr
from openset.operating.rules import best_accuracy as best_accuracy
from openset.operating.rules import best_f as best_f
from openset.operating.rules import best_youden as best_youden
from openset.operating.rules import choose as choose
from openset.operating.rules import conformal as conformal
from openset.operating.rules import min_cost as min_cost
from openset.operating.threshold import Threshold as Threshold
