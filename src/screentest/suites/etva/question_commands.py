"""Questions of ``screentest suite etva``: written, drawn as graphs, handed to people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from screentest.cli.options import (
    MaxCostOption,
    ModelOption,
    PricesOption,
    ProfileOption,
    PromptsOption,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from screentest.core import Outcome
    from screentest.run.session import Tools
    from screentest.suites.etva.question_files import WrittenQuestions
    from screentest.suites.etva.questions import QuestionSet

QuestionsArgument = Annotated[
    Path, typer.Argument(metavar="QUESTIONS", help="A questions file, or a released one.")
]


def questions(
    inputs: Annotated[
        list[Path],
        typer.Argument(
            metavar="PROMPTS…", help="Lines of text (.txt), manifests, or released files."
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="The questions file; what it has is kept.")
    ] = Path("questions.jsonl"),
    writer: Annotated[str, typer.Option(metavar="NAME", help="chat or rules.")] = "chat",
    knowledge: Annotated[bool, typer.Option(help="Also ask what the prompt leaves unsaid.")] = True,
    model: ModelOption = None,
    profile: ProfileOption = None,
    prompts: PromptsOption = None,
    prices: PricesOption = None,
    max_cost: MaxCostOption = "",
    run: Annotated[
        Path, typer.Option("--run", metavar="DIR", help="The run whose ledger keeps the calls.")
    ] = Path("etva-questions"),
) -> None:
    """Write questions for prompts, to edit and to use again.

    A scene graph and one yes/no question per node and edge: by a chat model in
    three steps, or by rules, which need no model. Paid for once per prompt,
    however many models' videos are asked. Start it again to go on.

    \b
    Examples:
      screentest suite etva questions prompts.txt --writer rules --no-knowledge
      screentest suite etva questions manifest.jsonl --out questions.jsonl \\
          --model chat=openai:qwen2.5-72b,base_url=http://127.0.0.1:8000/v1
    """
    from contextlib import closing

    from screentest.cli.options import cap_of, settings_of
    from screentest.cli.progress import watched
    from screentest.core import BadOption
    from screentest.models.roles import Role
    from screentest.run import RunStore
    from screentest.run.session import Tools
    from screentest.suites.etva.agents import add_knowledge
    from screentest.suites.etva.question_files import read_texts, write_missing

    if writer not in ("chat", "rules"):
        raise BadOption(f"there is no writer {writer!r}", advice="One of chat, rules.")
    texts = list(dict.fromkeys(text for path in inputs for text in read_texts(path)))
    if writer == "rules" and not knowledge:
        written = write_missing(texts, out, _by_rules, progress=watched())
    else:
        settings = settings_of(model, profile, prompts, prices)
        if not any(choice.role is Role.CHAT for choice in settings.models):
            raise BadOption(
                "no chat model was chosen",
                advice="Add --model chat=openai:NAME; `--writer rules --no-knowledge` needs none.",
            )
        tools = Tools(settings)
        cap = cap_of(max_cost, settings)
        arguments = {"writer": writer, "models": settings.models}
        with (
            closing(tools.models),
            RunStore(run, command="etva questions", arguments=arguments, max_cost=cap) as store,
        ):
            tools.attach(store.ledger)
            write = _by_rules if writer == "rules" else _by_chat(tools)

            def know(given: Sequence[Outcome[QuestionSet]]) -> list[Outcome[QuestionSet]]:
                return add_knowledge(given, tools.role("chat.knowledge"), tools.prompts)

            written = write_missing(
                texts, out, write, know=know if knowledge else None, progress=watched()
            )
    _print_written(written, out)
    if written.failures:
        raise typer.Exit(1)


def _by_rules(texts: Sequence[str]) -> list[Outcome[QuestionSet]]:
    from screentest.core import Outcome
    from screentest.suites.etva.rules.writer import write_by_rules

    return [Outcome.of(write_by_rules(text)) for text in texts]


def _by_chat(tools: Tools) -> Any:
    from screentest.suites.etva.agents import write_by_chat

    def write(texts: Sequence[str]) -> list[Outcome[QuestionSet]]:
        return write_by_chat(texts, tools.role("chat.questions"), tools.prompts)

    return write


def _print_written(written: WrittenQuestions, out: Path) -> None:
    from screentest.cli.console import plural
    from screentest.cli.tables import print_heading, print_indented

    count = sum(len(one.questions) for one in written.sets.values())
    told = f"{plural(count, 'question')} for {plural(len(written.sets), 'prompt')} in {out}"
    print_indented(f"{told}: {written.made:,} new, {written.kept:,} kept", indent=0)
    if written.failures:
        print_heading(f"Without questions ({len(written.failures):,})")
    for text, failure in written.failures.items():
        print_indented(f"{text[:60]}: {failure}")


def graph(
    file: QuestionsArgument,
    number: Annotated[int, typer.Argument(metavar="[N]", help="Which prompt, from 1.", min=1)] = 1,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the scene graph: .svg")
    ] = None,
    categories: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For a released file: its types.")
    ] = None,
) -> None:
    """Show one prompt's questions, or draw its scene graph.

    \b
    Examples:
      screentest suite etva graph questions.jsonl 3
      screentest suite etva graph questions.jsonl 3 --out graph.svg
    """
    from screentest.core import BadOption
    from screentest.suites.etva.graph import graph_svg
    from screentest.suites.etva.questions import read_question_sets

    sets = read_question_sets(file, categories)
    if number > len(sets):
        raise BadOption(f"{file} has {len(sets):,} prompts, so none of number {number:,}")
    chosen = sets[number - 1]
    if out is None:
        _print_questions(chosen)
        return
    if chosen.graph is None:
        raise BadOption(
            "these questions have no scene graph",
            advice="Released files have none; write questions with `suite etva questions`.",
        )
    out.write_text(graph_svg(chosen.graph, chosen.prompt), encoding="utf-8")


def _print_questions(chosen: QuestionSet) -> None:
    from screentest.cli.console import out as console
    from screentest.cli.tables import print_heading, print_indented, table

    print_indented(chosen.prompt, indent=0, style="bold")
    console().print()
    rows = [
        [one.id, one.category.value, one.text, ", ".join(one.needs)] for one in chosen.questions
    ]
    console().print(table(["Id", "Category", "Question", "Needs"], rows))
    if chosen.knowledge:
        print_heading("Knowledge")
        for line in chosen.knowledge.splitlines():
            if line.strip():
                print_indented(line.strip())
    if chosen.left_out:
        print_heading("Left out")
    for line in chosen.left_out:
        print_indented(line)


def hand(
    manifest: Annotated[Path, typer.Argument(metavar="MANIFEST", help="The videos.")],
    file: QuestionsArgument,
    out: Annotated[Path, typer.Option(metavar="FILE", help="For the annotation app.")] = Path(
        "questions-by-item.jsonl"
    ),
    categories: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For a released file: its types.")
    ] = None,
) -> None:
    """Hand the questions to people: one line per video of a manifest.

    \b
    Examples:
      screentest suite etva hand manifest.jsonl questions.jsonl \\
          --out by-item.jsonl
      screentest annotate serve manifest.jsonl --task questions \\
          --questions by-item.jsonl
    """
    import json

    from screentest.cli.console import plural
    from screentest.cli.tables import print_indented
    from screentest.core import UserError
    from screentest.manifests.manifest import read_manifest
    from screentest.suites.etva.questions import by_prompt, key_of, read_question_sets

    known = by_prompt(read_question_sets(file, categories))
    lines = []
    items = read_manifest(manifest)
    for item in items:
        asked = known.get(key_of(item.text))
        if asked is not None and asked.questions:
            texts = [{"id": one.id, "text": one.text} for one in asked.questions]
            lines.append(json.dumps({"item": item.id, "questions": texts}, ensure_ascii=False))
    if not lines:
        raise UserError(
            f"no prompt of {manifest} has questions in {file}",
            advice=f"Write them: screentest suite etva questions {manifest} --out {file}",
        )
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print_indented(f"{plural(len(lines), 'video')} of {len(items):,} in {out}", indent=0)


COMMANDS = {"questions": questions, "graph": graph, "hand": hand}
