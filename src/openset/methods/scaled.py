"""Scaled logit: plain cross-entropy, scored by the largest logit times a factor from the activations."""

from openset.methods._base import METHODS, Method


@METHODS.register("scaled")
class Scaled(Method):
    """Cross-entropy on the known classes; unknown score = `scaled_logit`.

    The score is SCALE (Xu et al., ICLR 2024) with the largest logit in place of the energy. The training is that of
    `softmax`: one run serves both.
    """

    title = "Scaled logit"
    paper = "arXiv:2310.00227"
    score = "scaled_logit"
    trained_as = "softmax"
