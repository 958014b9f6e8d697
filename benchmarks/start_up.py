"""Time `make serve` in a fresh clone until the service is ready, with its parts.

The clone is of the last commit. pip downloads as it would for a user; nothing that this machine has compiled is used.
`kernels` is what the first plan needs; the guide and the other kernels are made beside. All seconds of the last table
count from the start. Only an idle machine gives numbers that mean something. The last line is a JSON object.
"""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from benchmarks.machine import describe

ROOT = Path(__file__).parents[1]
# Commands that make shows before it runs them: each begins a part.
BEGINS = {"venv": " -m venv .venv", "pip": "pip install", "kernels": "-m sampler.warm_up", "start": "fedsift serve"}
LONGEST = 1800.0


class _Clock:
    def __init__(self) -> None:
        self._begin = time.perf_counter()
        self.at: dict[str, float] = {}

    def mark(self, name: str) -> None:
        self.at.setdefault(name, round(time.perf_counter() - self._begin, 2))

    def follow(self, output: IO[str]) -> None:
        for line in output:
            sys.stderr.write(line)
            for name, command in BEGINS.items():
                if command in line and "build/docs" not in line:
                    self.mark(name)


def _answer(url: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})  # noqa: S310 - on this machine
    with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 - on this machine
        return json.loads(response.read())


def _is(true: Callable[[], object]) -> bool:
    try:
        return bool(true())
    except OSError:  # nobody listens yet, or 503
        return False


def _measure(clone: Path, port: int) -> dict[str, float]:
    clock = _Clock()
    left_out = {"NUMBA_CACHE_DIR", "VIRTUAL_ENV", "MAKEFLAGS", "MFLAGS", "MAKELEVEL"}
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    environment["FEDSIFT_DATABASE_URL"] = f"sqlite:///{clone}/fedsift.db"
    make = subprocess.Popen(
        ["make", "serve", f"PORT={port}"],
        cwd=clone,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert make.stdout is not None  # noqa: S101 - as asked for
    threading.Thread(target=clock.follow, args=(make.stdout,), daemon=True).start()
    url = f"http://127.0.0.1:{port}"
    awaited: dict[str, Callable[[], object]] = {
        "ready": lambda: _answer(f"{url}/readyz")["ready"],
        "guide": (clone / "app" / "guide" / "site.zip").exists,
        "all kernels": lambda: _answer(f"{url}/readyz")["kernels"] == "ok",
    }
    deadline = time.monotonic() + LONGEST
    try:
        while awaited:
            if make.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"make serve ended, or took too long; missing: {', '.join(awaited)}")
            for name in [name for name, true in awaited.items() if _is(true)]:
                clock.mark(name)
                del awaited[name]
                if name == "ready":
                    _first_plan(url)
                    clock.mark("first plan")
            time.sleep(0.1)
    finally:
        with contextlib.suppress(ProcessLookupError):  # all of it may have ended by itself
            os.killpg(make.pid, signal.SIGINT)  # as Ctrl+C does
        make.wait(60)
    return clock.at


def _first_plan(url: str) -> None:
    """Ask for the README's plan, and check it."""
    shown = re.search(r"-d '(\{.*?\n\})'", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    plan = _answer(f"{url}/v1/plans", json.loads(shown[1] if shown else "{}"))
    if plan["sampled_ids"] != ["hub"] or plan["max_violation"] != 0.0:
        sys.exit(f"not the README's plan: {plan}")


def main() -> None:
    """Measure once, and print the parts."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "fedsift"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        at = _measure(clone, port)
    begins = [*(at[name] for name in BEGINS), at["ready"]]
    parts = {name: round(end - begin, 2) for name, begin, end in zip(BEGINS, begins, begins[1:], strict=False)}
    moments = {name: at[name] for name in ("ready", "first plan", "guide", "all kernels")}
    print(f"{describe()}\n\n| part | seconds |\n|---|---|")
    print("\n".join(f"| {name} | {seconds} |" for name, seconds in parts.items()))
    print("\n| moment | seconds from the start |\n|---|---|")
    print("\n".join(f"| {name} | {seconds} |" for name, seconds in moments.items()))
    print(json.dumps({"machine": describe(), "parts": parts, "moments": moments}))


if __name__ == "__main__":
    main()
