"""Query parameters and headers that several slices take."""

from fastapi import Depends, Request

from app.http.problems import InvalidRequestError
from app.http.security import Owner
from app.wire.pointers import unknown

__all__ = ["KNOWN_PARAMETERS", "STRANGE"]


async def _refuse_strange(request: Request, _owner: Owner) -> None:
    """Refuse query parameters that the operation does not have: a misspelt filter must not select everything.

    Raises:
        InvalidRequestError: with the names that do not exist.
    """
    known = [parameter.alias for parameter in request.scope["route"].dependant.query_params]
    for name in request.query_params:
        if name not in known:
            raise InvalidRequestError.of_parameter(name[:64], unknown(name, known))


# For every router of the versioned API.
KNOWN_PARAMETERS = [Depends(_refuse_strange)]
# What an operation without any query parameter may say.
STRANGE = InvalidRequestError.of_parameter("colour", "does not exist here")
