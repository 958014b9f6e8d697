"""`python -m app.worker.health`: exits with 0 if a worker of this machine or container had a pulse lately, else with 1.

It asks no database, since a restart of the worker would not bring one back. It loads nothing but the standard library,
so it is done in a moment.
"""

import os
import sys
import tempfile
from pathlib import Path

from app.worker.scratch import pulse_age

__all__ = ["DEFAULTS", "is_working"]

# Between two pulses a worker waits for its interval, and for the database at most so often.
_LONGEST_CALLS = 3
# As in `app.settings`, which takes long to load.
DEFAULTS = {"WORKER_TIMEOUT": 10.0, "STORE_TIMEOUT": 5.0}


def is_working(scratch_root: Path, worker_timeout: float, store_timeout: float) -> bool:
    """Whether a worker had a pulse within the time that it may take without being stuck."""
    return pulse_age(scratch_root) <= worker_timeout + _LONGEST_CALLS * store_timeout


def _seconds(setting: str) -> float:
    return float(os.environ.get(f"FEDSIFT_{setting}") or DEFAULTS[setting])


if __name__ == "__main__":
    root = Path(os.environ.get("FEDSIFT_SCRATCH_DIR") or tempfile.gettempdir())
    sys.exit(0 if is_working(root, _seconds("WORKER_TIMEOUT"), _seconds("STORE_TIMEOUT")) else 1)
