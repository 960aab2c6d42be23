"""Database: one place for transactions, whichever of the two databases it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Row,
    create_engine,
    event,
    func,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    IntegrityError,
    NoSuchModuleError,
    ProgrammingError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout

from screentest._util.optional import install_line
from screentest.annotate import schema
from screentest.core import (
    BadOption,
    MissingPackage,
    Reason,
    RunTooNew,
    ScreentestError,
    StorageError,
    UserError,
)

_BEGAN = time.time() - time.monotonic()


def steady() -> float:
    """Return seconds since 1970 by a clock that nobody puts forward or back meanwhile."""
    return _BEGAN + time.monotonic()


class Database:
    """Transactions on the votes. Reading sees one moment; writing is whole or nothing."""

    def __init__(self, url: str) -> None:
        self.url = _checked(url)
        self.sqlite = self.url.get_backend_name() == "sqlite"
        more: dict[str, Any] = {} if self.sqlite else {"pool_pre_ping": True}
        self._engine = create_engine(self.url, pool_size=10, max_overflow=40, **more)
        # SQLite lets one write at a time; waiting here is fair, waiting there is not.
        self._turn = threading.Lock()
        if self.sqlite:
            event.listen(self._engine, "connect", _prepare_sqlite)
            event.listen(self._engine, "begin", _begin_sqlite)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with _reached(), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Connection]:
        """Return a transaction that changes something.

        With ``durable`` off, a power cut may take the last moments back (never half of one):
        good enough for where a playhead was, not for a vote.
        """
        if not self.sqlite:
            with _reached(), self._engine.begin() as connection:
                if not durable:
                    connection.exec_driver_sql("SET LOCAL synchronous_commit TO off")
                yield connection
            return
        with self._turn, _reached(), self._engine.connect() as raw:
            connection = raw.execution_options(screentest_writes=True, screentest_durable=durable)
            with connection.begin():
                yield connection

    def lock(self, connection: Connection) -> None:
        """Let one transaction at a time hand out work. SQLite's writers are alone anyway."""
        if not self.sqlite:
            connection.execute(
                select(schema.meta.c.value).where(schema.meta.c.name == "schema").with_for_update()
            )

    def migrate(self) -> None:
        """Bring the tables to this version's; raises RunTooNew where they are ahead of it."""
        with self.write() as connection:
            if not self.sqlite:  # two servers may start at once
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7265616)")
            available = len(schema.MIGRATIONS)
            taken = _taken(connection)
            if taken > available:
                raise RunTooNew(
                    f"{self.shown} was written by a later version (schema {taken})",
                    advice="Update screentest.",
                )
            for step in schema.MIGRATIONS[taken:]:
                step(connection)
            if taken == 0:
                connection.execute(insert(schema.meta).values(name="schema", value=str(available)))
            elif taken < available:
                row = update(schema.meta).where(schema.meta.c.name == "schema")
                connection.execute(row.values(value=str(available)))

    @property
    def shown(self) -> str:
        """Return where it is, without the password."""
        return self.url.database or "" if self.sqlite else self.url.render_as_string()

    def close(self) -> None:
        self._engine.dispose()


def count(connection: Connection, table: FromClause, *conditions: ColumnElement[bool]) -> int:
    """Return how many rows of a table, or of a join, meet the conditions."""
    query = select(func.count()).select_from(table).where(*conditions)
    return int(connection.execute(query).scalar_one())


def first_of(
    connection: Connection, table: FromClause, *, locked: bool = False, **cells: Any
) -> Row[Any] | None:
    """Return the first row of a table with these cells, ``locked`` for the transaction."""
    query = select(table).filter_by(**cells)
    return connection.execute(query.with_for_update() if locked else query).first()


def default_store(place: Path) -> Path:
    """Return the SQLite file that belongs to a testbed or manifest."""
    folder = place / "annotate" if place.is_dir() else place.with_suffix(".annotate")
    return folder / "votes.sqlite"


def open_database(store: str | Path, *, create: bool = False) -> Database:
    """Open a store: the path of an SQLite file or a ``postgresql://`` URL."""
    text = str(store)
    if "://" not in text:
        path = Path(text)
        if not create and not path.is_file():
            raise UserError(
                f"{path} is not there",
                advice="Start with `screentest annotate serve`, or give `store`.",
            )
        if create:
            path.parent.mkdir(parents=True, exist_ok=True)
        text = f"sqlite:///{path.absolute()}"
    database = Database(text)
    try:
        database.migrate()
    except ScreentestError:
        database.close()
        raise
    except DBAPIError as error:
        database.close()
        raise _unusable(error) from None
    return database


@contextmanager
def _reached() -> Iterator[None]:
    """Raise StorageError where a database is gone, full or damaged."""
    try:
        yield
    except (DataError, IntegrityError, ProgrammingError):
        raise
    except (DBAPIError, PoolTimeout) as error:
        raise _unusable(error) from error


def _unusable(error: DBAPIError | PoolTimeout) -> StorageError:
    reason = str(getattr(error, "orig", error)).strip().partition("\n")[0]
    return StorageError(
        f"the store cannot be used: {reason}",
        advice="Free some space, check the path or URL, and that the database server runs.",
    )


def _checked(url: str) -> Any:
    try:
        parsed = make_url(url)
    except ArgumentError:
        parsed = None
    if parsed is None or parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise BadOption(
            "invalid store: must be an SQLite file or a postgresql:// URL",
            advice="Write postgresql://user:password@host/name.",
        )
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    try:
        parsed.get_dialect()().import_dbapi()
    except (ImportError, NoSuchModuleError):
        raise MissingPackage(
            Reason.MISSING_MODEL,
            f"the driver for {parsed.drivername} is missing",
            advice=f"Install it: {install_line(['psycopg'])}",
        ) from None
    return parsed


def _taken(connection: Connection) -> int:
    if not inspect(connection).has_table("meta"):
        return 0
    query = select(schema.meta.c.value).where(schema.meta.c.name == "schema")
    return int(connection.scalar(query) or 0)


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say so
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA busy_timeout = 30000")


def _begin_sqlite(connection: Connection) -> None:
    options = connection.get_execution_options()
    if not options.get("screentest_writes"):
        connection.exec_driver_sql("BEGIN")
        return
    level = "FULL" if options["screentest_durable"] else "NORMAL"
    connection.exec_driver_sql(f"PRAGMA synchronous = {level}")
    connection.exec_driver_sql("BEGIN IMMEDIATE")
