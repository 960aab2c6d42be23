"""``screentest judge``: which of two videos is better."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from screentest.cli.engine import AddressOption, EngineOption, GpusOption
from screentest.cli.options import (
    DeviceOption,
    JsonOption,
    MaxCostOption,
    ModelOption,
    ModelsOption,
    PricesOption,
    PromptsOption,
)
from screentest.cli.tables import print_models
from screentest.run.session import MODELS

if TYPE_CHECKING:
    from screentest.core import Choice, Outcome, Point, Script, Verdict


def judge(
    name: Annotated[str, typer.Argument(metavar="JUDGE", help="A judge, or a metric.")],
    first: Annotated[Path, typer.Argument(metavar="FIRST", help="A video.")],
    second: Annotated[Path, typer.Argument(metavar="SECOND", help="Another one.")],
    prompt: Annotated[str, typer.Option(metavar="TEXT", help="What both were asked to show.")] = "",
    script: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The same shot by shot: one caption a line."),
    ] = None,
    aspects: Annotated[
        str, typer.Option(metavar="NAMES", help="all, or some, with commas.")
    ] = "all",
    out: Annotated[Path, typer.Option(metavar="DIR", help="The run's folder.")] = Path("judged"),
    model: ModelOption = None,
    models: ModelsOption = "builtin",
    prompts: PromptsOption = None,
    prices: PricesOption = None,
    max_cost: MaxCostOption = "",
    device: DeviceOption = "auto",
    engine: EngineOption = "local",
    address: AddressOption = "",
    gpus: GpusOption = 1.0,
    as_json: JsonOption = False,
) -> None:
    """Ask a judge which of two videos is better, in both orders.

    Where the two orders disagree, that is said: the judge goes by the order then.

    \b
    Examples:
      screentest judge core one.mp4 two.mp4
      screentest judge sharpness one.mp4 two.mp4 --aspects technical_quality
      screentest judge vlm_video one.mp4 two.mp4 --prompt "A red kite rises" \\
          --model chat=openai:gpt-5
    """
    from screentest.cli.console import out as console
    from screentest.cli.console import print_json
    from screentest.cli.engine import engine_of
    from screentest.cli.options import cap_of, read_aspects, settings_of
    from screentest.cli.progress import watched
    from screentest.cli.tables import print_indented, table
    from screentest.core import BUILTIN_ASPECTS, Item
    from screentest.judges.cases import Case
    from screentest.judges.verdicts import verdicts_of
    from screentest.run import RunStore

    settings = settings_of(model, models, prompts, prices, device=device)
    captions = _captions(script) if script is not None else None
    text = prompt or (captions.text if captions is not None else "")
    one, two = (
        Item(name, video, text, captions) for name, video in (("first", first), ("second", second))
    )
    cases = [
        Case("pair", aspect, text, one, two) for aspect in read_aspects(aspects) or BUILTIN_ASPECTS
    ]
    cap = cap_of(max_cost, settings)
    arguments = {"judge": name, "first": str(first), "second": str(second)}
    with (
        engine_of(engine, address, settings, workers=1, gpus=gpus) as (hands, settings),
        RunStore(out, command="judge", arguments=arguments, max_cost=cap) as store,
    ):
        found = verdicts_of(store, cases, name, settings, engine=hands, progress=watched())
        used = store.note(MODELS)
    rows: list[dict[str, Any]] = [
        {"aspect": aspect.value, **_row(*both)} for aspect, both in found.items()
    ]
    if as_json:
        print_json(rows)
    else:
        cells = [(row["aspect"], row["better"], row["note"]) for row in rows]
        console().print(table(["Aspect", "Better", "Why"], cells))
        print_indented(f"First: {first}. Second: {second}.", indent=0)
        print_models(used["summary"])
    if all(row["better"] == "–" for row in rows):
        raise typer.Exit(1)


def _captions(path: Path) -> Script:
    from screentest.core import BadOption, Clip, Script

    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadOption(f"the script {path} cannot be read: {error}") from None
    captions = [line.strip() for line in lines if line.strip()]
    if not captions:
        raise BadOption(f"{path} holds no captions", advice="Write one caption a line.")
    return Script(tuple(Clip(caption) for caption in captions))


def _row(as_given: Outcome[Verdict] | None, swapped: Outcome[Verdict] | None) -> dict[str, Any]:
    """One line: the choice where both orders agree, and why."""
    for outcome in (as_given, swapped):
        if outcome is None:
            return {"better": "–", "note": "not judged yet: start the same command again"}
        if outcome.failure is not None:
            failure = outcome.failure
            # Of a traceback the last line tells what happened.
            told = failure.detail.strip().splitlines()[-1:]
            return {"better": "–", "note": ": ".join([failure.reason.value, *told])}
    assert as_given is not None
    assert swapped is not None
    one, other = as_given.unwrap(), swapped.unwrap().flipped
    choice: Choice = one.choice
    if choice is not other.choice:
        return {"better": "unclear", "note": "the order of presentation decides"}
    note = one.rationale
    if one.first is not None and one.second is not None:
        note = f"{one.first:.3f} against {one.second:.3f}"
    sides = {"first": one.evidence_first, "second": one.evidence_second}
    if sides.get(choice.flipped.value):
        worst = min(sides[choice.flipped.value], key=lambda point: point.value)
        moment = f"the {choice.flipped.value} is worst at {float(worst.span.start):.1f} s"
        note = "; ".join(filter(None, (note, ": ".join(filter(None, (moment, worst.note))))))
    evidence = {side: [_moment(point) for point in points] for side, points in sides.items()}
    return {"better": choice.value, "note": note, "evidence": evidence}


def _moment(point: Point) -> dict[str, Any]:
    start, end = float(point.span.start), float(point.span.end)
    return {"start": start, "end": end, "value": point.value, "note": point.note}


COMMANDS = {"judge": judge}
