"""Short vectors as values inside kernels, so that sums stay in registers.

LLVM turns plain loops into vector instructions, but it writes sums back to memory in each pass, and it checks pointers
for overlap in front of every short loop. Here `load` gives a value of `WIDE` numbers of an array's type, and
`load_narrow` one of `NARROW`; the other functions take and return such values. Every machine runs them with what it
has: one register for sixteen numbers, or two or four. Nothing here checks bounds.
"""

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model

__all__ = ["NARROW", "WIDE", "if_greater", "load", "load_narrow", "multiply_add", "spread", "store"]

WIDE = 16
NARROW = 8
# A multiplication and an addition may become one instruction.
_FLAGS = ("contract", "nsz")


class VectorType(types.Type):
    """So many numbers of a type."""

    def __init__(self, dtype: Any, lanes: int) -> None:
        self.dtype, self.lanes = dtype, lanes
        super().__init__(name=f"Vector({dtype}, {lanes})")


@register_model(VectorType)
class VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    """A vector is one of LLVM's."""

    def __init__(self, manager: Any, vector: VectorType) -> None:
        number = manager.lookup(vector.dtype).get_value_type()
        super().__init__(manager, vector, ir.VectorType(number, vector.lanes))


def _place(context: Any, builder: Any, array: Any, arguments: Any, vector: Any) -> tuple[Any, int]:
    """A pointer to the vector at this index of this array, and the alignment that is sure."""
    data = context.make_array(array)(context, builder, arguments[0]).data
    place = builder.bitcast(builder.gep(data, [arguments[1]]), vector.as_pointer())
    return place, context.get_abi_sizeof(context.get_data_type(array.dtype))


def _load(array: Any, lanes: int) -> tuple[Any, Any]:
    found = VectorType(array.dtype, lanes)

    def generate(context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
        place, align = _place(context, builder, array, arguments, context.get_value_type(found))
        return builder.load(place, align=align)

    return found(array, types.intp), generate


@intrinsic
def load(_typing, array, index):  # type: ignore[no-untyped-def]
    """Return the `WIDE` numbers from this index of a flat array."""
    return _load(array, WIDE)


@intrinsic
def load_narrow(_typing, array, index):  # type: ignore[no-untyped-def]
    """Return the `NARROW` numbers from this index of a flat array."""
    return _load(array, NARROW)


@intrinsic
def store(_typing, array, index, vector):  # type: ignore[no-untyped-def]
    """Write a vector from this index of a flat array on."""

    def generate(context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
        place, align = _place(context, builder, array, arguments, arguments[2].type)
        builder.store(arguments[2], place, align=align)
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), generate


@intrinsic
def spread(_typing, number, like):  # type: ignore[no-untyped-def]
    """Return a vector like this one with this number in all lanes."""

    def generate(context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
        empty = ir.Constant(context.get_value_type(like), ir.Undefined)
        one = builder.insert_element(empty, arguments[0], ir.Constant(ir.IntType(32), 0))
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), like.lanes), [0] * like.lanes)
        return builder.shuffle_vector(one, empty, lanes)

    return like(like.dtype, like), generate


@intrinsic
def multiply_add(_typing, a, b, c):  # type: ignore[no-untyped-def]
    """Return a · b + c, lane by lane."""

    def generate(_context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
        x, y, z = arguments
        return builder.fadd(builder.fmul(x, y, flags=_FLAGS), z, flags=_FLAGS)

    return a(a, a, a), generate


@intrinsic
def if_greater(_typing, a, b, yes, no):  # type: ignore[no-untyped-def]
    """Return `yes` in each lane where a > b, else `no`."""

    def generate(_context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
        left, right, first, second = arguments
        return builder.select(builder.fcmp_ordered(">", left, right), first, second)

    return a(a, a, a, a), generate
