"""``screentest certify``: how far an evaluator can be trusted, measured on testbeds."""

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
    WorkersOption,
)
from screentest.cli.tables import print_models
from screentest.run.session import MODELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from screentest.certificates.certificate import Certificate
    from screentest.core import Aspect
    from screentest.judges.cases import Case


def certify(
    testbed: Annotated[
        list[Path], typer.Option("--testbed", metavar="DIR", help="A folder made by build.")
    ],
    judges: Annotated[
        list[str] | None,
        typer.Argument(metavar="[JUDGE…]", help="Judges, or metrics: a better score wins."),
    ] = None,
    suite: Annotated[
        str, typer.Option(metavar="NAME", help="Every value of a suite's metrics, as a judge.")
    ] = "",
    chart: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw judges by aspects: .svg or .png.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The run's folder.")] = Path(
        "certificates"
    ),
    aspects: Annotated[
        str, typer.Option(metavar="NAMES", help="all, or some, with commas.")
    ] = "all",
    orders: Annotated[
        str, typer.Option(metavar="WHICH", help="both, or first: the intact video first.")
    ] = "both",
    repeats: Annotated[int, typer.Option(min=1, help="How often each question is asked.")] = 1,
    probes: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Other prompts for the same videos: none, all, or of swapped,shuffled,empty.",
        ),
    ] = "none",
    probe_pairs: Annotated[
        int, typer.Option(min=1, help="Pairs of each aspect that a probe takes.")
    ] = 20,
    placebos: Annotated[
        bool, typer.Option("--placebos/--no-placebos", help="Judge the placebos too.")
    ] = True,
    human: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Votes of people, to stand beside.")
    ] = None,
    kept: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="What people's filter left: before and after."),
    ] = None,
    model: ModelOption = None,
    models: ModelsOption = "builtin",
    prompts: PromptsOption = None,
    prices: PricesOption = None,
    max_cost: MaxCostOption = "",
    device: DeviceOption = "auto",
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    address: AddressOption = "",
    gpus: GpusOption = 1.0,
    as_json: JsonOption = False,
) -> None:
    """Measure how often judges prefer the intact video of a pair.

    Any metric is a judge too. Both orders of presentation are asked by default. The
    certificates lie in the run; `screentest report` shows them as a page.

    \b
    Examples:
      screentest certify core --testbed testbed/
      screentest certify sharpness flicker --testbed testbed/ --aspects aesthetics
      screentest certify --suite core --testbed testbed/ --chart matrix.svg
      screentest certify vlm_video --testbed testbed/ --probes all \\
          --model chat=openai:gpt-5 --prices prices.toml --max-cost 20
    """
    from screentest.certificates.cases import read_cases
    from screentest.certificates.matrix import matrix
    from screentest.certificates.plan import Plan
    from screentest.certificates.plan import certify as run_certify
    from screentest.cli._certificate import print_certificate
    from screentest.cli.console import print_json
    from screentest.cli.engine import engine_of
    from screentest.cli.options import cap_of, read_aspects, settings_of
    from screentest.cli.progress import watched
    from screentest.cli.tables import show
    from screentest.core import BadOption, to_json
    from screentest.judges.cases import Order
    from screentest.judges.from_metrics import judges_of_suite
    from screentest.judges.verdicts import judge_of
    from screentest.reports.charts import matrix_chart, must_be_chart, save
    from screentest.run import RunStore

    if orders not in ("both", "first"):
        raise BadOption(f"--orders cannot be {orders!r}", advice="Write both or first.")
    names = [*(judges or ()), *(judges_of_suite(suite) if suite else ())]
    if not names:
        raise BadOption("there is no judge to certify", advice="Name judges, or give --suite.")
    if chart is not None:
        must_be_chart(chart)
    for judge in names:
        judge_of(judge)  # a slip of the pen leaves no run behind
    settings = settings_of(model, models, prompts, prices, device=device)
    cases = read_cases(
        testbed, aspects=read_aspects(aspects), placebos=placebos, kept=tuple(kept or ())
    )
    plan = Plan(
        cases=tuple(cases),
        judges=tuple(names),
        orders=tuple(Order) if orders == "both" else (Order.AS_GIVEN,),
        repeats=repeats,
        prompt_changes=_changes(probes),
        probe_pairs=probe_pairs,
        human=_human(human, cases),
    )
    arguments = {"judges": names, "testbeds": [str(one.absolute()) for one in testbed]}
    cap = cap_of(max_cost, settings)
    with (
        engine_of(engine, address, settings, workers=workers, gpus=gpus) as (hands, settings),
        RunStore(out, command="certify", arguments=arguments, max_cost=cap) as store,
    ):
        done = run_certify(store, plan, settings, engine=hands, progress=watched())
        used = store.note(MODELS)
    if chart is not None:
        save(matrix_chart(matrix(done.certificates)), chart)
    if as_json:
        import json

        print_json([json.loads(to_json(one)) for one in done.certificates])
    else:
        if suite:
            show(matrix(done.certificates).table())
            _print_lost(done.certificates)
        else:
            for certificate in done.certificates:
                print_certificate(certificate)
        print_models(used["summary"])
        _print_end(done.pending, out)
    if done.exit_code:
        raise typer.Exit(done.exit_code)
    if not any(one.overall.ok for one in done.certificates):
        raise typer.Exit(1)


def _changes(text: str) -> tuple[Any, ...]:
    from screentest.certificates.prompt_changes import PromptChange
    from screentest.core import BadOption

    if text == "none":
        return ()
    if text == "all":
        return tuple(PromptChange)
    try:
        return tuple(PromptChange(name.strip()) for name in text.split(","))
    except ValueError:
        known = ", ".join(PromptChange)
        raise BadOption(f"{text!r} names no probes", advice=f"Probes: {known}.") from None


def _human(votes: Path | None, cases: Sequence[Case]) -> dict[Aspect, float] | None:
    """What people say of the very pairs that the table of aspects counts."""
    if votes is None:
        return None
    from screentest.core import BadOption
    from screentest.judges.cases import strongest
    from screentest.judges.human import share_for_intact
    from screentest.judges.votes import pair_votes

    videos = [case.second.video for case in strongest(cases)]
    shares = share_for_intact(pair_votes(votes), videos)
    if not shares:
        raise BadOption(
            f"{votes} has no vote on a pair of these testbeds",
            advice="`video` is the path of the changed video in its testbed.",
        )
    return shares


def _print_lost(certificates: Sequence[Certificate]) -> None:
    """The judges without any answer, and why."""
    from screentest.cli.tables import print_heading, print_indented

    reasons: dict[str, list[str]] = {}
    for one in certificates:
        if one.overall.failure is not None:
            reasons.setdefault(str(one.overall.failure).splitlines()[0], []).append(one.judge)
    if reasons:
        print_heading(f"Without any answer: {sum(map(len, reasons.values())):,}")
        for reason, judges in reasons.items():
            print_indented(f"{reason}: {', '.join(judges)}")


def _print_end(pending: int, out: Path) -> None:
    from screentest.cli.console import plural
    from screentest.cli.tables import print_indented

    words = f"The certificates are in {out}"
    if pending:
        words = f"{plural(pending, 'judgement')} still to be made: start the same command again"
    print_indented(words, indent=0)


COMMANDS = {"certify": certify}
