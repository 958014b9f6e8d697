"""The work behind /v1/imports: from files to a fleet."""

import re
from dataclasses import replace

from starlette.responses import Response

from app.http.answers import encoded
from app.http.gate import JSON, Service
from app.http.problems import InvalidRequestError
from app.imports.assembly import DEFAULTS, Defaults, make_fleet
from app.imports.formats import read_sources
from app.imports.schemas import ImportOut, ImportRequest
from app.imports.tables import read_label_counts
from app.wire.arrays import read_plainly
from app.wire.budget import charge
from app.wire.estimate import JsonSize, imported_text
from solver.errors import InvalidInputError

__all__ = ["answer_import", "not_a_file"]

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


def answer_import(service: Service, _: str, body: bytes) -> Response:
    """Read the files, and make a fleet of them."""
    request = read_plainly(ImportRequest, body, _size(body))
    sources = [file.to_domain() for file in request.files]
    labels = None if request.label_counts is None else request.label_counts.to_domain()
    for source in sources if labels is None else [*sources, labels]:
        charge(imported_text(source.content), f"reading a file of {len(source.content)} bytes")
    try:
        made = make_fleet(
            read_sources(sources, request.format),
            Defaults() if request.defaults is None else request.defaults.to_domain(),
            label_counts=() if labels is None else read_label_counts(labels),
            symmetric=request.symmetric,
            strict=request.strict,
        )
    except InvalidInputError as error:
        raise _refusal(error) from None
    return Response(encoded(service, ImportOut.from_domain(made)), media_type=JSON)


def _size(body: bytes) -> JsonSize:
    """What the body holds: files are strings, and what stands in a string makes no objects."""
    return replace(JsonSize.of(_STRING.sub(b'""', body)), text=len(body) * 5)


def _refusal(error: InvalidInputError) -> InvalidRequestError:
    return InvalidRequestError.at("/defaults", error.reason) if error.field == DEFAULTS else not_a_file(str(error))


def not_a_file(reason: str) -> InvalidRequestError:
    """A file is wrong; the reason names it and the place in it."""
    return InvalidRequestError.at("/files", reason)
