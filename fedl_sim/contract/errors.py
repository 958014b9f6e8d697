"""The one error of the contract. It stands alone, since this package imports the standard library only."""

__all__ = ["ContractError"]


class ContractError(Exception):
    """A value that breaks the contract: which field, and which rule.

    `field` is a path such as `plan.steps[2].fraction`; it is empty if the value as a whole is wrong.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}" if field else reason)
        self.field = field
        self.reason = reason

    def within(self, name: str) -> "ContractError":
        """The same error as the object sees it that has this value as its field `name`."""
        return ContractError(f"{name}.{self.field}" if self.field else name, self.reason)
