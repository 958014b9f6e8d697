"""Digits, trained in NVIDIA FLARE's simulator: sites that fedsift samples, beside FLARE's own random sampling.

Usage: python with_flare.py URL [--devices 10] [--sample-size 3] [--rounds 6] [--seeds 2] [--timeout 30]

Half-way one of the sites that train dies: it does not answer any more. A round later it comes back. Data moves between
sites by fedsift's orders before each round. Prints a table, and last a line of JSON for each seed.
"""

import argparse
import json
import tempfile
from pathlib import Path
from statistics import mean
from typing import Any

from digits import RATE, accuracy, fleet, name, new_model
from flare_site import AtRandom, Sampled, Site
from nvflare.job_config.api import FedJob
from radio import Radio

from fedsift_client.nvflare import ORDERS_TASK


def simulate(controller: Any, folder: Path, options: argparse.Namespace, seed: int, *, silent: bool) -> list[Any]:
    """Run a job with this controller; what it noted of each round."""
    job = FedJob(name="digits")
    job.job.set_app_packages(["fedsift_client"])  # installed at every site, so no part of the job
    job.to_server(controller)
    site = Site(str(folder), seed, options.rounds // 2 - 1, 1.5 * options.timeout, silent=silent)
    names = [name(device) for device in range(options.devices)]
    for one in names:
        job.to(site, one, tasks=["train", ORDERS_TASK])
    job.simulator_run(str(folder / "workspace"), threads=options.threads, log_config="ERROR")
    return [json.loads(line) for line in (folder / "report.jsonl").read_text().splitlines()]


def with_fedsift(options: argparse.Namespace, seed: int) -> dict[str, Any]:
    """Train on the sites that fedsift samples."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        controller = Sampled(
            fleet=fleet(options.devices, seed),
            sample_size=options.sample_size,
            rounds=options.rounds,
            learning_rate=RATE,
            initial={key: value.tolist() for key, value in new_model().items()},
            url=options.url,
            round_timeout=options.timeout,
            rejoin_timeout=options.timeout,
            checkpoint=str(folder / "checkpoint"),
        )
        rounds = simulate(controller, folder, options, seed, silent=True)
        radio = Radio(folder, seed)
        keys = ("accuracy", "sampled", "trained", "joined", "replaced", "ordered")
        told = {key: [one[key] for one in rounds] for key in keys}
        return {**told, "dead": radio.dead(), "moved": radio.moved()}


def at_random(options: argparse.Namespace, seed: int) -> list[float]:
    """Train on sites that FLARE samples."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        controller = AtRandom(str(folder / "report.jsonl"), options.sample_size, options.rounds, seed, options.timeout)
        rounds = simulate(controller, folder, options, seed, silent=False)
        return [one["accuracy"] for one in rounds]


def main() -> None:
    """Train both ways for each seed, and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--devices", type=int, default=10)
    parser.add_argument("--sample-size", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--timeout", type=int, default=30)
    parser.add_argument("--threads", type=int, default=10)
    options = parser.parse_args()
    start = accuracy(new_model())
    reports = []
    for seed in range(options.seeds):
        sampled = with_fedsift(options, seed)
        sampled["accuracy"].insert(0, start)
        reports.append({"seed": seed, **sampled, "random": [start, *at_random(options, seed)]})
    print("Mean accuracy of the last three rounds:\n")
    print("| seed | fedsift | FLARE at random | datapoints moved | died |\n|---|---|---|---|---|")
    for one in reports:
        late = [mean(one[key][-3:]) for key in ("accuracy", "random")]
        print(f"| {one['seed']} | {late[0]:.3f} | {late[1]:.3f} | {one['moved']} | {one['dead']} |")
    for one in reports:
        print(json.dumps(one))


if __name__ == "__main__":
    main()
