"""The tables, and the numbered steps by which older databases become newer ones.

A step, once released, is never edited: databases that took it exist. Moments are seconds since
1970, UTC.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

metadata = MetaData()

meta = Table(
    "meta",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)

texts = Table(
    "texts",
    metadata,
    Column("id", String(64), primary_key=True),  # sha256: one copy however many units show it
    Column("prompt", Text, nullable=False),
    Column("clips", JSON, nullable=False),
)

translations = Table(
    "translations",
    metadata,
    Column("text", String(64), primary_key=True),  # sha256 of the passage
    Column("language", String(20), primary_key=True),
    Column("body", Text, nullable=False),
    Column("model", Text, nullable=False),
)

files = Table(
    "files",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("path", Text, nullable=False, unique=True),
    Column("served", Text, nullable=False),  # the copy without tags, or the file itself
    Column("bytes", Integer, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("flashes", Integer),  # a second, in its worst second
    Column("stamp", String(40)),  # of the file that was measured
)

units = Table(
    "units",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("task", String(20), nullable=False),
    Column("key", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("video", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("aspect", String(40), nullable=False),
    Column("severity", Float),
    Column("clip_count", Integer),
    Column("groups", JSON, nullable=False),
    Column("models", JSON(none_as_null=True)),  # of an arena: whose the two videos are
    Column("pictures", JSON(none_as_null=True)),  # references that the model was given
    Column("text_id", ForeignKey("texts.id"), nullable=False),
    Column("first_file", ForeignKey("files.id"), nullable=False),
    Column("second_file", ForeignKey("files.id")),
    Column("marks", JSON, nullable=False),
    Column("questions", JSON, nullable=False),
    Column("is_gold", Boolean, nullable=False),
    Column("gold", JSON(none_as_null=True)),
    Column("seconds", Float, nullable=False),
    Column("place", Float, nullable=False),  # the order of handing out: shuffled
    Column("closed", Boolean, nullable=False),
    Column("votes", Integer, nullable=False),
    UniqueConstraint("task", "key"),
    # The next unit is the first entry of this that the worker may have.
    Index("units_open", "task", "closed", "is_gold", text("votes DESC"), "place"),
)

workers = Table(
    "workers",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("label", String(40), nullable=False, unique=True),
    Column("created_at", Float, nullable=False),
    Column("consented_at", Float),
    Column("language", String(20), nullable=False),
    Column("excluded", Boolean, nullable=False),
)

links = Table(
    "links",
    metadata,
    Column("token_hash", String(64), primary_key=True),
    Column("worker_id", ForeignKey("workers.id"), nullable=False),
    Column("expires_at", Float, nullable=False),
)

open_links = Table(
    "open_links",
    metadata,
    Column("token_hash", String(64), primary_key=True),  # whoever has it says who they are
    Column("expires_at", Float, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("id_hash", String(64), primary_key=True),
    Column("worker_id", ForeignKey("workers.id")),  # none: the operator
    Column("expires_at", Float, nullable=False),
)

sittings = Table(
    "sittings",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("unit_id", ForeignKey("units.id"), nullable=False),
    Column("worker_id", ForeignKey("workers.id"), nullable=False),
    Column("left_video", Integer, nullable=False),  # 0: the unit's first video is on the left
    Column("step", String(20), nullable=False),
    Column("issued_at", Float, nullable=False),
    Column("step_at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
    Column("done_at", Float),
    Column("skipped", Boolean, nullable=False),
    UniqueConstraint("unit_id", "worker_id"),
    Index("sittings_of_worker", "worker_id", "done_at"),
    Index("sittings_alive", "done_at", "expires_at"),
)

media = Table(
    "media",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("sitting_id", ForeignKey("sittings.id"), nullable=False),
    Column("side", String(5), nullable=False),
    Column("file_id", ForeignKey("files.id"), nullable=False),
    Column("length", Integer, nullable=False),  # both sides of a pair are served equally long
    Index("media_of_sitting", "sitting_id"),
)

views = Table(
    "views",
    metadata,
    Column("sitting_id", ForeignKey("sittings.id"), primary_key=True),
    Column("step", String(20), primary_key=True),
    Column("side", String(5), primary_key=True),
    Column("viewing", JSON, nullable=False),
)

votes = Table(
    "votes",
    metadata,
    Column("id", String(64), primary_key=True),  # made by the page, once per click
    Column("sitting_id", ForeignKey("sittings.id"), nullable=False),
    Column("unit_id", ForeignKey("units.id"), nullable=False),
    Column("worker_id", ForeignKey("workers.id"), nullable=False),
    Column("step", String(20), nullable=False),
    Column("answer", JSON, nullable=False),
    Column("comment", Text, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("watched", JSON, nullable=False),
    Column("at", Float, nullable=False),
    UniqueConstraint("unit_id", "worker_id", "step"),
    Index("votes_of_worker", "worker_id"),
    Index("votes_by_time", "at"),
)

log = Table(
    "log",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("what", String(40), nullable=False),
    Column("worker_id", ForeignKey("workers.id")),
    Column("details", JSON, nullable=False),
)


def _first(connection: Connection) -> None:
    metadata.create_all(connection)


MIGRATIONS: Final[tuple[Callable[[Connection], None], ...]] = (_first,)
