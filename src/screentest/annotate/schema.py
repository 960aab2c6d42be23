"""The tables, and the numbered steps by which older databases become newer ones.

``schema.toml`` declares the tables. A step, once released, is never edited: databases that took it
exist. Moments are seconds since 1970, UTC.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sql
from sqlalchemy import Connection

metadata = sql.MetaData()
_TYPES: Final[dict[str, Any]] = {
    "text": sql.Text,
    "int": sql.Integer,
    "float": sql.Float,
    "bool": sql.Boolean,
    "json": sql.JSON,
    "json?": sql.JSON(none_as_null=True),
}
_TABLES: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _column(row: str) -> sql.Column[Any]:
    name, kind, *marks = row.partition("#")[0].split()
    plain = kind.removesuffix("?")
    if plain.startswith(">"):
        table = plain.removeprefix(">")
        kept: Any = sql.ForeignKey(next(key for key in metadata.tables[table].primary_key))
    else:
        kept = sql.String(int(plain)) if plain.isdecimal() else _TYPES.get(kind, _TYPES.get(plain))
    flags: dict[str, Any] = {"primary_key": True} if "key" in marks else {"nullable": kind != plain}
    return sql.Column(name, kept, **flags, unique="unique" in marks or None)


def _parts(name: str) -> Iterator[Any]:
    yield from map(_column, _TABLES[name]["columns"].strip().split("\n"))
    if "unique" in _TABLES[name]:
        yield sql.UniqueConstraint(*_TABLES[name]["unique"].split())
    for index, columns in _TABLES[name].get("indexes", {}).items():
        yield sql.Index(index, *(sql.text(one) if " " in one else one for one in columns))


def _table(name: str) -> sql.Table:
    return sql.Table(name, metadata, *_parts(name))


meta, texts, translations, files = map(_table, ("meta", "texts", "translations", "files"))
units, workers, links, open_links = map(_table, ("units", "workers", "links", "open_links"))
sessions, sittings, media = map(_table, ("sessions", "sittings", "media"))
views, votes, log = map(_table, ("views", "votes", "log"))


def _first(connection: Connection) -> None:
    metadata.create_all(connection)


MIGRATIONS: Final[tuple[Callable[[Connection], None], ...]] = (_first,)
