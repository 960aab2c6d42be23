"""The votes and all around them, in SQLite or PostgreSQL."""

from screentest.annotate.store.database import Database, default_store, open_database

__all__ = ["Database", "default_store", "open_database"]
