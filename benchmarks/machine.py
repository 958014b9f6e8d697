"""What a benchmark's numbers were measured on."""

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

__all__ = ["describe"]


def describe(*packages: str) -> str:
    """One line: processor, cores, Python, commit, versions."""
    parts = [
        _processor(),
        f"{os.cpu_count()} cores",
        f"Python {platform.python_version()}",
        f"commit {_commit()}",
        *(f"{package} {version(package)}" for package in packages),
    ]
    return ", ".join(parts)


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()
