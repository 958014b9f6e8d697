"""The version of the code that made a result."""

import subprocess
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

__all__ = ["source_version"]


@lru_cache(maxsize=1)
def source_version() -> str:
    """Return the version, in a clone with the commit: `VERSION+COMMIT`, with `-dirty` if files were changed."""
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
