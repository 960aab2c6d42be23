"""Manifests: which videos to evaluate, and what they were asked to be."""

from screentest.corpus.manifest import (
    Reading,
    Row,
    examine_manifest,
    read_manifest,
    write_manifest,
)
from screentest.corpus.problems import Kind, Problem

__all__ = [
    "Kind",
    "Problem",
    "Reading",
    "Row",
    "examine_manifest",
    "read_manifest",
    "write_manifest",
]
