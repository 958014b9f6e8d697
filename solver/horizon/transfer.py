"""What a sender sends over a link that it has used before.

Let y be the share of k's data sent to i at step t, u the share that was not sent before, and a = D_k(1 − λ_ki).

`redraw`: the paper's eq. (8). The sender draws Φ anew from all of its data, so a·u·Φ of it is useful, and u falls by
the factor 1 − Φ. It sends what it sent before once more.

`send_once`: a sender never repeats itself over a link, as Sec. III-B assumes. y is at most u, a·y is useful, and u
falls by y. So the data of each receiver is linear in y. A redrawing plan Φ has a plan that sends once with the same
useful data and never more traffic: y = Φ·u.
"""

from enum import StrEnum

import numpy as np

from solver.arrays import FloatArray
from solver.errors import InvalidInputError

__all__ = ["DEFAULT_TRANSFER", "TRANSFERS", "Transfer", "transfer_named"]


class Transfer(StrEnum):
    """How a sender chooses what it sends over a link."""

    SEND_ONCE = "send_once"
    REDRAW = "redraw"

    def useful(self, fresh: FloatArray, unsent: FloatArray) -> FloatArray:
        """Useful datapoints of a fraction of 1."""
        return fresh * unsent if self is Transfer.REDRAW else fresh

    def limit(self, unsent: FloatArray) -> FloatArray | None:
        """The most that each fraction may be; None if that is the sender's whole data anyway."""
        return None if self is Transfer.REDRAW or bool(np.all(unsent == 1.0)) else unsent

    def share(self, unsent: FloatArray, fractions: FloatArray) -> FloatArray:
        """The share y of the sender's data that arrives for the first time."""
        return fractions * unsent if self is Transfer.REDRAW else fractions

    def left(self, unsent: FloatArray, fractions: FloatArray) -> FloatArray:
        """The share still unsent after these fractions."""
        if self is Transfer.REDRAW:
            return unsent * (1.0 - fractions)
        rest: FloatArray = np.maximum(unsent - fractions, 0.0)
        return rest


# It sends less, and plans are no worse (ADR 0052). The paper's evaluation is reproduced with `redraw`.
DEFAULT_TRANSFER = Transfer.SEND_ONCE
TRANSFERS = tuple(kind.value for kind in Transfer)


def transfer_named(name: str) -> Transfer:
    """The kind of this name.

    Raises:
        InvalidInputError: there is no such kind.
    """
    if name not in TRANSFERS:
        raise InvalidInputError("transfer", f"must be one of {', '.join(TRANSFERS)}, is {name!r}")
    return Transfer(name)
