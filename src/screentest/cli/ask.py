"""``screentest ask``: one question to a chat model, with the ledger, the cap and the dry run."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from screentest.core.frames import Frame
    from screentest.models.chat.messages import Part


def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What to ask.")],
    model: Annotated[str, typer.Option("--model", metavar="chat=…", help="Which model to ask.")],
    video: Annotated[
        Path | None, typer.Option("--video", metavar="FILE", help="Show it frames of this video.")
    ] = None,
    count: Annotated[int, typer.Option("--frames", min=1, max=256, help="How many frames.")] = 8,
    prices: Annotated[
        Path | None, typer.Option("--prices", metavar="FILE", help="A price list in TOML.")
    ] = None,
    max_cost: Annotated[
        str, typer.Option("--max-cost", metavar="AMOUNT", help="Never spend more than this.")
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be sent and cost; send nothing.")
    ] = False,
    run: Annotated[
        Path, typer.Option("--run", metavar="DIR", help="The run whose ledger keeps the call.")
    ] = Path("asked"),
) -> None:
    """Ask a chat model once: try an endpoint, a key, a price list.

    The answer is kept in the run; the same question again is not paid twice.

    \b
    Examples:
      screentest ask "What happens?" --video film.mp4 --model chat=openai:gpt-5
      screentest ask "Hello" \\
          --model chat=openai:x,base_url=http://127.0.0.1:8000/v1
      screentest ask "What happens?" --video film.mp4 --dry-run \\
          --model chat=openai:gpt-5 --prices prices.toml
    """
    from screentest.cli.console import err, out
    from screentest.core import BadOption
    from screentest.models import Choice, Models
    from screentest.models.chat.costs import MemoryLedger, Prices, read_prices
    from screentest.models.chat.messages import ChatRequest
    from screentest.run import RunStore

    choice = Choice.parse(model)
    backend = Models([choice]).role("chat")
    known = read_prices(prices) if prices else Prices()
    request = ChatRequest(_parts(question, video, count), use="ask")
    if dry_run:
        if not hasattr(backend, "estimate"):
            raise BadOption(f"{choice.backend} sends nothing: there is nothing to estimate")
        backend.attach(MemoryLedger(), known)
        out().print("\n".join(backend.estimate([request]).lines()), markup=False, soft_wrap=True)
        return
    try:
        cap = Decimal(max_cost) if max_cost else None
    except InvalidOperation:
        raise BadOption(f"a cost cap cannot be {max_cost!r}") from None
    if cap is not None:
        known.require(choice.model)
    with RunStore(run, command="ask", arguments={"model": str(choice)}, max_cost=cap) as store:
        if hasattr(backend, "attach"):
            backend.attach(store.ledger, known)
        (outcome,) = backend.ask([request])
    answer = outcome.unwrap()
    out().print(answer.text, markup=False, soft_wrap=True)
    cost = "" if answer.cost is None else f", cost {answer.cost}"
    err().print(f"{answer.usage.input_tokens} tokens in, {answer.usage.output_tokens} out{cost}")


def _parts(question: str, video: Path | None, count: int) -> tuple[Part, ...]:
    from screentest.models.chat.messages import Encoding, Text, timed
    from screentest.video import supervised

    if video is None:
        return (Text(question),)
    frames = supervised(_frames, video, count).unwrap()
    return (*timed(frames, Encoding()), Text(question))


def _frames(video: Path, count: int) -> list[Frame]:
    from screentest.core import Size
    from screentest.video import evenly, probe, sample_frames

    return list(sample_frames(video, evenly(probe(video).span, count), size=Size(long_side=512)))


COMMANDS = {"ask": ask}
