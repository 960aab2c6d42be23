"""Manifests: which videos to evaluate, and what they were asked to be."""

from screentest.corpus.categories import categorise
from screentest.corpus.check import Report, check_manifest
from screentest.corpus.inputs import read_inputs
from screentest.corpus.manifest import (
    Reading,
    Row,
    examine_manifest,
    read_manifest,
    write_manifest,
)
from screentest.corpus.parted import PartedSource, SourcePart, in_groups_of, joined
from screentest.corpus.problems import Kind, Problem
from screentest.corpus.reading import Corpus, Format, read_corpus
from screentest.corpus.vript import VriptReading, read_vript

__all__ = [
    "Corpus",
    "Format",
    "Kind",
    "PartedSource",
    "Problem",
    "Reading",
    "Report",
    "Row",
    "SourcePart",
    "VriptReading",
    "categorise",
    "check_manifest",
    "examine_manifest",
    "in_groups_of",
    "joined",
    "read_corpus",
    "read_inputs",
    "read_manifest",
    "read_vript",
    "write_manifest",
]
