"""Every method of the registry: learns 32 samples, repeats itself, and scores what it was trained for."""

import math

import numpy as np
import pytest
import torch

from openset.backbones import build_backbone
from openset.errors import OpenSetError
from openset.methods import METHODS, Batch, Moment, options_of
from openset.methods._base import Trainable
from openset.methods._confusing import DualBatchNorm
from openset.posthoc import Outputs
from openset.train.network import Network

K = 4


def make_network(name, backbone="fastnet", shape=(1, 8, 8), **options):
    torch.manual_seed(0)
    method_class = METHODS[name]
    made = build_backbone(backbone, shape, method_class.n_outputs(K))
    method = method_class(made.n_features, K, **options)
    method.adapt(made, shape)
    return Network(made, method)


def samples(*, negatives):
    """Noise with one bright quarter per class; negatives are plain noise."""
    torch.manual_seed(1)
    labels = torch.arange(32) % K
    images = torch.rand(32, 1, 8, 8) * 0.3
    for place, label in enumerate(labels.tolist()):
        row, column = 4 * (label // 2), 4 * (label % 2)
        images[place, :, row : row + 4, column : column + 4] += 0.6
    if negatives:
        images = torch.cat([images, torch.rand(16, 1, 8, 8) * 0.3])
        labels = torch.cat([labels, torch.full((16,), -1)])
    return images, labels


def train(network, images, labels, epochs=60):
    network.method.prepare(labels)
    optimizers = {}
    for role in network.method.all_roles:
        parameters = list(network.method.parameters_of(role, network.backbone))
        own = network.method.optimizer_of(role, parameters)
        optimizers[role] = own or torch.optim.Adam(parameters, lr=1e-2)
    losses = []
    for epoch in range(epochs):
        for role in network.method.roles(epoch):
            torch.manual_seed(epoch)
            network.zero_grad()
            loss, _ = network(images, labels, Moment(epoch, epoch, float(epoch)), role)
            loss.backward()
            optimizers[role].step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("name", METHODS)
def test_overfits_32_samples(name):
    network = make_network(name)
    images, labels = samples(negatives=network.method.uses_negatives)
    losses = train(network, images, labels)
    network.eval()
    with torch.no_grad():
        embedding, logits = network(images)
    outputs = Outputs(logits.numpy(), embedding.numpy(), labels=labels.numpy(), background=network.method.background)
    known = labels.numpy() >= 0
    assert losses[-1] < losses[0]
    assert (outputs.known_logits().argmax(axis=1) == labels.numpy())[known].all()
    if (~known).any():
        score = network.method.unknown_score(outputs)
        assert score[known].max() < score[~known].min()


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_is_trained_by_exactly_one_role(name):
    network = make_network(name)
    trained = [
        id(parameter)
        for role in network.method.all_roles
        for parameter in network.method.parameters_of(role, network.backbone)
    ]
    assert sorted(trained) == sorted(id(parameter) for parameter in network.parameters())


@pytest.mark.parametrize("name", METHODS)
def test_card(name):
    method = METHODS[name]
    assert method.title
    assert method.paper
    assert method.__doc__
    assert "label_smoothing" in options_of(method)
    if method.trained_as:
        assert method.trained_as in METHODS


@pytest.mark.parametrize("pairing", ["slots", "halves", "all"])
@pytest.mark.parametrize("size", [1, 2, 3, 31])
def test_openauc_takes_any_batch_size(pairing, size):
    network = make_network("openauc", pairing=pairing, weight=1.0)
    images, labels = samples(negatives=False)
    network.eval()
    loss, _ = network(images[:size], labels[:size], Moment(0, 0, 0.0), "classifier")
    loss.backward()
    assert all(torch.isfinite(one.grad).all() for one in network.parameters() if one.requires_grad)


def test_openauc_mixed_at_the_embedding_equals_mixed_logits():
    network = make_network("openauc", weight=1.0).eval()
    images, labels = samples(negatives=False)
    moment = Moment(7, 0, 0.0)
    found = network(images, labels, moment, "classifier")[0]
    embedding, logits = network(images)
    plan = network.method.criterion.plan(labels, moment.seed)
    mixed = network.method(plan.mix(embedding))
    wanted = network.method.criterion(logits, labels, plan=plan, mixed=mixed)
    torch.testing.assert_close(found, wanted)


def test_openauc_mixed_inside_goes_through_the_rest_and_leaves_statistics_alone():
    network = make_network("openauc", weight=1.0, mix_at=2)
    images, labels = samples(negatives=False)
    plain = make_network("openauc", weight=0.0)
    for one in (network, plain):
        one(images, labels, Moment(7, 0, 0.0), "classifier")
    statistics = {name: value for name, value in plain.named_buffers() if "running" in name}
    assert statistics
    for name, value in network.named_buffers():
        if name in statistics:
            torch.testing.assert_close(value, statistics[name])
    network.eval()
    loss = network(images, labels, Moment(7, 0, 0.0), "classifier")[0]
    plan = network.method.criterion.plan(labels, 7)
    hidden = network.backbone(images, stop=2)
    mixed = network.method(network.backbone(plan.mix(hidden), start=2))
    logits = network(images)[1]
    torch.testing.assert_close(loss, network.method.criterion(logits, labels, plan=plan, mixed=mixed))
    away = make_network("openauc", weight=1.0).eval()
    assert not torch.isclose(loss, away(images, labels, Moment(7, 0, 0.0), "classifier")[0])


def test_openauc_weight_warms_up():
    images, labels = samples(negatives=False)
    losses = {}
    for progress in (0.0, 2.0, 4.0, 8.0):
        network = make_network("openauc", weight=1.0, warmup=4.0).eval()
        losses[progress] = network(images, labels, Moment(7, 0, progress), "classifier")[0].item()
    plain = make_network("softmax").eval()(images, labels, Moment(7, 0, 0.0), "classifier")[0].item()
    assert losses[0.0] == pytest.approx(plain)
    assert losses[8.0] == losses[4.0] != pytest.approx(plain)
    assert losses[2.0] == pytest.approx((losses[0.0] + losses[4.0]) / 2)


@pytest.mark.parametrize("name", ["openauc", "acc_auc", "partial_openauc"])
def test_openauc_begins_with_plain_cross_entropy(name):
    images, labels = samples(negatives=False)
    network = make_network(name, weight=1.0, start=3.0, warmup=2.0).eval()
    losses = {at: network(images, labels, Moment(7, 0, at), "classifier")[0].item() for at in (0.0, 2.9, 3.0, 4.0, 5.0)}
    plain = make_network("softmax").eval()(images, labels, Moment(7, 0, 0.0), "classifier")[0].item()
    assert losses[0.0] == losses[2.9] == losses[3.0] == plain
    assert losses[4.0] == pytest.approx((plain + losses[5.0]) / 2)
    assert losses[5.0] > plain
    at_once = make_network(name, weight=1.0, start=3.0).eval()
    assert at_once(images, labels, Moment(7, 0, 3.0), "classifier")[0].item() == pytest.approx(losses[5.0])


def test_openauc_mix_at_must_be_a_place():
    with pytest.raises(OpenSetError, match="'mix_at' must be 'embedding' or a number of stages, got 'middle'"):
        make_network("openauc", mix_at="middle")


def test_acc_auc_is_openauc_without_the_switch():
    images, labels = samples(negatives=False)
    moment = Moment(3, 0, 0.0)
    ours, ablation = (make_network(name, weight=1.0).eval() for name in ("openauc", "acc_auc"))
    printed = ours(images)[1].argmax(dim=1)
    ranked = ablation(images, labels, moment, "classifier")[0].item()
    assert ranked > ours(images, labels, moment, "classifier")[0].item()  # before training some are wrong
    same = [one(images, printed, moment, "classifier")[0].item() for one in (ours, ablation)]
    assert same[0] == same[1]  # where all are right the switch is on everywhere


def test_partial_openauc_ranks_the_hardest_mixtures():
    method = make_network("partial_openauc", max_fpr=0.25).method
    score = torch.tensor([5.0, -9.0, 1.0, 0.0, 2.0, 3.0, 4.0, 6.0, 7.0])
    usable = torch.tensor([True, False, True, True, True, True, True, True, True])
    assert method.hardest(score, usable).logical_and(usable).tolist() == [False, False, True, True, *[False] * 5]


def test_background_weights_follow_the_training_labels():
    method = make_network("background", negative_weight=0.5).method
    method.prepare(torch.tensor([0, 0, 0, 0, 1, 2, 3, -1, -1, -1]))
    wanted = torch.tensor([10 / (5 * 4), 2.0, 2.0, 2.0, 0.5 * 10 / (5 * 3)])
    torch.testing.assert_close(method.criterion.class_weights, wanted)
    with pytest.raises(OpenSetError, match="no negative samples"):
        method.prepare(torch.tensor([0, 1, 2, 3]))


def test_arpl_cs_keeps_statistics_of_generated_images_apart():
    network = make_network("arpl_cs")
    images, labels = samples(negatives=False)
    pair = next(one for one in network.modules() if isinstance(one, DualBatchNorm))
    for role in ("discriminator", "generator"):
        network(images, labels, Moment(0, 0, 0.0), role)
    assert (pair.real.running_mean == 0).all()  # the players have not shown it anything real
    assert (pair.generated.running_mean != 0).any()
    before = pair.generated.running_mean.clone()
    network(images, labels, Moment(0, 1, 0.0), "classifier")  # an epoch without generation
    assert (pair.real.running_mean != 0).any()
    assert torch.equal(pair.generated.running_mean, before)


class _Identity(Trainable):
    """Embeddings are the inputs."""

    def __init__(self, method):
        super().__init__()
        self.method = method

    def begin(self, inputs):
        return inputs

    def end(self, hidden):
        return hidden

    def classify(self, embedding):
        return self.method(embedding)


@pytest.mark.parametrize(
    ("term", "value", "slope"),
    [
        # x = (1, 0), points (0, 0) and (2, 1): d = 1/2 and 1; logits d - x.c = 1/2 and -1; D = 2.
        ("released", lambda h: math.exp(-h), lambda h: -math.exp(-h)),
        ("paper", lambda h: math.log(2) - h, lambda h: -1.0),
    ],
)
def test_arpl_cs_confusion_by_hand(term, value, slope):
    method = METHODS["arpl_cs"](2, 2, confusion_term=term)
    method.head.points.data = torch.tensor([[0.0, 0.0], [2.0, 1.0]])
    images = torch.tensor([[1.0, 0.0]], requires_grad=True)
    batch = Batch(_Identity(method), images, torch.tensor([0]), Moment(0, 0, 0.0))
    found = method.confusing(batch, images)
    logits = [0.5, 1.0] if term == "released" else [0.5, -1.0]
    slopes = [[1.0, 0.0], [-1.0, -1.0]]  # of d: 2 (x - c) / D; of the logits also - c
    if term == "paper":
        slopes[1] = [-3.0, -2.0]
    total = sum(math.exp(one) for one in logits)
    shares = [math.exp(one) / total for one in logits]
    entropy = -sum(share * math.log(share) for share in shares)
    assert found.item() == pytest.approx(value(entropy), rel=1e-5)
    found.backward()
    falls = [-share * (math.log(share) + entropy) for share in shares]  # of the entropy, by each logit
    wanted = [
        slope(entropy) * sum(fall * row[axis] for fall, row in zip(falls, slopes, strict=True)) for axis in (0, 1)
    ]
    torch.testing.assert_close(images.grad[0], torch.tensor(wanted), atol=1e-6, rtol=1e-5)


def test_arpl_cs_wants_a_term_that_exists():
    with pytest.raises(OpenSetError, match=r"arpl_cs: 'confusion_term' cannot be 'papers'. Did you mean 'paper'\?"):
        METHODS["arpl_cs"](2, 2, confusion_term="papers")


def test_arpl_cs_plays_in_every_other_epoch():
    method = make_network("arpl_cs").method
    assert [len(method.roles(epoch)) for epoch in range(4)] == [3, 1, 3, 1]


def test_arpl_cs_wants_images():
    with pytest.raises(OpenSetError, match="feature vectors: use arpl"):
        make_network("arpl_cs", backbone="mlp", shape=(5,))


@pytest.mark.parametrize("side", [8, 28, 32, 64])
def test_arpl_cs_generates_images_of_the_right_size(side):
    shape = (3, side, side)
    network = make_network("arpl_cs", shape=shape, filters=8)
    images = torch.rand(2, *shape)
    made = network.method.generate(Batch(network, images, torch.tensor([0, 1]), Moment(0, 0, 0.0)))
    assert made.shape == images.shape
    assert ((made >= 0) & (made <= 1)).all()


def test_objectosphere_scores_by_length_times_probability():
    method = make_network("objectosphere").method
    outputs = Outputs(np.log([[3.0, 1.0, 1e-30, 1e-30]]), np.array([[3.0, 4.0]]))
    assert method.unknown_score(outputs) == pytest.approx([-5 * 0.75])


@pytest.mark.parametrize(("name", "sign"), [("gcpl", -1), ("rpl", 1)])
def test_distance_methods_make_up_for_a_backbone_that_scales_its_embeddings(name, sign):
    plain, scaled, given = (METHODS[name](4, 3, **options) for options in ({}, {}, {"temperature": 0.2}))
    embedding = torch.randn(5, 4)
    for method, scale, temperature in ((plain, 1.0, 1.0), (scaled, 0.5, 0.25), (given, 0.5, 0.2)):
        method.adapt(build_backbone("fastnet", (1, 8, 8), 3, scale=scale), (1, 8, 8))
        torch.testing.assert_close(method(embedding), sign * method.head(embedding) / temperature)
    assert METHODS[name](4, 3).score == "msp"
    assert METHODS[name](4, 3, score="max_logit").score == "max_logit"
    with pytest.raises(OpenSetError, match=f"{name}: 'score' cannot be 'energy'"):
        METHODS[name](4, 3, score="energy")


def test_unknown_name():
    with pytest.raises(OpenSetError, match=r"no method named 'open_auc'. Did you mean 'openauc'\?"):
        METHODS["open_auc"]


def test_openauc_can_reject_by_another_score_than_it_ranks():
    outputs = Outputs(np.array([[3.0, 0.0], [8.0, 7.0]]))
    ranked = METHODS["openauc"](4, 2).unknown_score(outputs)
    other = METHODS["openauc"](4, 2, reject_by="msp")
    assert ranked[0] > ranked[1]
    assert other.unknown_score(outputs)[0] < other.unknown_score(outputs)[1]
    assert other.criterion.score == "max_logit"
    with pytest.raises(OpenSetError, match="reject_by"):
        METHODS["openauc"](4, 2, reject_by="knn")


class ScaledWithBias(METHODS["scaled"]):
    """The last layer of a network that was trained elsewhere usually has a bias."""

    def make_head(self):
        return torch.nn.Linear(self.n_features, self.n_classes)


def test_scaled_multiplies_features_and_adds_the_bias_after():
    torch.manual_seed(0)
    method = ScaledWithBias(12, K)
    features = torch.randn(9, 12).relu()
    with torch.no_grad():
        outputs = Outputs(method(features).numpy(), features.numpy(), head=method.linear_head())
        largest = features.sort(dim=1).values[:, -4:]  # 35 % of 12
        factor = (features.sum(dim=1) / largest.sum(dim=1)).exp()
        expected = -method(features * factor[:, None]).max(dim=1).values
    np.testing.assert_allclose(method.unknown_score(outputs), expected.numpy(), rtol=1e-5)
    wrong = -outputs.logits.max(axis=1) * factor.numpy()  # the bias multiplied, too
    assert np.abs(wrong - expected.numpy()).max() > 0.1


@pytest.mark.parametrize("name", METHODS)
def test_the_head_of_a_method_makes_its_logits_if_it_says_so(name):
    network = make_network(name).eval()
    images, _ = samples(negatives=False)
    with torch.no_grad():
        embedding, logits = network(images)
    head = network.method.linear_head()
    assert (head is None) == (name in ("gcpl", "rpl", "arpl", "arpl_cs"))
    if head is not None:
        weight, bias = head
        made = embedding.numpy() @ weight.T + (0 if bias is None else bias)
        np.testing.assert_allclose(made, logits.numpy(), rtol=1e-4, atol=1e-5)


def test_a_score_of_its_own_has_a_name_of_its_own():
    assert make_network("objectosphere").method.score_used() == {"name": "objectosphere", "params": {}}
    assert make_network("scaled").method.score_used() == {"name": "scaled_logit", "params": {"top": 0.35}}
