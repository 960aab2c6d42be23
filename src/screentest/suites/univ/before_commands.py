"""What comes before a run of UniVBench: a manifest of results, and what judging will take."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from screentest.cli.options import JsonOption, PricesOption, PromptsOption

if TYPE_CHECKING:
    from screentest.suites.univ.captioning import Foreseen
    from screentest.suites.univ.pieces import UnivTask

TaskOption = Annotated[
    str, typer.Option("--task", metavar="NAME", help="v2t, t2v, r2v, tv2v, rv2v or v2v.")
]


def import_benchmark(
    benchmark: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder with full_list/ and R2V/.")
    ],
    videos: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="A model's results: N.mp4, or N.txt for v2t.")
    ],
    task: TaskOption,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The manifest.")],
    model: Annotated[str, typer.Option(metavar="NAME", help="Whose results they are.")] = "",
    language: Annotated[
        str, typer.Option(metavar="en|cn", help="Which instructions to take.")
    ] = "en",
    as_json: JsonOption = False,
) -> None:
    """Write a manifest of one model's results at one task.

    Results that are missing are listed; they are not scored, and never zeros.

    \b
    Examples:
      screentest suite univ import UniVBench/ wan/ --task t2v --model wan \\
          --out wan.jsonl
    """
    from screentest.cli.console import out as console
    from screentest.cli.console import plural, print_json, shown
    from screentest.cli.tables import print_heading, print_indented
    from screentest.core import BadOption, UserError
    from screentest.manifests.manifest import write_manifest
    from screentest.suites.univ.data import read_univbench

    chosen = _task(task)
    if language not in ("en", "cn"):
        raise BadOption(f"--language cannot be {language!r}", advice="en or cn.")
    if not videos.is_dir():
        raise BadOption(f"{videos} is no folder of results")
    bench = read_univbench(benchmark, language=language)
    items = bench.items(chosen.value, videos, model=model)
    if not items:
        kind = "N.txt" if chosen.value == "v2t" else "N.mp4"
        raise UserError(
            f"no result in {videos} belongs to a case of {benchmark} for {task}",
            advice=f"Results are called {kind}, by the number of their case.",
        )
    write_manifest(out, items)
    missing = bench.missing(chosen.value, videos)
    problems = [str(problem) for problem in bench.problems]
    if as_json:
        print_json(
            {
                "manifest": str(out),
                "items": len(items),
                "missing": missing,
                "problems": problems,
            }
        )
        return
    for title, lines in (("Missing", missing), ("Problems", problems)):
        if lines:
            print_heading(f"{title}: {len(lines):,}")
        for line in lines[:20]:
            print_indented(line)
        if len(lines) > 20:
            print_indented(f"and {len(lines) - 20:,} more (--json lists all)")
    told = f"{shown(str(out))}: {plural(len(items), 'item')} of {plural(len(bench.cases), 'case')}"
    console().print(told, soft_wrap=True)


def estimate(
    inputs: Annotated[
        list[Path], typer.Argument(metavar="ITEMS…", help="Manifests of items to be judged.")
    ],
    task: TaskOption,
    level: Annotated[str, typer.Option(metavar="NAME", help="video, shots or both.")] = "video",
    truth: Annotated[
        str, typer.Option(metavar="PATH", help="The ground truth of v2t: a folder or a file.")
    ] = "",
    model: Annotated[
        str, typer.Option("--model-name", metavar="NAME", help="The judge, as --prices has it.")
    ] = "",
    prices: PricesOption = None,
    prompts: PromptsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what judging would take, before anything is asked.

    \b
    Examples:
      screentest suite univ estimate wan.jsonl --task t2v
      screentest suite univ estimate wan.jsonl --task t2v --level shots \\
          --model-name gpt-5 --prices prices.toml
    """
    from dataclasses import asdict
    from typing import cast, get_args

    from screentest.cli.console import print_json
    from screentest.cli.options import items_of, settings_of
    from screentest.core import BadOption
    from screentest.run.session import Tools
    from screentest.suites.univ.captioning import foresee
    from screentest.suites.univ.pieces import Level
    from screentest.suites.univ.text_task import univ_v2t

    chosen = _task(task)
    if level not in get_args(Level):
        raise BadOption(f"--level cannot be {level!r}", advice="One of video, shots, both.")
    if (chosen.value == "v2t") != bool(truth):
        raise BadOption("the task v2t, and no other, needs --truth")
    if bool(model) != (prices is not None):
        raise BadOption("--model-name and --prices go together")
    settings = settings_of(None, prompts=prompts, prices=prices)
    price = settings.prices.of(model)
    if model and price is None:
        raise BadOption(f"{prices} has no price for {model!r}")
    found = foresee(
        items_of(inputs),
        chosen,
        Tools(settings),
        level=cast("Level", level),
        truth=univ_v2t(truth=truth) if truth else None,
        price=price,
    )
    if as_json:
        print_json(asdict(found) | {"most_cost": str(found.most_cost or "") or None})
    else:
        _print_foreseen(found)


def _print_foreseen(found: Foreseen) -> None:
    from screentest.cli.tables import print_facts, print_heading, print_indented

    cost = "unknown: no price" if found.most_cost is None else f"at most {found.most_cost:.4f}"
    print_facts(
        [
            ("cases", f"{found.cases:,}"),
            ("calls", f"{found.calls:,}"),
            ("pictures", f"{found.pictures:,}"),
            ("tokens in", f"about {found.tokens_in:,}"),
            ("tokens out", f"at most {found.most_tokens_out:,}"),
            ("cost", cost),
        ]
    )
    if found.left_out:
        print_heading("Would not be scored")
    for item, why in found.left_out:
        print_indented(f"{item}: {why}")


def _task(name: str) -> UnivTask:
    from screentest.core import BadOption
    from screentest.suites.univ.pieces import UnivTask

    try:
        return UnivTask(name)
    except ValueError:
        known = ", ".join(task.value for task in UnivTask)
        raise BadOption(f"there is no task {name!r}", advice=f"One of {known}.") from None


COMMANDS = {"import": import_benchmark, "estimate": estimate}
