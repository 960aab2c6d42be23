"""Commands of the suite etva: questions, graphs, benchmarks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from screentest._util.atomic import write_whole
from screentest._util.progress import watched
from screentest._util.text import plural
from screentest.cli.options import MODELS, JsonOption, shares
from screentest.cli.tables import print_heading, print_indented, print_models, show
from screentest.core import BadOption, Column, Outcome, Table, UserError
from screentest.inputs.manifest import read_manifest
from screentest.models import Models
from screentest.models.roles import CHAT
from screentest.present.charts import must_be_chart
from screentest.run.session import Tools, cap_of, settings_of
from screentest.run.store import RunStore
from screentest.suites.etva.agents import WRITERS, add_knowledge
from screentest.suites.etva.graph import graph_svg
from screentest.suites.etva.questions import (
    QuestionSet,
    WrittenQuestions,
    by_prompt,
    key_of,
    read_question_sets,
    read_texts,
    write_missing,
    write_question_sets,
)
from screentest.suites.etva.rules.writer import write_all_by_rules
from screentest.suites.etva.tables import (
    category_shares,
    distance,
    distribution,
    plot_distributions,
    shown_categories,
    sub_benchmark,
)

QuestionsArgument = Annotated[
    Path, typer.Argument(metavar="QUESTIONS", help="A questions file, or a released one.")
]
CategoriesOption = Annotated[
    Path | None,
    typer.Option(
        "--categories", metavar="FILE", help="Released questions with types, one per line."
    ),
]


@shares(MODELS)
def questions(
    inputs: list[Path],
    out: Path = Path("questions.jsonl"),
    writer: Literal["chat", "vanilla", "rules"] = "chat",
    knowledge: bool = True,
    run: Path = Path("etva-questions"),
    **work: Any,
) -> None:
    """Write questions for prompts, to edit and to use again."""
    texts = list(dict.fromkeys(text for path in inputs for text in read_texts(path)))
    if writer == "rules" and not knowledge:
        used = ""
        written = write_missing(texts, out, write_all_by_rules, progress=watched())
    else:
        settings = settings_of(work)
        if not any(choice.role == CHAT for choice in settings.models):
            raise BadOption(
                "no chat model was chosen",
                advice="Add --model chat=openai:NAME; `--writer rules --no-knowledge` needs none.",
            )
        roles = [
            *(["chat.questions"] if writer != "rules" else ()),
            *(["chat.knowledge"] * knowledge),
        ]
        used = Models(settings.models).summary(roles)
        tools = Tools(settings)
        cap = cap_of(work, settings)
        arguments = {"writer": writer, "models": settings.models}
        with (
            closing(tools.models),
            RunStore(run, command="etva questions", arguments=arguments, max_cost=cap) as store,
        ):
            # A prompt without questions is asked about at every start, and so asked anew.
            store.ledger.asks_again = True
            tools.attach(store.ledger)

            def write(given: Sequence[str]) -> list[Outcome[QuestionSet]]:
                if writer == "rules":
                    return write_all_by_rules(given)
                return WRITERS[writer](given, tools.role("chat.questions"), tools.prompts)

            def know(given: Sequence[Outcome[QuestionSet]]) -> list[Outcome[QuestionSet]]:
                return add_knowledge(given, tools.role("chat.knowledge"), tools.prompts)

            written = write_missing(
                texts, out, write, know=know if knowledge else None, progress=watched()
            )
    _print_written(written, out, knowledge=knowledge)
    print_models(used)
    if written.failures:
        raise typer.Exit(1)


def _print_written(written: WrittenQuestions, out: Path, *, knowledge: bool) -> None:
    count = sum(len(item.questions) for item in written.sets.values())
    message = f"{plural(count, 'question')} for {plural(len(written.sets), 'prompt')} in {out}"
    print_indented(f"{message}: {written.made:,} new, {written.kept:,} kept", indent=0)
    if written.failures:
        print_heading(f"Without questions ({len(written.failures):,})")
    for text, failure in written.failures.items():
        print_indented(f"{text[:60]}: {failure}")
    bare = [item for item in written.sets.values() if knowledge and item.knowledge is None]
    if bare:
        print_heading(f"Without knowledge ({len(bare):,})")
    for item in bare:
        print_indented(f"{item.prompt[:60]}: {''.join(item.left_out[-1:])}")


def graph(
    file: QuestionsArgument,
    number: int = 1,
    out: Path | None = None,
    categories: CategoriesOption = None,
) -> None:
    """Show one prompt's questions, or draw its scene graph."""
    sets = read_question_sets(file, categories)
    if number > len(sets):
        raise BadOption(f"invalid prompt {number:,}: {file} has {len(sets):,} prompts")
    chosen = sets[number - 1]
    if out is None:
        _print_questions(chosen)
        return
    if chosen.graph is None:
        raise BadOption(
            "these questions have no scene graph",
            advice="Released files have none; write questions with `suite etva questions`.",
        )
    write_whole(out, graph_svg(chosen.graph, chosen.prompt))


def _print_questions(chosen: QuestionSet) -> None:
    print_indented(chosen.prompt, indent=0, style="bold")
    columns = ("id", "category", "question", "needs")
    rows = [
        (question.id, question.category.value, question.text, ", ".join(question.needs))
        for question in chosen.questions
    ]
    print_heading("Questions")
    show(Table("questions", "Questions", columns, rows))
    if chosen.knowledge:
        print_heading("Knowledge")
        for line in chosen.knowledge.splitlines():
            if line.strip():
                print_indented(line.strip())
    if chosen.left_out:
        print_heading("Left out")
    for line in chosen.left_out:
        print_indented(line)


def by_item(
    manifest: Path,
    file: QuestionsArgument,
    out: Path = Path("questions-by-item.jsonl"),
    categories: CategoriesOption = None,
) -> None:
    """Write the questions of each video of a manifest, for the annotation app."""
    available = by_prompt(read_question_sets(file, categories))
    lines = []
    items = read_manifest(manifest)
    for item in items:
        asked = available.get(key_of(item.text))
        if asked is not None and asked.questions:
            texts = [{"id": question.id, "text": question.text} for question in asked.questions]
            lines.append(json.dumps({"item": item.id, "questions": texts}, ensure_ascii=False))
    if not lines:
        raise UserError(
            f"no prompt of {manifest} has questions in {file}",
            advice=f"Write them: screentest suite etva questions {manifest} --out {file}",
        )
    write_whole(out, "\n".join(lines) + "\n")
    print_indented(f"{plural(len(lines), 'video')} of {len(items):,} in {out}", indent=0)


def benchmark(
    files: list[Path],
    categories: CategoriesOption = None,
    draw: int = 0,
    seed: int = 0,
    out: Path | None = None,
    plot: Path | None = None,
    as_json: JsonOption = False,
) -> None:
    """Show how questions are spread; draw smaller benchmarks."""
    if categories is not None and len(files) > 1:
        raise BadOption("--categories belongs to one file", advice="Give one file at a time.")
    if plot is not None:
        must_be_chart(plot)
    sets = {file.stem: read_question_sets(file, categories) for file in files}
    if draw:
        name, drawn_from = next(iter(sets.items()))
        sets[f"{name}-{draw}"] = sub_benchmark(drawn_from, draw, seed=seed)
    spread = {name: distribution(subset) for name, subset in sets.items()}
    last = list(sets)[-1]
    if out is not None:
        write_question_sets(out, sets[last])
    if plot is not None:
        plot_distributions(spread, plot)
    first = next(iter(spread.values()))
    show(
        Table(
            "benchmarks",
            "Benchmarks",
            ("benchmark", "prompts", "questions", Column("distance", digits=4)),
            [
                (name, len(sets[name]), sum(counts.values()), distance(counts, first))
                for name, counts in spread.items()
            ],
            note="Distance: the share of questions in other categories than in the first.",
        ),
        Table(
            "categories",
            "Categories",
            ("category", "benchmark", "questions", "share"),
            [
                (kind.value, name, counts[kind], category_shares(counts)[kind])
                for kind in shown_categories(spread.values())
                for name, counts in spread.items()
            ],
        ),
        as_json=as_json,
    )
