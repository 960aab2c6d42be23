"""testbed.html: every pair of a testbed side by side, at the moments where it was changed.

One file that opens from the disk and asks nobody for anything: script and style are in it and
allowed by their hashes, videos are found beside it. All that comes from captions, ids and
models is data to the script, never markup.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from screentest._util.atomic import write_whole
from screentest._util.webpage import embedded_json, policy, tokens
from screentest.core import Time, UnknownName
from screentest.core.registry import registry
from screentest.testbeds.checks import figures_text
from screentest.testbeds.files import is_inside
from screentest.testbeds.statistics import duration_of
from screentest.testbeds.testbed import Pair, SourceFilm, Testbed, pair_name, stretches

PAGE = "testbed.html"


def write_page(folder: Path, testbed: Testbed) -> Path:
    """Write testbed.html beside testbed.json, whole or not at all."""
    write_whole(folder / PAGE, page_of(testbed).encode("utf-8", "surrogatepass"))
    return folder / PAGE


def page_of(testbed: Testbed) -> str:
    """Return the page of a testbed, as the text of one HTML file."""
    from jinja2 import Environment, StrictUndefined

    script, style = _asset("page.js"), tokens() + _asset("page.css")
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(
        _asset("page.html")
    )
    return template.render(
        pairs=len(testbed.pairs),
        sources=len(testbed.sources),
        version=testbed.screentest,
        script=script,
        style=style,
        policy=policy(script, style),
        data=embedded_json(data_of(testbed)),
    )


def data_of(testbed: Testbed) -> dict[str, Any]:
    """Return the data for the script of the page."""
    places = {source.id: number for number, source in enumerate(testbed.sources)}
    summaries: dict[tuple[str, str], str] = {}
    for pair in testbed.pairs:
        summaries.setdefault((pair.kind.value, pair.name), _summary(pair))
    return {
        "sources": [
            {
                "id": source.id,
                "groups": dict(source.groups),
                "captions": [clip.caption for clip in source.clips],
            }
            for source in testbed.sources
        ],
        "pairs": [
            _pair(pair, places[pair.source], testbed.sources[places[pair.source]], summaries)
            for pair in testbed.pairs
            if pair.source in places
        ],
    }


def _pair(
    pair: Pair, place: int, source: SourceFilm, summaries: Mapping[tuple[str, str], str]
) -> dict[str, Any]:
    intact = next((file for file in source.intact if file.path == pair.intact), None)
    duration = intact.duration if intact else duration_of(source)
    return {
        "name": pair_name(pair),
        "source": place,
        "kind": pair.kind.value,
        "label": _label(pair),
        "done": summaries[pair.kind.value, pair.name],
        "severity": pair.severity,
        "intact": _address(pair.intact),
        "changed": _address(pair.changed.path),
        "width": pair.changed.width,
        "height": pair.changed.height,
        "duration": _seconds(duration),
        "changedDuration": _seconds(pair.changed.duration),
        "frame": _seconds(pair.changed.duration / max(1, pair.changed.frames)),
        "recipe": pair.recipe,
        "prompts": pair.prompts and [" ".join(pair.prompts.true), " ".join(pair.prompts.false)],
        "models": dict(pair.models),
        "checked": "; ".join(filter(None, [*map(str, pair.faults), figures_text(pair.checks)])),
        "moments": [
            {
                "clip": touch.clip,
                "intact": [_seconds(touch.intact.start), _seconds(touch.intact.end)],
                "changed": touch.degraded
                and [_seconds(touch.degraded.start), _seconds(touch.degraded.end)],
                "details": {name: str(value) for name, value in touch.details.items()},
            }
            for touch in pair.touched
        ],
        "stretches": [
            [
                _seconds(stretch.intact.start),
                _seconds(stretch.intact.end),
                None if stretch.changed is None else _seconds(stretch.changed),
            ]
            for stretch in stretches(pair.touched, duration)
        ],
    }


def _label(pair: Pair) -> str:
    """Return the operator, after its aspect where it is not called like that."""
    name = pair.name.replace("_", " ")
    if pair.aspect is None or pair.aspect.title == name:
        return name.capitalize()
    return f"{pair.aspect.title.capitalize()}: {name}"


def _summary(pair: Pair) -> str:
    if pair.prompts is not None:
        return "One video, two prompts"
    try:
        summary = str(registry.entry(pair.kind.value, pair.name).info.get("summary", ""))
    except UnknownName:  # of a package that is not here
        return ""
    return summary[:1].upper() + summary[1:]


def _address(path: str) -> str:
    """Return a path as a relative address; empty where it would lead elsewhere."""
    return f"./{quote(path, errors='replace')}" if is_inside(path) else ""


def _seconds(moment: Time) -> float:
    """For a player, which counts in floating point anyway."""
    return round(float(moment), 6)


def _asset(name: str) -> str:
    return (files(__name__) / name).read_text(encoding="utf-8")
