"""The package's exceptions.

FedsiftError
└── InvalidInputError (also a ValueError): an input breaks a rule; names field, index and value

Infeasible or unfinished problems are no exceptions: they are statuses of an answer (`solver.solution.Status`).
"""

__all__ = ["FedsiftError", "InvalidInputError"]


class FedsiftError(Exception):
    """Whatever this package raises on purpose."""


class InvalidInputError(FedsiftError, ValueError):
    """An input that breaks a rule: which field, where in it, which value, and why.

    `index` is None when the field as a whole is wrong (its length, its shape).
    """

    def __init__(
        self, field: str, reason: str, *, index: int | tuple[int, ...] | None = None, value: object = None
    ) -> None:
        self.field = field
        self.reason = reason
        self.index = index
        self.value = value
        place = field if index is None else f"{field}[{_spell(index)}]"
        given = "" if index is None else f" is {value!r}"
        super().__init__(f"{place}{given}: {reason}")


def _spell(index: int | tuple[int, ...]) -> str:
    return ", ".join(map(str, index)) if isinstance(index, tuple) else str(index)
