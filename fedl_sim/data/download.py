"""Fetching a file with a progress bar."""

import os
import urllib.request
from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

__all__ = ["download"]

_TIMEOUT_S = 30
_CHUNK = 1 << 16


def download(address: str, target: Path) -> bytes:
    """Download an https address to `target` and return its bytes; nothing is left behind on failure.

    Raises:
        OSError: no connection, an answer other than success, or an unwritable folder.
    """
    if not address.startswith("https://"):
        raise ValueError("only https addresses are fetched")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(f"{target.suffix}.{os.getpid()}.part")
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    try:
        with (
            urllib.request.urlopen(address, timeout=_TIMEOUT_S) as answer,  # noqa: S310 — the scheme is checked
            part.open("wb") as file,
            Progress(*columns, transient=True) as progress,
        ):
            length = int(answer.headers.get("Content-Length") or 0)
            task = progress.add_task(target.name, total=length or None)
            while chunk := answer.read(_CHUNK):
                file.write(chunk)
                progress.advance(task, len(chunk))
        # Renaming is atomic: another process sees the whole file or none.
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return target.read_bytes()
