"""Softmax: plain cross-entropy, scored by the maximum softmax probability."""

from openset.methods._base import METHODS, Method


@METHODS.register("softmax")
class Softmax(Method):
    """Cross-entropy on the known classes; unknown score = 1 - max_k p_k.

    Hendrycks and Gimpel, ICLR 2017. In the ImageNet protocols this is the baseline S. Tables of other papers may use
    the name for another score or recipe; here it always means this score.
    """

    title = "Softmax"
    paper = "arXiv:1610.02136"
    score = "msp"
