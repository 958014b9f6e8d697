"""Digits, trained in NVIDIA FLARE's simulator: sites that fedsift samples, beside FLARE's own random sampling.

Usage: python with_flare.py URL [--devices 8] [--sample-size 3] [--rounds 6] [--seeds 2] [--timeout 60]

Data moves between sites by fedsift's orders before each round. In round 2 the controller fails, and the job is started
again. In round 3 one of the sites that train does not answer any more; two rounds later it is back. Prints a table, and
last a line of JSON for each seed.
"""

import argparse
from pathlib import Path

from digits import RATE, fleet, name, new_model
from flare_site import AtRandom, Sampled, Site
from nvflare.job_config.api import FedJob
from story import compare

from fedsift_client.nvflare import ORDERS_TASK


def with_fedsift(options: argparse.Namespace, seed: int, folder: Path) -> Sampled:
    """A controller for the sites that fedsift samples."""
    return Sampled(
        fleet=fleet(options.devices, seed),
        sample_size=options.sample_size,
        rounds=options.rounds,
        learning_rate=RATE,
        initial={key: value.tolist() for key, value in new_model().items()},
        url=options.url,
        round_timeout=options.timeout,
        rejoin_timeout=options.timeout,
        meet_timeout=3 * options.timeout,
        checkpoint=str(folder / "checkpoint"),
    )


def at_random(options: argparse.Namespace, seed: int, folder: Path) -> AtRandom:
    """A controller for sites that FLARE samples, each training on what it holds. Nothing fails."""
    return AtRandom(str(folder), options.sample_size, options.rounds, seed, options.timeout)


def start(way: str, options: argparse.Namespace, seed: int, folder: Path) -> None:
    """Run a job in FLARE's simulator."""
    controller = with_fedsift if way == "fedsift" else at_random
    job = FedJob(name="digits")
    job.job.set_app_packages(["fedsift_client"])  # installed at every site, so no part of the job
    job.to_server(controller(options, seed, folder))
    for device in range(options.devices):
        job.to(Site(str(folder), seed, options.timeout), name(device), tasks=["train", ORDERS_TASK])
    job.simulator_run(str(folder / "workspace"), threads=options.devices, log_config="ERROR")


if __name__ == "__main__":
    compare("FLARE", __doc__, start)
