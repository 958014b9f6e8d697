"""`python -m app.operations.health`: whether the service on this machine is ready, as an exit status.

For a container's health check: it loads nothing but the standard library, so it is done in a moment.
"""

import os
import sys
import urllib.error
import urllib.request

__all__ = ["is_ready"]


def is_ready(port: int, timeout: float = 3.0) -> bool:
    """Whether /readyz on loopback answers 200."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=timeout) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, TimeoutError, ConnectionError):
        return False


if __name__ == "__main__":
    sys.exit(0 if is_ready(int(os.environ.get("FEDSIFT_PORT", "8000"))) else 1)
