"""A model the user already has: found by name, run over samples, its outputs stored for scores, thresholds, decisions.

>>> from openset.models import FAMILIES
>>> sorted(FAMILIES)
['hf', 'onnx', 'run', 'timm', 'torchvision']
"""

from openset.models import hf, onnx, runs, timm, torchvision
from openset.models.card import FAMILIES as FAMILIES
from openset.models.card import Family as Family
from openset.models.card import Model as Model
from openset.models.card import Options as Options
from openset.models.card import open_model as open_model
from openset.models.card import register as register

_FOUND_BY_THEIR_CARDS = (hf, onnx, runs, timm, torchvision)
