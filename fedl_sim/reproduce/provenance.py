"""Which code made a result."""

import subprocess
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

__all__ = ["source_version"]


@lru_cache(maxsize=1)
def source_version() -> str:
    """The version, with the commit where the code runs from a clone: `VERSION+COMMIT`, `-dirty` if it was changed."""
    release = version("fedsift")
    folder = Path(__file__).parent
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--exclude=*"],  # noqa: S607
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return release
    return f"{release}+{described.stdout.strip()}"
