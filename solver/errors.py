"""The root of the errors that users see, and those of the solver.

FedsiftError                     every failure that fedsift foresees; its text is meant for users
├── InvalidInputError            an input breaks a rule (also a ValueError)
├── MissingExtraError            a feature needs an optional dependency that is not installed
├── SamplingError                `sampler.errors`
│   ├── DuplicateSamplerError
│   ├── MissingLabelsError
│   ├── TooFewDevicesError
│   ├── TooManySetsError
│   ├── TooMuchWorkError
│   ├── UnknownSamplerError
│   ├── UnknownSchemeError
│   └── WeightsError
├── SimulationError              `fedl_sim.errors`
│   ├── CheckpointError
│   ├── DataSetError
│   ├── InvalidSettingError
│   └── TopologyError
├── ServiceError                 `app.http.problems`: a request is refused
├── ServiceRefusal               `app.commands.client`: a service refused a call
├── StoreError                   `app.store.database`: the database does not answer
├── BackupError                  `app.store.backup`: a backup cannot be made or restored
├── TargetError                  `app.webhooks.targets`: an address that webhooks may not call
└── GoneError                    `app.store.database`: the row that another refers to is gone

`FalseProofError` is not among them: it is a fault of this program, and no user can mend it.

An infeasible or unfinished problem is not an exception but a status of the answer (`solver.step.solution.Status`).
"""

from collections.abc import Callable, Mapping

__all__ = ["FalseProofError", "FedsiftError", "InvalidInputError", "MissingExtraError"]


class FedsiftError(Exception):
    """Any failure that fedsift foresees; its text is meant for users."""

    def __reduce__(self) -> tuple[Callable[..., "FedsiftError"], tuple[object, ...]]:
        # Errors of worker processes travel to their parent, whatever their constructors take.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[FedsiftError], args: tuple[object, ...], state: Mapping[str, object]) -> FedsiftError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class MissingExtraError(FedsiftError):
    """A feature needs an optional dependency that is not installed; the text names the extra to install."""


class InvalidInputError(FedsiftError, ValueError):
    """An input breaks a rule.

    `field` names the input, `index` the place in it, `value` what stands there and `reason` the rule. `index` is None
    if the field as a whole is wrong (its length, its shape).
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


class FalseProofError(RuntimeError):
    """A plan is better than a bound that no plan can reach: the bound is false, and so is every gap to it."""
