"""Acc + AUC: the OpenAUC loss without its switch, for comparison."""

from openset.methods._base import METHODS
from openset.methods.openauc import OpenAUC


@METHODS.register("acc_auc")
class AccAUC(OpenAUC):
    """CE + weight * surrogate(r(mixture) - r(known)) over all knowns, correct or not; unknown score = -max logit.

    The ablation "Acc+AUC" of Wang et al., NeurIPS 2022, Table 2: it optimises accuracy and AUC side by side, not
    OpenAUC. The options are those of `openauc`.
    """

    title = "Acc + AUC"
    use_switch = False
