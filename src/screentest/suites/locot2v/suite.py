"""The suite as ``screentest score --suite locot2v`` takes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from screentest.analysis.results import Results
from screentest.analysis.suites import Suite, SuiteItems
from screentest.core import register
from screentest.core.signature import split_value_name, write_options
from screentest.suites.locot2v.data import items_with_videos, read_prompt_suite
from screentest.suites.locot2v.tables import METRICS, own_charts, own_tables, tree

_READ_RECORDS = (
    "locot2v_overall_alignment",
    "locot2v_event_alignment",
    "locot2v_human_action",
    "locot2v_event_consistency",
    "locot2v_herd",
)


@register(
    "suite",
    "locot2v",
    summary="LoCoT2V-Bench: 26 sub-dimensions of long video in five dimensions",
    demo=(
        "locot2v_temporal_flickering",
        "locot2v_semantic_consistency",
        "locot2v_aesthetic_quality",
    ),
)
def locot2v(
    *,
    records: str = "",
    upper_bound: float = 0.0,
    compat: Literal["paper", "printed", "upstream"] = "paper",
) -> Suite:
    """``records`` is the prompt suite's file; without it events and questions are written anew.

    ``upper_bound`` is that of aesthetic quality. ``compat="printed"`` is what the printed numbers
    fit: an exponential warping error, an uncut film as smooth, an unclear answer as wrong.
    ``compat="upstream"`` follows the released code, with a graded dynamic degree and its slip of
    handing RAFT pictures that are too dark.
    """
    options: dict[str, dict[str, object]] = {name: {} for name in METRICS}
    if records:
        for name in _READ_RECORDS:
            options[name]["records"] = records
    if upper_bound:
        options["locot2v_aesthetic_quality"]["upper_bound"] = upper_bound
    if compat != "paper":
        options["locot2v_warping_error"]["scale"] = "exponential"
        options["locot2v_transition_smoothness"]["uncut"] = "smooth"
        options["locot2v_herd"]["unclear"] = "wrong"
    if compat == "upstream":
        options["locot2v_dynamic_degree"]["by"] = "degree"
        options["locot2v_warping_error"]["compat"] = "upstream"
    return suite_of(
        {name: f"{name}:{write_options(given)}".rstrip(":") for name, given in options.items()}
    )


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
    """Return the suite as the metrics in these results were run; None where there are none of
    it."""
    result = {}
    for name in results.outputs:
        spec, _ = split_value_name(name)
        if spec.partition(":")[0] in METRICS:
            result[spec.partition(":")[0]] = spec
    return suite_of(result) if result else None


def read_items(file: Path, videos: Path | None, model: str) -> SuiteItems:
    """Return the videos of one generator for a prompt suite, named by prompt id."""
    suite = read_prompt_suite(file)
    problems = tuple(str(problem) for problem in suite.problems)
    options = {"records": str(file)}
    if videos is None:
        return SuiteItems((), problems=problems, options=options)
    result, missing = items_with_videos(suite, videos, model)
    return SuiteItems(tuple(result), tuple(missing), problems, options)
