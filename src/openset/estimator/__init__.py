"""Estimators in the manner of scikit-learn that can say "unknown", and what scores and splits need to judge them."""

from openset.estimator.network import OpenSetClassifier as OpenSetClassifier
from openset.estimator.rejecting import RejectingClassifier as RejectingClassifier
from openset.estimator.scoring import OpenSetScorer as OpenSetScorer
from openset.estimator.scoring import calibrate as calibrate
from openset.estimator.scoring import open_auc_scorer as open_auc_scorer
from openset.estimator.scoring import scores_of as scores_of
from openset.estimator.splits import OpenSetKFold as OpenSetKFold
