"""Hypothesis strategies for the whole vocabulary."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from hypothesis import strategies as st

from screentest.core import (
    Choice,
    Clip,
    Failure,
    Fault,
    Item,
    Outcome,
    Point,
    Reason,
    Score,
    Script,
    Shot,
    Signature,
    Span,
    Transition,
    Verdict,
    VideoInfo,
)

# Surrogates cannot be written as UTF-8, so no file or answer can hold them.
texts = st.text(st.characters(codec="utf-8"), max_size=40)
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
times = st.fractions(Fraction(-1000), Fraction(100_000), max_denominator=90_000)
numbers = st.floats(allow_nan=False, allow_infinity=False)
paths = st.from_regex(r"\A[\w .-]{1,30}\.mp4\Z", fullmatch=True).map(Path)


@st.composite
def spans(draw: st.DrawFn) -> Span:
    start, end = sorted((draw(times), draw(times)))
    return Span(start, end)


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    captions = draw(st.lists(texts, max_size=5))
    if not draw(st.booleans()):
        return Script(tuple(Clip(caption) for caption in captions))
    borders = sorted(draw(st.lists(times, min_size=2 * len(captions), max_size=2 * len(captions))))
    ranges = zip(borders[::2], borders[1::2], strict=True)
    return Script(
        tuple(Clip(text, Span(*ends)) for text, ends in zip(captions, ranges, strict=True))
    )


items = st.builds(
    Item,
    id=names,
    video=paths,
    prompt=texts,
    script=st.none() | scripts(),
    references=st.lists(paths, max_size=2).map(tuple),
    source=st.none() | paths,
    instruction=texts,
    groups=st.dictionaries(names, texts, max_size=3),
)
points = st.builds(Point, spans(), numbers, texts)
scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | numbers | texts
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
)
scores = st.builds(
    Score,
    numbers,
    st.lists(points, max_size=3).map(tuple),
    st.dictionaries(names, json_values, max_size=3),
)
failures = st.builds(Failure, st.sampled_from(Reason), texts, texts)
outcomes = st.builds(Outcome.of, scores) | failures.map(lambda failure: Outcome(failure=failure))
verdicts = st.builds(
    Verdict,
    st.sampled_from(Choice),
    st.none() | numbers,
    st.none() | numbers,
    texts,
    st.lists(points, max_size=2).map(tuple),
    st.lists(points, max_size=2).map(tuple),
)
shots = st.builds(
    Shot,
    spans(),
    st.sampled_from(Transition),
    st.none() | spans(),
    st.lists(names, max_size=2).map(tuple),
)
infos = st.builds(
    VideoInfo,
    container=names,
    codec=names,
    width=st.integers(1, 9999),
    height=st.integers(1, 9999),
    pixel_format=names,
    bit_depth=st.integers(1, 16),
    rotation=st.sampled_from([0, 90, 180, 270]),
    sample_aspect=st.fractions(Fraction(1, 10), 10, max_denominator=100),
    start=times,
    duration=times.map(abs),
    frames=st.integers(1, 10**7),
    rate=st.fractions(Fraction(1, 100), 240, max_denominator=1001),
    constant_rate=st.booleans(),
    keyframes=st.integers(0, 10**6),
    faults=st.lists(st.builds(Fault, names, texts, st.none() | times), max_size=2).map(tuple),
    metadata=st.dictionaries(names, texts, max_size=2),
)
signatures = st.builds(
    lambda name, version, parts: Signature.of(name, version=version).with_parts(parts),
    names,
    st.integers(1, 99),
    st.dictionaries(names.filter(lambda key: key != "v"), texts, max_size=4),
)
