"""A page of one owner's rows."""

from app.store.database import ReadTransaction, Rows

__all__ = ["owned_page"]


def owned_page(t: ReadTransaction, table: str, columns: str, owner: str, *, limit: int, after: str | None) -> Rows:
    """The owner's rows of a table, oldest first, beginning after the row with the id `after`.

    `table` and `columns` become part of the statement: they are constants of the code, never a caller's words.
    """
    sql = f"SELECT {columns} FROM {table} WHERE owner = ?"  # noqa: S608 - constants
    parameters: list[object] = [owner]
    if after is not None:
        sql += f" AND (created_at, id) > (SELECT created_at, id FROM {table} WHERE id = ? AND owner = ?)"  # noqa: S608
        parameters += [after, owner]
    return t.rows(f"{sql} ORDER BY created_at, id LIMIT ?", *parameters, limit)
