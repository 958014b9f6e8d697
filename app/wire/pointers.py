"""Errors of models and of the domain as JSON pointers and sentences that do not repeat the caller's input."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pydantic import ValidationError

from app.http.problems import ERROR_LIMIT, InvalidRequestError, MalformedError, ServiceError
from app.wire.problem import ErrorItem
from solver import InvalidInputError

__all__ = ["located", "refusal"]

# More errors than this are only counted: listing them would take longer than reading the request.
_LISTABLE = 1000
# Fields that are unions, with the tags that pydantic puts into the locations of errors.
_UNIONS = {"topology": ("links", "matrix"), "source": ("network", "generator", "plan", "run")}


@contextmanager
def located(places: Mapping[str, str]) -> Iterator[None]:
    """Turn the domain's error about a field into a problem that points to its place in the request.

    `places` maps the first part of the domain's field name to a pointer; without one, the pointer is the field's own.
    """
    try:
        yield
    except InvalidInputError as error:
        head, _, rest = error.field.partition(".")
        pointer = places.get(head, f"/{head}") + (f"/{rest.replace('.', '/')}" if rest else "")
        index = error.index if isinstance(error.index, tuple) else () if error.index is None else (error.index,)
        raise InvalidRequestError.at("/".join((pointer, *map(str, index))), error.reason) from error


def refusal(error: ValidationError) -> ServiceError:
    """The problem to answer with when a model refuses a body."""
    count = error.error_count()
    if count > _LISTABLE:
        return InvalidRequestError([ErrorItem(pointer="", detail=f"{count} rules are broken")], count=count)
    found = error.errors(include_url=False, include_context=False, include_input=False)
    if found[0]["type"] == "json_invalid":
        return MalformedError("the body is not valid JSON")
    return InvalidRequestError([_item(one["type"], one["loc"], one["msg"]) for one in found[:ERROR_LIMIT]], count=count)


def _item(kind: str, loc: tuple[int | str, ...], message: str) -> ErrorItem:
    if kind == "extra_forbidden":
        # The last part is a name that the caller chose.
        return ErrorItem(pointer=_pointer(loc[:-1]), detail="has a field that does not exist here")
    if kind == "union_tag_invalid":
        known = " or ".join(repr(tag) for tag in _UNIONS.get(str(loc[-1]), ()))
        return ErrorItem(pointer=f"{_pointer(loc)}/kind", detail=f"must be {known}")
    if kind == "union_tag_not_found":
        return ErrorItem(pointer=f"{_pointer(loc)}/kind", detail="is missing")
    return ErrorItem(pointer=_pointer(loc), detail=message)


def _pointer(loc: tuple[int | str, ...]) -> str:
    parts = [str(part) for i, part in enumerate(loc) if not (i and part in _UNIONS.get(str(loc[i - 1]), ()))]
    return "".join(f"/{part}" for part in parts)
