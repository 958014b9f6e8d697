"""Digits, trained in Flower's simulator: nodes that fedsift samples, beside Flower's own random sampling.

Usage: python with_flower.py URL [--devices 8] [--sample-size 3] [--rounds 6] [--seeds 2] [--timeout 60]

Data moves between nodes by fedsift's orders before each round. In round 2 the process of the server app is killed and
starts again. In round 3 one of the nodes that train does not answer any more; two rounds later it is back. Prints a
table, and last a line of JSON for each seed.
"""

import argparse
import multiprocessing
from pathlib import Path

from flower_apps import at_random, with_fedsift
from story import compare


def start(way: str, options: argparse.Namespace, seed: int, folder: Path) -> None:
    """Simulate in a process of its own, which is killed in round 2."""
    program = with_fedsift if way == "fedsift" else at_random
    process = multiprocessing.get_context("spawn").Process(target=program, args=(options, seed, folder))
    process.start()
    process.join()


if __name__ == "__main__":
    compare("Flower", __doc__, start)
