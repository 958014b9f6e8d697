"""Errors of models and of the domain as JSON pointers and sentences; they repeat names of fields, never values."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from app.http.problems import ERROR_LIMIT, InvalidRequestError, MalformedError, ServiceError
from app.wire.problem import ErrorItem
from solver import InvalidInputError

__all__ = ["Faults", "located", "nearest", "refusal", "unknown"]

# More errors than this are only counted: listing them would take longer than reading the request.
_LISTABLE = 1000
# Fields that are unions, with the tags that pydantic puts into the locations of errors.
_UNIONS = {"topology": ("links", "matrix"), "source": ("network", "fleet", "stored", "generator", "plan", "run")}
# So much is repeated of a name that the caller made up.
_NAME_LENGTH = 64


class Faults:
    """Faults of several parts of a request, answered together."""

    def __init__(self) -> None:
        self._items: list[ErrorItem] = []
        self._count = 0

    @contextmanager
    def part(self) -> Iterator[None]:
        """Note what is wrong with a part and go on with the next; what the block did not finish must not be used."""
        try:
            yield
        except InvalidRequestError as error:
            self._items += error.errors
            self._count += error.count

    def check(self) -> None:
        """Refuse the request if anything was wrong.

        Raises:
            InvalidRequestError: with the faults of all parts.
        """
        if self._items:
            raise InvalidRequestError(self._items, count=self._count)


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


def refusal(error: ValidationError, model: type[BaseModel]) -> ServiceError:
    """The problem to answer with when a model refuses a body."""
    count = error.error_count()
    if count > _LISTABLE:
        return InvalidRequestError([ErrorItem(pointer="", detail=f"{count} rules are broken")], count=count)
    found = error.errors(include_url=False, include_context=False, include_input=False)
    if found[0]["type"] == "json_invalid":
        reason = found[0]["msg"].removeprefix("Invalid JSON: ")  # the parser's, with line and column
        return MalformedError(f"the body is not valid JSON: {reason}")
    items = [_item(model, one["type"], one["loc"], one["msg"]) for one in found[:ERROR_LIMIT]]
    return InvalidRequestError(items, count=count)


def unknown(name: str, known: list[str]) -> str:
    """What is said of a name that does not exist here; it has the nearest name that does."""
    near = nearest(name, known)
    return "does not exist here" + (f"; did you mean `{near}`?" if near else "")


def nearest(name: str, known: list[str]) -> str | None:
    """The known name that a made-up one is nearest to, if one is near at all."""
    return next(iter(get_close_matches(name[:_NAME_LENGTH].lower(), known, n=1)), None)


def _item(model: type[BaseModel], kind: str, loc: tuple[int | str, ...], message: str) -> ErrorItem:
    if kind == "extra_forbidden":
        name = str(loc[-1])
        return ErrorItem(
            pointer=_pointer((*loc[:-1], name[:_NAME_LENGTH])), detail=unknown(name, _fields(model, loc[:-1]))
        )
    if kind == "union_tag_invalid":
        known = " or ".join(repr(tag) for tag in _UNIONS.get(str(loc[-1]), ()))
        return ErrorItem(pointer=f"{_pointer(loc)}/kind", detail=f"must be {known}")
    if kind == "union_tag_not_found":
        return ErrorItem(pointer=f"{_pointer(loc)}/kind", detail="is missing")
    return ErrorItem(pointer=_pointer(loc), detail=message)


def _fields(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """The fields of the model at this place."""
    place: Any = model
    for part in loc:
        if isinstance(place, type) and issubclass(place, BaseModel):
            place = place.model_fields[str(part)].annotation
        elif get_origin(place) is list:
            place = get_args(place)[0]
        else:  # a union; the part is the tag of the member
            place = next(one for one in get_args(place) if part in get_args(one.model_fields["kind"].annotation))
    return [field.alias or name for name, field in place.model_fields.items()]


def _pointer(loc: tuple[int | str, ...]) -> str:
    parts = [str(part) for i, part in enumerate(loc) if not (i and part in _UNIONS.get(str(loc[i - 1]), ()))]
    return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in parts)
