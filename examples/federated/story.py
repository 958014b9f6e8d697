"""What both examples share: their options, what fails in them, what is noted of each round, and the table at the end.

Everything is in one folder, so that a server that starts again and the processes of the devices find it.
"""

import argparse
import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import mean
from typing import Any

from digits import Model, accuracy, new_model
from radio import Radio

from fedsift_client import Period

SERVER_FAILS_IN, DEVICE_DIES_IN, IT_IS_BACK_AFTER = 2, 3, 4


class Story:
    """In round 2 the server fails once. In round 3 one of those that train dies; after round 4 it is back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def server_fails(self, round_: int, trains: int) -> bool:
        """Called when data has moved and training would begin: whether the server fails now. `trains` is who dies."""
        failed = self.folder / "failed"
        if round_ == SERVER_FAILS_IN and not failed.exists():
            failed.touch()
            return True
        if round_ == DEVICE_DIES_IN:
            (self.folder / "dead").write_text(str(trains))
        return False

    def dead(self) -> int | None:
        """Who is dead."""
        try:
            return int((self.folder / "dead").read_text())
        except FileNotFoundError:
            return None

    def note(self, model: Model, period: Period | None = None, arrived: int = 0, **told: Iterable[int]) -> None:
        """Note what a round led to, and if it was planned, what the plan was and how much of it arrived."""
        line: dict[str, Any] = {"accuracy": accuracy(model), "dead": self.dead()}
        if period is not None:
            line |= {name: sorted(value) for name, value in told.items()}
            line |= {"run": period.answer["id"], "sampled": period.sampled.tolist(), "replaced": period.replaced}
            line |= {"ordered": sum(one.count for order in period.orders for one in order.sends), "arrived": arrived}
        with (self.folder / "rounds.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")
        if len(self.rounds()) == IT_IS_BACK_AFTER:
            (self.folder / "dead").unlink(missing_ok=True)

    def rounds(self) -> list[dict[str, Any]]:
        """What was noted of each round."""
        place = self.folder / "rounds.jsonl"
        return [json.loads(line) for line in place.read_text().splitlines()] if place.exists() else []


def compare(framework: str, about: str | None, start: Callable[[str, argparse.Namespace, int, Path], None]) -> None:
    """Train both ways for each seed, and print what happened.

    `start` begins or goes on with a simulation, one way (`fedsift` or `random`), until it ends or its server fails.
    """
    options = _options(about)
    reports = []
    for seed in range(options.seeds):
        with tempfile.TemporaryDirectory() as made:
            report: dict[str, Any] = {"seed": seed, "start": accuracy(new_model())}
            for way in ("fedsift", "random"):
                story = Story(Path(made, way))
                story.folder.mkdir()
                start(way, options, seed, story.folder)
                if len(story.rounds()) < options.rounds:
                    start(way, options, seed, story.folder)
                report[way] = story.rounds()
            reports.append({**report, "moved": Radio(Path(made, "fedsift"), seed).moved()})
    _show(framework, reports)


def _options(about: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", help="of fedsift")
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--sample-size", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--timeout", type=int, default=60, help="seconds that devices have for a round")
    return parser.parse_args()


def _show(framework: str, reports: list[dict[str, Any]]) -> None:
    """Print a table, and a line of JSON for each seed."""
    print("Mean accuracy of the last three rounds:\n")
    print(f"| seed | fedsift | {framework} at random | datapoints ordered | moved |\n|---|---|---|---|---|")
    for one in reports:
        late = [mean(line["accuracy"] for line in one[key][-3:]) for key in ("fedsift", "random")]
        ordered = sum(line["ordered"] for line in one["fedsift"])
        print(f"| {one['seed']} | {late[0]:.3f} | {late[1]:.3f} | {ordered} | {one['moved']} |")
    for one in reports:
        print(json.dumps(one))
