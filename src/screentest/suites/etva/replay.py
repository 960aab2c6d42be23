"""Transcripts scored again, without a model: released ones, or those of a run."""

from __future__ import annotations

from collections.abc import Sequence

from screentest.core import UserError
from screentest.corpus.etva import Transcript
from screentest.metrics.etva.categories import read_category
from screentest.metrics.etva.tokens import Compat, read_answer
from screentest.suites.etva.tables import Judged


def judge_transcripts(
    transcripts: Sequence[Transcript], *, model: str = "", compat: Compat = Compat.STRICT
) -> list[Judged]:
    """Every answer read anew by the rules of ``compat``."""
    judged = []
    for each in transcripts:
        for exchange in each.exchanges:
            if not exchange.label:
                raise UserError(
                    f"nothing says which category {exchange.question[:60]!r} belongs to",
                    advice="Give the file of questions and types: --questions FILE.",
                )
            answer = read_answer(exchange.answer, compat)
            category = read_category(exchange.label)
            judged.append(Judged(each.number, category, answer, exchange.question, model))
    return judged
