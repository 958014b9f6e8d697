"""The built-in models train without torch, and memory does not grow with the devices."""

import subprocess
import sys
import tracemalloc

import numpy as np

from fedl_sim.data.datasets import load_data_set
from fedl_sim.loop.holdings import Holdings
from fedl_sim.network.partition import partition_by_labels
from tests.support.waiting import PATIENCE

WITHOUT_TORCH = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"torch", "fastapi", "pydantic"}:
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
from fedl_sim.simulate.sweep import ExperimentSettings, simulate
from fedl_sim.network.realisation import RealisationSettings
from fedl_sim.loop.loop import RunSettings
experiment = simulate(ExperimentSettings(
    realisation=RealisationSettings(20, mean_datapoints=20),
    run=RunSettings(sample_size=3, aggregations=1),
    schemes=("ours-offload",),
))
print(experiment.runs[0].aggregations[-1].accuracy > 0)
try:
    simulate(ExperimentSettings(engine="torch"))
except Exception as error:
    print(type(error).__name__, error)
"""


def test_simulating_needs_no_torch_and_says_what_does() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert done.stdout.splitlines() == [
        "True",
        "MissingExtraError the torch engine needs torch: install fedsift[sim]",
    ]


def test_holding_data_costs_indices_not_images() -> None:
    images = load_data_set("digits").train
    peaks = []
    for n in (100, 800):
        partition = partition_by_labels(images, n, np.random.default_rng(0), mean_datapoints=50)
        tracemalloc.start()
        held = Holdings(images, partition, list(range(5)), radius=1.0)
        for device in range(5):
            held.covered(50, device)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # Eight times the devices, the same five sampled: nothing but noise may grow.
    assert peaks[1] < 1.5 * peaks[0]
