"""What all models share: strict, finite, no unknown fields, and lists that stop at their first error."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidatorFunctionWrapHandler, WithJsonSchema, WrapValidator

__all__ = [
    "LARGEST",
    "SMALLEST",
    "AnswerModel",
    "Indices",
    "Matrix",
    "Measure",
    "Measures",
    "Optional",
    "RequestModel",
    "ShareMatrix",
    "Shares",
    "SignedMatrix",
    "given",
]

# Numbers are zero or within these: far beyond any network, and squares and quotients stay finite.
SMALLEST, LARGEST = 1e-12, 1e12

Measure = Annotated[float, Field(ge=0, le=LARGEST, allow_inf_nan=False)]
# The ranges of long columns are checked on whole arrays, which is faster; here they are only part of the schema.
_Index = Annotated[int, WithJsonSchema({"type": "integer", "minimum": 0, "exclusiveMaximum": 2**31})]
_Cell = Annotated[float, WithJsonSchema({"type": "number", "minimum": 0, "maximum": LARGEST})]
_Share = Annotated[float, WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})]
_SignedCell = Annotated[float, WithJsonSchema({"type": "number", "minimum": -LARGEST, "maximum": LARGEST})]


def _or_array(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    """Arrays come from `app.wire.arrays` and hold numbers already."""
    return value if isinstance(value, np.ndarray) else validate(value)


# A list stops at its first error: a million bad cells make one error.
if TYPE_CHECKING:
    Indices = Sequence[int] | NDArray[np.int64]
    Measures = Sequence[float] | NDArray[np.float64]
    Matrix = Sequence[Sequence[float]] | NDArray[np.float64]
    SignedMatrix = Sequence[Sequence[float]] | NDArray[np.float64]
    Shares = Sequence[float] | NDArray[np.float64]
    ShareMatrix = Sequence[Sequence[float]] | NDArray[np.float64]
else:
    _Numbers = Annotated[list[_Cell], FailFast()]
    Indices = Annotated[list[_Index], FailFast(), WrapValidator(_or_array)]
    Measures = Annotated[_Numbers, WrapValidator(_or_array)]
    Matrix = Annotated[list[_Numbers], FailFast(), WrapValidator(_or_array)]
    _Shares = Annotated[list[_Share], FailFast()]
    Shares = Annotated[_Shares, WrapValidator(_or_array)]
    ShareMatrix = Annotated[list[_Shares], FailFast(), WrapValidator(_or_array)]
    SignedMatrix = Annotated[list[Annotated[list[_SignedCell], FailFast()]], FailFast(), WrapValidator(_or_array)]


class RequestModel(BaseModel):
    """What callers send."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class AnswerModel(BaseModel):
    """What callers get."""

    model_config = ConfigDict(frozen=True)


def given(**values: Any) -> dict[str, Any]:
    """The values that are not None: a field without a value is left out of an answer, never null."""
    return {name: value for name, value in values.items() if value is not None}


def _drop_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


# `Optional[X]`: a field that may be left out but is never null. Generated clients are simpler without nullable unions.
if TYPE_CHECKING:
    from typing import Optional
else:

    class Optional:
        """None stands for a field that was left out; null is refused."""

        def __class_getitem__(cls, item: Any) -> Any:
            """The field's type."""
            return Annotated[item, Field(json_schema_extra=_drop_default)]
