"""Query parameters and headers that several slices take."""

from typing import Annotated

from fastapi import Depends, Header, Query, Request
from fastapi.dependencies.models import Dependant

from app.http.problems import InvalidRequestError
from app.http.security import Owner
from app.store.paging import Page, place_of
from app.wire.naming import LABEL_TEXT, NAME_TEXT
from app.wire.pointers import unknown

__all__ = ["EMPTY_PAGE", "KNOWN_PARAMETERS", "LOCATION", "STRANGE", "IdempotencyKey", "PageAsked"]

IdempotencyKey = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        pattern="^[!-~]{0,255}$",
        description="Sent again with the same body, it finds what it made before.",
    ),
]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many on a page.")]
After = Annotated[str, Query(max_length=100, description="`next` of the page before.")]
Name = Annotated[str, Query(pattern=f"^$|{NAME_TEXT}", description="Only those of this name.")]
Label = Annotated[
    list[Annotated[str, Query(pattern=LABEL_TEXT)]],
    Query(description="Only those with this label, as KEY:VALUE; given several times, with all of them."),
]


def _page(limit: Limit = 100, after: After = "", name: Name = "", label: Label = []) -> Page:  # noqa: B006 - read only
    try:
        place = place_of(after) if after else None
    except ValueError:
        raise InvalidRequestError.of_parameter("after", "must be `next` of the page before") from None
    pairs = (one.split(":", 1) for one in label)
    return Page(limit, place, name, tuple((key, value) for key, value in pairs))


PageAsked = Annotated[Page, Depends(_page)]


async def _refuse_strange(request: Request, _owner: Owner) -> None:
    """Refuse query parameters that the operation does not have: a misspelt filter must not select everything.

    Raises:
        InvalidRequestError: with the names that do not exist.
    """
    known = _names(request.scope["route"].dependant)
    for name in request.query_params:
        if name not in known:
            raise InvalidRequestError.of_parameter(name[:64], unknown(name, known))


def _names(dependant: Dependant) -> list[str]:
    own = [parameter.alias for parameter in dependant.query_params]
    return own + [name for one in dependant.dependencies for name in _names(one)]


# For every router of the versioned API.
KNOWN_PARAMETERS = [Depends(_refuse_strange)]
# What an operation without any query parameter may say.
STRANGE = InvalidRequestError.of_parameter("colour", "does not exist here")
EMPTY_PAGE = InvalidRequestError.of_parameter("limit", "Input should be greater than or equal to 1")
LOCATION = {"Location": {"schema": {"type": "string"}, "description": "Where it is."}}
