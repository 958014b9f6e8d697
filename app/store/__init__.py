"""The database that survives a crash: SQLite by default, PostgreSQL by one setting. Each slice has its own tables."""

from app.store.database import NewerSchemaError, NoAnswerError, StoreError
from app.store.store import Store

__all__ = ["NewerSchemaError", "NoAnswerError", "Store", "StoreError"]
