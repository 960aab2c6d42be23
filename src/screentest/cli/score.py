"""``screentest score``: metrics over videos, into a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from screentest.cli.engine import AddressOption, EngineOption, GpusOption
from screentest.cli.options import (
    DamagedOption,
    DeviceOption,
    JsonOption,
    MaxCostOption,
    ModelOption,
    ModelsOption,
    PricesOption,
    WorkersOption,
)

if TYPE_CHECKING:
    from screentest.results import Scores
    from screentest.run import Execution
    from screentest.scores.remote import Cache


def score(
    inputs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="ITEMS…", help="Manifests (.jsonl, .csv), videos, or folders of videos."
        ),
    ] = None,
    suite: Annotated[
        str, typer.Option(metavar="NAME", help="A suite: core, locot2v, etva, univ.")
    ] = "core",
    task: Annotated[
        str, typer.Option(metavar="NAME", help="Of the suite univ: v2t, t2v, r2v, tv2v, rv2v, v2v.")
    ] = "",
    compat: Annotated[
        str,
        typer.Option(metavar="NAME", help="Of the suite locot2v: upstream, as its code has it."),
    ] = "",
    videos: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A generator's videos for --prompts FILE, named by id."),
    ] = None,
    model_name: Annotated[
        str, typer.Option("--model-name", metavar="NAME", help="Which generator made --videos.")
    ] = "",
    metrics: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Metrics instead of a suite; with options: one each."),
    ] = None,
    prompt: Annotated[
        str, typer.Option(metavar="TEXT", help="What the videos were asked to show.")
    ] = "",
    out: Annotated[Path, typer.Option(metavar="DIR", help="The run's folder.")] = Path("scores"),
    by: Annotated[
        str, typer.Option(metavar="GROUP", help="Break the table down by this group.")
    ] = "",
    model: ModelOption = None,
    models: ModelsOption = "builtin",
    prompts: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="A prompt suite (a file), or templates (a folder)."),
    ] = None,
    prices: PricesOption = None,
    max_cost: MaxCostOption = "",
    detector: Annotated[str, typer.Option(metavar="NAME", help="Who finds the shots.")] = "default",
    device: DeviceOption = "auto",
    allow_damaged: DamagedOption = False,
    retry: Annotated[
        str, typer.Option(metavar="WHICH", help="Failures to try again: transient, all, none.")
    ] = "transient",
    workers: WorkersOption = None,
    engine: EngineOption = "local",
    address: AddressOption = "",
    gpus: GpusOption = 1.0,
    allow_remote: Annotated[
        bool,
        typer.Option("--allow-remote", help="Fetch videos from http(s), s3 and gs addresses."),
    ] = False,
    cache_limit: Annotated[
        float, typer.Option(help="GB of fetched videos that are kept at a time.", min=0.001)
    ] = 20.0,
    signature: Annotated[
        str, typer.Option(metavar="FORM", help="Print signatures short or full.")
    ] = "short",
    as_json: JsonOption = False,
) -> None:
    """Score videos with a suite or with single metrics.

    All metrics of a video share one decode. A value that cannot be had has a
    reason instead; how many were scored stands beside every mean. Start the same
    command again to go on where it stopped.

    \b
    Examples:
      screentest score film.mp4
      screentest score videos/ --metrics sharpness,flicker --out sharp/
      screentest score --suite locot2v --videos out/ --prompts suite.json \\
          --model-name X --model chat=openai:NAME
      screentest score manifest.jsonl --suite etva --by model \\
          --model chat=openai:gpt-5 --prices prices.toml --max-cost 20
    """
    from screentest.cli._prompt_suite import asked, print_missing, with_option
    from screentest.cli.engine import engine_of
    from screentest.cli.options import cap_of, settings_of
    from screentest.cli.progress import watched
    from screentest.cli.tables import print_models, show
    from screentest.core import BadOption
    from screentest.results import Scores
    from screentest.run import Retry, RunStore
    from screentest.run.session import MODELS
    from screentest.scores.evaluators import metric_names, resolve
    from screentest.scores.results import read_results
    from screentest.scores.suite import read_suite
    from screentest.scores.tables import values_table
    from screentest.scores.tasks import score_items

    if signature not in ("short", "full"):
        raise BadOption(f"invalid --signature {signature!r}: must be short or full")
    if retry not in list(Retry):
        raise BadOption(f"--retry cannot be {retry!r}", advice=f"One of {', '.join(Retry)}.")
    for option, value in (("task", task), ("compat", compat)):
        if value:
            if metrics:
                raise BadOption(f"--{option} belongs to a suite, not to single metrics")
            suite = with_option(suite, option, value)
    given = asked(inputs or [], prompt, suite, prompts, videos, model_name)
    if metrics and given.suite != suite:
        raise BadOption("a prompt suite belongs to a suite, not to single metrics")
    suite = given.suite
    names = metric_names(metrics) if metrics else list(read_suite(suite).metrics)
    for name in names:
        resolve(name)  # a slip of the pen leaves no run behind
    settings = settings_of(
        model,
        models,
        given.templates,
        prices,
        device=device,
        allow_damaged=allow_damaged,
        detector=detector,
    )
    cap = cap_of(max_cost, settings)
    arguments = {"suite": "" if metrics else suite, "metrics": names, "models": settings.models}
    with (
        engine_of(engine, address, settings, workers=workers, gpus=gpus) as (hands, settings),
        RunStore(out, command="score", arguments=arguments, max_cost=cap) as store,
    ):
        done = score_items(
            store,
            given.items,
            names,
            settings,
            engine=hands,
            cache=_cache(cache_limit) if allow_remote else None,
            retry=Retry(retry),
            progress=watched(),
        )
        results = read_results(store)
        used = store.note(MODELS)
    scores, full = Scores(out, results), signature == "full"
    if as_json:
        facts: dict[str, Any] = {"run": str(out), "pending": done.pending, "models": used["roles"]}
        if videos:
            facts |= {"missing": given.missing, "problems": given.problems}
        values = values_table(results, full=full)
        show(*scores.tables(by, full=full), values, as_json=True, **facts)
    else:
        _print(scores, by, done, full=full)
        print_models(used["summary"])
        print_missing(given.missing, given.problems)
    if done.exit_code:
        raise typer.Exit(done.exit_code)
    if not any(total.scored for total in results.totals()):
        raise typer.Exit(1)


def _cache(gigabytes: float) -> Cache:
    from screentest.models.weights import cache_folder
    from screentest.scores.remote import Cache

    return Cache(cache_folder() / "videos", round(gigabytes * 1e9))


def _print(scores: Scores, by: str, done: Execution, *, full: bool) -> None:
    from screentest.cli.console import out as console
    from screentest.cli.console import plural
    from screentest.cli.tables import print_heading, print_indented, show

    show(*scores.tables(by, full=full))
    lost = scores.not_scored.records()
    if lost:
        print_heading("Not scored")
    for row in lost:
        words = f"{row['reason']}: {row['detail']}" if row["detail"] else row["reason"]
        print_indented(f"{row['items']}: {row['values']}: {words}")
    for advice in dict.fromkeys(row["advice"] for row in lost if row["advice"]):
        print_indented(f"→ {advice}")
    console().print()
    words = f"{plural(len(scores.results.items), 'item')}, in {scores.run}"
    if done.pending:
        words = f"{plural(done.pending, 'record')} still to be made: start the same command again; "
        words += f"what there is is in {scores.run}"
    if done.changed:
        words += f"; {plural(done.changed, 'record')} not kept, since a file changed meanwhile"
    print_indented(words, indent=0)


COMMANDS = {"score": score}
