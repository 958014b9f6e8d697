"""Metrics that several server processes count together: each writes its numbers to a file, and a scrape adds them up.

prometheus_client decides when it is loaded whether it counts in files. So the folder is named before that.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["metrics_folder", "shared_metrics"]

_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


@contextmanager
def shared_metrics() -> Iterator[None]:
    """Have the processes that are forked in this block count together."""
    if "prometheus_client" in sys.modules:
        raise RuntimeError("prometheus_client was loaded before its folder was named")
    with tempfile.TemporaryDirectory(prefix="fedsift-metrics-") as folder:
        os.environ[_VARIABLE] = folder
        try:
            yield
        finally:
            del os.environ[_VARIABLE]


def metrics_folder() -> str | None:
    """Where the numbers of all processes are, if there are several."""
    return os.environ.get(_VARIABLE)
