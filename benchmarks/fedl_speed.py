"""How fast a FedL round is: the compiled engine, a plain PyTorch loop, and Flower's simulation, in one run.

The task is the paper's: CNN on 28×28 images, batches of ten, rounds of five devices with 600 datapoints
each, τ = 5 epochs a round. Correctness comes first: the compiled engine must reach torch's parameters on
the same batches and masks before anything is timed. MNIST if it is found, else random images of its size.

Limits: wall time on a machine that may be shared, so each contender's best repetition counts; Flower's
first round, which starts its workers, is not counted. The last line is JSON.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from benchmarks.machine import describe
from benchmarks.options import parser
from fedl_sim.data.datasets import load_data_set
from fedl_sim.data.images import Images
from fedl_sim.engines.base import Engine
from fedl_sim.engines.compiled.engine import CompiledEngine
from fedl_sim.engines.models import Cnn, FloatArray
from fedl_sim.engines.torch import torch_engine, torch_module
from fedl_sim.errors import DataSetError
from fedl_sim.loop.devices import TrainingSettings, local_steps
from fedl_sim.loop.server import aggregate, last_of_each

DEVICES = 5
DATAPOINTS = 600
EPOCHS = 5
REPETITIONS = 3  # before Flower's rounds, and again after them
SETTINGS = TrainingSettings(learning_rate=0.01, batch_size=10, aggregation_period=EPOCHS)


def the_images() -> tuple[str, Images]:
    """Return MNIST's training split, or a stand-in of the same shape without touching the network."""

    def offline(address: str, target: Path) -> bytes:
        raise OSError(f"{address} is not fetched to {target} during a benchmark")

    try:
        return "mnist", load_data_set("mnist", fetch=offline).train
    except DataSetError:
        generator = np.random.default_rng(0)
        pixels = generator.integers(0, 256, (6000, 784), dtype=np.uint8)
        labels = generator.integers(0, 10, 6000)
        return "random images", Images(pixels, labels, side=28, classes=10, scale=1 / 128, shift=-1.0)


def our_round(engine: Engine, parameters: FloatArray, data: list[np.ndarray], threads: int) -> FloatArray:
    """Train one round as the simulator does."""
    jobs = [
        local_steps(engine, parameters, i, [(t, d) for t in range(EPOCHS)], SETTINGS, seed=0)
        for i, d in enumerate(data)
    ]
    return aggregate(last_of_each(jobs, threads))


def plain_round(model: Cnn, images: list[torch.Tensor], labels: list[torch.Tensor]) -> None:
    """Train one round as a plain PyTorch loop: features ready as tensors, devices one after the other."""
    start = torch_module(model).state_dict()
    for x, y in zip(images, labels, strict=True):
        module = torch_module(model)
        module.load_state_dict(start)
        optimiser = torch.optim.SGD(module.parameters(), lr=SETTINGS.learning_rate)
        module.train()
        for _ in range(EPOCHS):
            order = torch.randperm(len(y))
            for first in range(0, len(order), SETTINGS.batch_size):
                rows = order[first : first + SETTINGS.batch_size]
                # The channel mask, drawn as nn.Dropout2d draws it.
                module.keep = (torch.rand(len(rows), model.second_channels) >= model.dropout).float()
                optimiser.zero_grad()
                functional.cross_entropy(module(x[rows]), y[rows]).backward()  # type: ignore[no-untyped-call]
                optimiser.step()


def best_of(repetitions: int, work: Callable[[], object]) -> float:
    """Return the shortest wall time."""
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def flower_round(python: Path, images: list[np.ndarray], labels: list[np.ndarray]) -> tuple[float, str] | None:
    """Time Flower's rounds in its own environment; None if it is not installed there."""
    if not python.is_file():
        return None
    with tempfile.TemporaryDirectory() as folder:
        task = Path(folder) / "task.npz"
        columns = {f"images{i}": x for i, x in enumerate(images)} | {f"labels{i}": y for i, y in enumerate(labels)}
        np.savez(
            task,
            **columns,  # type: ignore[arg-type]
            devices=len(images),
            epochs=EPOCHS,
            batch=SETTINGS.batch_size,
            rate=SETTINGS.learning_rate,
        )
        script = Path(__file__).with_name("flower_rounds.py")
        # Neither Flower nor Ray may call home from a benchmark.
        quiet = {"FLWR_TELEMETRY_ENABLED": "0", "RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0"}
        done = subprocess.run(
            [python, script, task],
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
            env=os.environ | quiet,
        )
    if done.returncode != 0:
        print(f"Flower failed:\n{done.stderr[-2000:]}", file=sys.stderr)
        return None
    answer = json.loads(done.stdout.strip().splitlines()[-1])
    return answer["round_s"], answer["version"]


def check(images: Images, data: list[np.ndarray]) -> float:
    """Return the largest difference to torch after one epoch on the same batches and masks."""
    ours = CompiledEngine(Cnn(28), images, images)
    theirs = torch_engine(Cnn(28), images, images)
    w = ours.initial_parameters(np.random.default_rng(0))
    trained = [
        e.train_epoch(w, data[0], batch_size=SETTINGS.batch_size, learning_rate=SETTINGS.learning_rate, key=1)
        for e in (ours, theirs)
    ]
    difference = float(np.abs(trained[0] - trained[1]).max())
    if not difference < 1e-4:
        raise SystemExit(f"the compiled engine differs from torch by {difference:.1e}: nothing to time")
    return difference


def main() -> None:
    """Check, time, print."""
    command = parser(__doc__)
    command.add_argument("--flower-python", type=Path, default=Path("build/flower/bin/python"))
    command.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    arguments = command.parse_args()
    datapoints = 20 if arguments.smoke else DATAPOINTS

    name, images = the_images()
    generator = np.random.default_rng(0)
    data = [generator.choice(len(images), datapoints) for _ in range(DEVICES)]
    print(f"{describe('torch', 'numba')}, {arguments.threads} threads, seed 0, {name}")
    print(f"largest difference to torch after an epoch: {check(images, data):.1e}")

    model = Cnn(28)
    engine = CompiledEngine(model, images, images)
    w = engine.initial_parameters(np.random.default_rng(0))
    features = [images.features(rows).reshape(-1, 1, 28, 28) for rows in data]
    labels = [images.labels[rows] for rows in data]
    tensors = [torch.from_numpy(x) for x in features]
    targets = [torch.from_numpy(y) for y in labels]

    def ours() -> object:
        return our_round(engine, w, data, arguments.threads)

    ours()
    # In turns, so that a busy spell of the machine does not fall on one contender alone.
    round_s = best_of(REPETITIONS, ours)
    plain_s = best_of(1, lambda: plain_round(model, tensors, targets))
    flower = flower_round(arguments.flower_python.absolute(), features, labels)
    round_s = min(round_s, best_of(REPETITIONS, ours))
    plain_s = min(plain_s, best_of(2, lambda: plain_round(model, tensors, targets)))
    samples = DEVICES * datapoints * EPOCHS
    print(f"compiled engine   {samples / round_s:9.0f} samples/s   round {round_s:6.3f} s")
    print(f"plain PyTorch     {samples / plain_s:9.0f} samples/s   round {plain_s:6.3f} s   ", end="")
    print(f"{plain_s / round_s:5.1f}×")
    if flower is None:
        print("Flower            not installed (make bench-fedl installs it into build/flower)")
    else:
        seconds, version = flower
        print(f"Flower {version:<10} {samples / seconds:9.0f} samples/s   round {seconds:6.3f} s   ", end="")
        print(f"{seconds / round_s:5.1f}×")
    print(
        json.dumps(
            {
                "samples_per_s": samples / round_s,
                "plain_samples_per_s": samples / plain_s,
                "flower_samples_per_s": samples / flower[0] if flower else None,
                "round_s": round_s,
                "flower_round_s": flower[0] if flower else None,
            }
        )
    )


if __name__ == "__main__":
    main()
