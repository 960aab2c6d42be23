"""The suite as ``screentest score --suite locot2v`` takes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from screentest.analysis.results import Results
from screentest.analysis.suites import Suite, SuiteItems
from screentest.core import BadOption, register, registry
from screentest.core.registry import suggest
from screentest.core.signature import split_value_name, write_options
from screentest.suites.locot2v.data import items_with_videos, read_categories, read_prompt_suite
from screentest.suites.locot2v.tables import METRICS, own_charts, own_tables, tree


@register(
    "suite", "locot2v", summary="LoCoT2V-Bench: 26 sub-dimensions of long video in five dimensions"
)
def locot2v(
    *,
    records: str = "",
    categories: str = "",
    compat: Literal["paper", "printed", "upstream"] = "paper",
    **options: Any,
) -> Suite:
    """``records`` is the prompt suite's file; without it events and questions are written anew.

    ``categories`` is a file of the category of each theme. ``compat="printed"`` is what the printed
    numbers fit: an exponential warping error, an uncut film as smooth, an unclear answer as wrong.
    ``compat="upstream"`` follows the released code, with a graded dynamic degree and its slip of
    handing RAFT pictures that are too dark.

    Any other option is one of the metrics, and goes to each that has it: ``answers=tags``. To one
    alone it goes by that one's name: ``herd.frames=64``.
    """
    given: dict[str, Any] = {"records": records} if records else {}
    if compat != "paper":
        given |= {"scale": "exponential", "uncut": "smooth", "unclear": "wrong"}
    if compat == "upstream":
        given |= {"by": "degree", "warping_error.compat": "upstream"}
    suite = suite_of({name: _spec(name, given | options) for name in METRICS})
    known = {"compat", "categories", *(option for name in METRICS for option in _options_of(name))}
    for name in options:
        if name not in known:
            raise BadOption(f"suite 'locot2v' has no option {name!r}", advice=suggest(name, known))
    return replace(suite, read=partial(read_items, categories=categories))


def _options_of(metric: str) -> dict[str, str]:
    """Return a metric's options by their names in the suite; those with its name count more."""
    options = registry.entry("metric", metric).parameters
    shared = {option: option for option in options if option != "compat"}  # that is the suite's own
    return shared | {f"{metric.removeprefix('locot2v_')}.{option}": option for option in options}


def _spec(metric: str, given: Mapping[str, Any]) -> str:
    named = _options_of(metric)
    options = {option: given[name] for name, option in named.items() if name in given}
    return f"{metric}:{write_options(options)}".rstrip(":")


def suite_of(specs: Mapping[str, str]) -> Suite:
    """Return the suite with these metrics, by name; ``specs`` has the options of each."""
    bare = Suite(
        "locot2v",
        tuple(specs.values()),
        (tree(specs),),
        ("theme", "category"),
        title="LoCoT2V-Bench",
        note="Unweighted means at every level, of what there is.",
        read=read_items,
    )
    return replace(bare, tables=partial(own_tables, bare), charts=partial(own_charts, bare))


def suite_in(results: Results) -> Suite | None:
    """Return the suite as the metrics in these results were run; None where it has none."""
    result = {}
    for name in results.outputs:
        spec, _ = split_value_name(name)
        if spec.partition(":")[0] in METRICS:
            result[spec.partition(":")[0]] = spec
    return suite_of(result) if result else None


def read_items(file: Path, videos: Path | None, model: str, *, categories: str = "") -> SuiteItems:
    """Return the videos of one generator for a prompt suite, named by prompt id."""
    given = read_categories(Path(categories) if categories else None)
    suite = read_prompt_suite(file, categories=given)
    problems = suite.warnings
    options = {"records": str(file)}
    if videos is None:
        return SuiteItems((), problems=problems, options=options)
    result, missing = items_with_videos(suite, videos, model)
    return SuiteItems(tuple(result), tuple(missing), problems, options)
