"""Prepare an evaluation with LoCoT2V-Bench, and analyse it.

\b
Examples:
  screentest suite locot2v items suite.json --videos out/ --model-name X
  screentest suite locot2v upper-bound pictures/
  screentest suite locot2v analyse scores/ --charts charts/
  screentest suite locot2v matrix testbed/ --chart matrix.svg
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from screentest.cli.options import DeviceOption, JsonOption, ModelOption, ProfileOption

if TYPE_CHECKING:
    from collections.abc import Iterator

    from screentest.core.frames import Image

_PICTURES = {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"}


def upper_bound(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Good pictures.")],
    model: ModelOption = None,
    profile: ProfileOption = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Compute the upper bound of aesthetic quality from good pictures.

    It is the mean score of the best tenth. Give it to the suite; it stands in the
    signature of every score.

    \b
    Examples:
      screentest suite locot2v upper-bound pictures/
      screentest score manifest.jsonl --suite locot2v:upper_bound=0.81
    """
    from screentest.cli.console import out, plural, print_json
    from screentest.cli.options import settings_of
    from screentest.core import BadOption
    from screentest.run.session import Tools
    from screentest.suites.locot2v.metrics.quality import best_tenth

    if not folder.is_dir():
        raise BadOption(f"{folder} is not a folder of pictures")
    tools = Tools(settings_of(model, profile, device=device))
    backend = tools.role("aesthetic")
    scores, unread = [], []
    for path, picture in _pictures(folder):
        if picture is None:
            unread.append(path)
        else:
            scores.append(float(backend.score([picture])[0]))
    if not scores:
        raise BadOption(f"{folder} holds no pictures that can be read")
    bound = best_tenth(scores)
    signature = str(tools.models.signature("aesthetic"))
    if as_json:
        print_json(
            {
                "upper_bound": bound,
                "pictures": len(scores),
                "unread": [str(path) for path in unread],
                "model": signature,
            }
        )
        return
    out().print(f"upper_bound={bound:.6g}")
    out().print(f"The best tenth of {plural(len(scores), 'picture')}, by {signature}")
    if unread:
        out().print(f"{plural(len(unread), 'file')} could not be read")


def _pictures(folder: Path) -> Iterator[tuple[Path, Image | None]]:
    import cv2
    import numpy as np

    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in _PICTURES and path.is_file():
            data = np.fromfile(path, np.uint8)
            image = cv2.imdecode(data, cv2.IMREAD_COLOR_RGB) if data.size else None
            yield path, None if image is None else image.astype(np.uint8, copy=False)


def items(
    records: Annotated[
        Path, typer.Argument(metavar="SUITE", help="The prompt suite's file, either edition.")
    ],
    videos: Annotated[
        Path, typer.Option(metavar="DIR", help="One generator's videos, named by prompt id.")
    ],
    model_name: Annotated[
        str, typer.Option("--model-name", metavar="NAME", help="Which generator made them.")
    ] = "",
    categories: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JSON: the category of each theme.")
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="The manifest to write (.jsonl, .csv).")
    ] = Path("manifest.jsonl"),
    as_json: JsonOption = False,
) -> None:
    """Write the manifest of one generator's videos for a prompt suite.

    Videos that are missing are listed; they are not scored, and never zeros.

    \b
    Examples:
      screentest suite locot2v items suite.json --videos out/ --model-name X
      screentest score manifest.jsonl --suite locot2v:records=suite.json \\
          --model chat=openai:NAME
    """
    from screentest.cli._prompt_suite import print_missing, videos_of
    from screentest.cli.console import out as console
    from screentest.cli.console import plural, print_json
    from screentest.manifests.manifest import write_manifest

    suite, found, missing = videos_of(records, videos, model_name, _categories(categories))
    problems = [str(problem) for problem in suite.problems]
    write_manifest(out, found)
    if as_json:
        print_json(
            {"manifest": str(out), "items": len(found), "missing": missing, "problems": problems}
        )
        return
    print_missing(missing, problems)
    words = f"{plural(len(found), 'item')} of {plural(len(suite.records), 'prompt')}, in {out}"
    console().print(words)


def _categories(path: Path | None) -> dict[str, str]:
    import json

    from screentest.core import BadOption

    if path is None:
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadOption(f"{path} cannot be read: {error}") from None
    if not isinstance(content, dict) or not all(isinstance(one, str) for one in content.values()):
        raise BadOption(f"{path} is not an object of themes", advice='Write {"food": "…"}.')
    return content


def correct(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A suite that is being built.")],
    votes: Annotated[
        Path, typer.Argument(metavar="EXPORT", help="What people said, as annotate exports it.")
    ],
    stage: Annotated[
        str, typer.Option(metavar="STAGE", help="What they looked over, as build names it.")
    ] = "draft",
    as_json: JsonOption = False,
) -> None:
    """Take over people's corrections of drafts, or of another stage.

    They look at drafts with `screentest annotate serve DIR/drafts.jsonl --task
    prompts`, and at other stages with DIR/review/STAGE.jsonl. Where they wrote
    different texts, none is taken. Afterwards start `suite locot2v build`
    again: what depends on a correction is made anew.

    \b
    Examples:
      screentest suite locot2v correct suite/ votes.json
      screentest suite locot2v correct suite/ votes.json --stage questions
    """
    from screentest.cli.console import print_json
    from screentest.cli.tables import print_indented
    from screentest.judges.votes import VoteTask, read_votes
    from screentest.suites.locot2v.building.documents import correct_stage

    said: dict[str, list[str | None]] = {}
    for record in read_votes(votes, whole=True):
        if record.task is VoteTask.PROMPTS and record.counts:
            text = record.text if record.verdict == "correct" else None
            said.setdefault(record.source, []).append(text)
    found = correct_stage(folder, said, stage)
    told = {
        "changed": found.changed,
        "approved": found.approved,
        "disputed": found.disputed,
        "unknown": found.unknown,
    }
    if as_json:
        lists = {name: list(ids) for name, ids in told.items()}
        print_json({**lists, "unread": dict(found.unread)})
    else:
        for name, ids in told.items():
            print_indented(f"{name}: {', '.join(ids) or 'none'}", indent=0)
        for name, why in found.unread.items():
            print_indented(f"cannot be taken over: {name}: {why}", indent=0)
    if found.unread:
        raise typer.Exit(1)


COMMANDS = {"upper-bound": upper_bound, "items": items, "correct": correct}
