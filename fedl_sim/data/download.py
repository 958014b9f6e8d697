"""Fetching a file with a progress bar."""

import urllib.request
from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from fedl_sim.atomic import atomic_file

__all__ = ["download"]

_TIMEOUT_S = 30
_CHUNK = 1 << 16


def download(address: str, target: Path) -> bytes:
    """Download an https address to `target` and return its bytes. A failure leaves no file behind.

    Raises:
        OSError: no connection, an answer other than success, or an unwritable folder.
    """
    if not address.startswith("https://"):
        raise ValueError("only https addresses are fetched")
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with (
        urllib.request.urlopen(address, timeout=_TIMEOUT_S) as answer,  # noqa: S310 — the scheme is checked
        atomic_file(target) as file,
        Progress(*columns, transient=True) as progress,
    ):
        length = int(answer.headers.get("Content-Length") or 0)
        task = progress.add_task(target.name, total=length or None)
        while chunk := answer.read(_CHUNK):
            file.write(chunk)
            progress.advance(task, len(chunk))
    return target.read_bytes()
