"""A page of one owner's plans, runs or validations."""

import base64
import struct
from dataclasses import dataclass

from app.store.about import joined, written_labels
from app.store.database import ReadTransaction, Rows
from app.store.usage import Thing

__all__ = ["Page", "cursor", "owned_page", "place_of"]

_NO_PLACE = "not a place in a list"


@dataclass(frozen=True)
class Page:
    """Which rows are asked for: at most `limit`, after a place in time, of this name and with these labels.

    A place is the time and id of the last row seen. The row itself may have been deleted since.
    """

    limit: int
    after: tuple[float, str] | None = None
    name: str = ""
    labels: tuple[tuple[str, str], ...] = ()


def cursor(created_at: float, thing_id: str) -> str:
    """A place in a list, as callers get it."""
    return base64.urlsafe_b64encode(struct.pack(">d", created_at) + thing_id.encode()).decode().rstrip("=")


def place_of(text: str) -> tuple[float, str]:
    """The place behind a cursor.

    Raises:
        ValueError: it is none.
    """
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        (created_at,), thing_id = struct.unpack(">d", packed[:8]), packed[8:].decode("ascii")
    except (ValueError, struct.error):
        raise ValueError(_NO_PLACE) from None
    if not thing_id or "\0" in thing_id or cursor(created_at, thing_id) != text:
        raise ValueError(_NO_PLACE)
    return created_at, thing_id


def owned_page(t: ReadTransaction, thing: Thing, columns: str, owner: str, page: Page) -> Rows:
    """One row more than the page has, if there are more, oldest first; the last columns are those of `ABOUT`.

    `columns` become part of the statement: they are constants of the code, never a caller's words.
    """
    sql = f"{joined(thing, columns)} x.owner = ?"
    parameters: list[object] = [owner]
    if page.after is not None:
        sql += " AND (x.created_at, x.id) > (?, ?)"
        parameters += page.after
    if page.name:
        sql += " AND a.name = ?"
        parameters.append(page.name)
    for key, value in page.labels:
        # Both databases replace by exact text; LIKE would ignore the case of letters in one of them.
        sql += " AND REPLACE(a.labels, ?, '') <> a.labels"
        parameters.append(written_labels({key: value}))
    return t.rows(f"{sql} ORDER BY x.created_at, x.id LIMIT ?", *parameters, page.limit + 1)
