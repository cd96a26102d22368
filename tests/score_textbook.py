"""Every score as its formula reads, one sample at a time: slow, and written apart from what it checks."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp
from scipy.special import softmax as _softmax
from scipy.stats import genpareto, weibull_min


def _logits(outputs):
    return np.asarray(outputs.logits, dtype=float)


def _features(outputs):
    return np.asarray(outputs.features, dtype=float)


def _correct(train):
    right = _logits(train).argmax(axis=1) == train.labels
    return _logits(train)[right], _features(train)[right], np.asarray(train.labels)[right]


def max_logit(outputs, train):
    return [-max(z) for z in _logits(outputs)]


def msp(outputs, train, temperature=1.0):
    return [1 - _softmax(z / temperature).max() for z in _logits(outputs)]


def energy(outputs, train, temperature=1.0):
    return [-temperature * logsumexp(z / temperature) for z in _logits(outputs)]


def entropy(outputs, train):
    return [-sum(p * np.log(p) for p in _softmax(z)) for z in _logits(outputs)]


def margin(outputs, train):
    return [sorted(z)[-2] - max(z) for z in _logits(outputs)]


def gen(outputs, train, gamma=0.1, top=100):
    found = []
    for z in _logits(outputs):
        probabilities = sorted(_softmax(z))
        rest = [sum(probabilities[:place] + probabilities[place + 1 :]) for place in range(len(z))]
        terms = [(p * others) ** gamma for p, others in zip(probabilities, rest, strict=True)]
        found.append(sum(terms[-top:]))
    return found


def kl_matching(outputs, train):
    probabilities = _softmax(_logits(train), axis=1)
    predicted = probabilities.argmax(axis=1)
    typical = [probabilities[predicted == k].mean(axis=0) for k in range(probabilities.shape[1]) if k in predicted]
    return [min((p * np.log(p / d)).sum() for d in typical) for p in _softmax(_logits(outputs), axis=1)]


def _weibull(values):
    """Shape and scale of largest likelihood: where its derivative by the shape is 0."""
    logs = np.log(values)
    shape = brentq(lambda c: (values**c @ logs) / (values**c).sum() - 1 / c - logs.mean(), 0.01, 80, xtol=1e-14)
    return shape, np.mean(values**shape) ** (1 / shape)


def openmax(outputs, train, tail=20, top=10):
    logits, _, labels = _correct(train)
    n_classes = logits.shape[1]
    means = [logits[labels == k].mean(axis=0) for k in range(n_classes)]
    tails = [sorted(np.linalg.norm(logits[labels == k] - means[k], axis=1))[-tail:] for k in range(n_classes)]
    fits = [_weibull(np.array(one) - one[0] + 1) for one in tails]
    found = []
    for z in _logits(outputs):
        revised = z.copy()
        for i, k in enumerate(np.argsort(-z)[:top], start=1):
            distance = max(np.linalg.norm(z - means[k]) - tails[k][0] + 1, 0)
            extreme = weibull_min.cdf(distance, fits[k][0], scale=fits[k][1])
            weight = (min(top, n_classes) + 1 - i) / min(top, n_classes)
            revised[k] = z[k] * (1 - weight * extreme)
        found.append((z - revised).sum() - logsumexp(revised))
    return found


def _factor(x, top):
    kept = max(1, round(top * len(x)))
    return np.exp(x.sum() / sum(sorted(x)[-kept:]))


def scale(outputs, train, top=0.15):
    weight, bias = outputs.head
    return [-logsumexp(weight @ (x * _factor(x, top)) + bias) for x in _features(outputs)]


def scaled_logit(outputs, train, top=0.35):
    weight, bias = outputs.head
    return [-max(weight @ (x * _factor(x, top)) + bias) for x in _features(outputs)]


def ash(outputs, train, top=0.1, shape="s"):
    weight, bias = outputs.head
    found = []
    for x in _features(outputs):
        kept = max(1, round(top * len(x)))
        mask = np.zeros(len(x), dtype=bool)
        mask[np.argsort(x)[-kept:]] = True
        pruned = np.where(mask, x, 0.0)
        shaped = {"p": pruned, "s": pruned * np.exp(x.sum() / pruned.sum()), "b": np.where(mask, x.sum() / kept, 0.0)}
        found.append(-logsumexp(weight @ shaped[shape] + bias))
    return found


def react(outputs, train, quantile=0.9):
    weight, bias = train.head
    cap = np.percentile(_features(train).ravel(), 100 * quantile)
    return [-logsumexp(weight @ np.minimum(x, cap) + bias) for x in _features(outputs)]


def dice(outputs, train, sparsity=0.9):
    weight, bias = train.head
    contribution = weight * _features(train).mean(axis=0)
    kept = np.where(contribution > np.percentile(contribution, 100 * sparsity), weight, 0.0)
    return [-logsumexp(kept @ x + bias) for x in _features(outputs)]


def _classes(train):
    features, labels = _features(train), np.asarray(train.labels)
    means = {k: features[labels == k].mean(axis=0) for k in set(labels.tolist())}
    centred = np.array([x - means[k] for x, k in zip(features, labels.tolist(), strict=True)])
    return means, np.linalg.inv(centred.T @ centred / len(centred))


def mahalanobis(outputs, train):
    means, inverse = _classes(train)
    return [min((x - m) @ inverse @ (x - m) for m in means.values()) for x in _features(outputs)]


def relative_mahalanobis(outputs, train):
    features = _features(train)
    inverse = np.linalg.inv(np.cov(features.T, bias=True))
    gaps = [x - features.mean(axis=0) for x in _features(outputs)]
    nearest = mahalanobis(outputs, train)
    return [d - gap @ inverse @ gap for d, gap in zip(nearest, gaps, strict=True)]


def _unit(x):
    return x / np.linalg.norm(x)


def knn(outputs, train, k=50):
    bank = [_unit(x) for x in _features(train)]
    found = []
    for x in _features(outputs):
        distances = sorted(np.linalg.norm(_unit(x) - one) for one in bank)
        found.append(distances[min(k, len(bank)) - 1])
    return found


def nnguide(outputs, train, k=10):
    bank = [_unit(x) * logsumexp(z) for x, z in zip(_features(train), _logits(train), strict=True)]
    return [
        -logsumexp(z) * np.mean(sorted(_unit(x) @ one for one in bank)[-k:])
        for x, z in zip(_features(outputs), _logits(outputs), strict=True)
    ]


def vim(outputs, train, dim=None):
    weight, bias = train.head
    origin = -np.linalg.pinv(weight) @ bias
    features = _features(train) - origin
    values, vectors = np.linalg.eigh(features.T @ features / len(features))
    outside = vectors[:, np.argsort(-values)[features.shape[1] // 2 if dim is None else dim :]]
    size = [np.linalg.norm(x @ outside) for x in features]
    alpha = np.mean(_logits(train).max(axis=1)) / np.mean(size)
    return [
        alpha * np.linalg.norm((x - origin) @ outside) - logsumexp(z)
        for x, z in zip(_features(outputs), _logits(outputs), strict=True)
    ]


def fdbd(outputs, train):
    weight, _ = train.head
    mean = _features(train).mean(axis=0)
    found = []
    for x, z in zip(_features(outputs), _logits(outputs), strict=True):
        y = z.argmax()
        others = [k for k in range(len(z)) if k != y]
        distances = [abs(z[y] - z[k]) / np.linalg.norm(weight[y] - weight[k]) for k in others]
        found.append(-np.mean(distances) / np.linalg.norm(x - mean))
    return found


def nci(outputs, train, alpha=1e-4):
    weight, _ = train.head
    mean = _features(train).mean(axis=0)
    return [
        -weight[z.argmax()] @ (x - mean) / np.linalg.norm(x - mean) - alpha * np.abs(x).sum()
        for x, z in zip(_features(outputs), _logits(outputs), strict=True)
    ]


def she(outputs, train):
    _, features, labels = _correct(train)
    return [
        -x @ features[labels == z.argmax()].mean(axis=0)
        for x, z in zip(_features(outputs), _logits(outputs), strict=True)
    ]


def ghost(outputs, train):
    _, features, labels = _correct(train)
    found = []
    for x, z in zip(_features(outputs), _logits(outputs), strict=True):
        members = features[labels == z.argmax()]
        deviations = [
            abs(x[d] - members[:, d].mean()) / members[:, d].std(ddof=1)
            for d in range(len(x))
            if members[:, d].std(ddof=1) > 0
        ]
        found.append(-max(z) / sum(deviations))
    return found


def costarr(outputs, train):
    logits, features, labels = _correct(train)
    weight, _ = train.head
    low, high = logits.min(), logits.max()
    found = []
    for x, z in zip(_features(outputs), _logits(outputs), strict=True):
        y = z.argmax()
        both = np.array([np.concatenate([one, one * weight[y]]) for one in features[labels == y]]).mean(axis=0)
        own = np.concatenate([x, x * weight[y]])
        cosine = own @ both / np.linalg.norm(own) / np.linalg.norm(both)
        found.append(-min(1, max(0, (z[y] - low) / (high - low))) * (1 + cosine) / 2)
    return found


def postmax(outputs, train):
    """Where the distribution is neither 0 nor 1, which is all that it says."""
    logits, features, _ = _correct(train)
    fit = genpareto.fit(logits.max(axis=1) / np.linalg.norm(features, axis=1))
    quotients = _logits(outputs).max(axis=1) / np.linalg.norm(_features(outputs), axis=1)
    probability = genpareto.cdf(quotients, *fit)
    return np.where((probability > 0) & (probability < 1), 1 - probability, np.nan)
