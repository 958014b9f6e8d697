"""Seeds on a command line."""

__all__ = ["parse_seeds"]


def parse_seeds(text: str) -> tuple[int, ...]:
    """Read `0,1,2`, or `A:B` for A..B−1.

    >>> parse_seeds("3:5")
    (3, 4)
    """
    try:
        if ":" in text:
            first, last = text.split(":")
            return tuple(range(int(first), int(last)))
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"seeds must be numbers like 0,1,2 or a range like 0:5, not {text!r}") from None
