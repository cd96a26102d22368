"""Maximum logit: plain cross-entropy, scored by the largest logit."""

from openset.methods._base import METHODS, Method


@METHODS.register("maxlogit")
class MaxLogit(Method):
    """Cross-entropy on the known classes; unknown score = -max_k z_k.

    Vaze et al., ICLR 2022 ("CE+" is this method with their long recipe). The training is that of `softmax`: one run
    serves both.
    """

    title = "Maximum logit"
    paper = "arXiv:2110.06207"
    score = "max_logit"
    trained_as = "softmax"
