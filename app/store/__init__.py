"""What must survive a crash: runs, their periods, and API keys. SQLite by default, PostgreSQL by one setting."""

from app.store.database import Database, StoreError, open_database
from app.store.records import KeyRecord, PeriodRecord, RunRecord
from app.store.store import Store

__all__ = ["Database", "KeyRecord", "PeriodRecord", "RunRecord", "Store", "StoreError", "open_database"]
