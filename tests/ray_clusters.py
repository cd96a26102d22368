"""For tests on Ray: commands that use it, and a local cluster of two machines of which one can be pulled."""

import os
import subprocess
import sys
from contextlib import contextmanager

OPENSET = [sys.executable, "-c", "from openset.cli import main; main()"]
BESIDE_OTHERS = {"RAY_worker_niceness": "0"}
"""Ray lets others go first, and where they never end the tests would not either."""
_CLUSTER = """
import sys
from ray.cluster_utils import Cluster
small = {"object_store_memory": 80_000_000}
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, **small})
nodes = [cluster.add_node(num_cpus=1, num_gpus=1, **small) for _ in range(2)]
cluster.wait_for_nodes()
print(cluster.address, flush=True)
sys.stdin.readline()
cluster.remove_node(nodes[0], allow_graceful=False)
print("gone", flush=True)
sys.stdin.readline()
cluster.shutdown()
"""


@contextmanager
def command(*words, cwd=None, **environment):
    """`openset` in a process of its own; it does not outlive the test."""
    kept = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    process = subprocess.Popen(
        [*OPENSET, *map(str, words)],
        cwd=cwd,
        env={**kept, **BESIDE_OTHERS, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


class _Cluster:
    def __init__(self, process):
        self._process = process
        self.address = process.stdout.readline().strip()

    def pull_one(self):
        """One of the two machines is gone, with all that runs on it."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "gone\n"


@contextmanager
def two_machines():
    """Two machines of one core and one pretended GPU each, and a head without any."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    others = {**os.environ, **BESIDE_OTHERS}
    with subprocess.Popen([sys.executable, "-c", _CLUSTER], text=True, env=others, **pipes) as process:
        try:
            yield _Cluster(process)
        finally:
            process.communicate("\n\n", timeout=600)
