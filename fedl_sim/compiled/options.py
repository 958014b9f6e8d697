"""How every kernel here is compiled."""

from typing import Any

__all__ = ["KERNEL"]

# contract: multiply and add become one instruction; reassoc: sums may be split over vector lanes.
# NaN and infinity keep their meaning, so a diverged run shows as such.
KERNEL: dict[str, Any] = {"cache": True, "nogil": True, "fastmath": {"contract", "reassoc", "nsz", "arcp"}}
