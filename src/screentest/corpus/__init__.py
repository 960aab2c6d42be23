"""Manifests: which videos to evaluate, and what they were asked to be."""

from screentest.corpus.check import Report, check_manifest
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
    "Report",
    "Row",
    "check_manifest",
    "examine_manifest",
    "read_manifest",
    "write_manifest",
]
