from __future__ import annotations

from screentest.models.chat.endpoint import PRESETS, preset
from screentest.models.chat.messages import Sampling


def test_slvmeval() -> None:
    # SLVMEval, appendices E.1 (Qwen3-8B reads captions) and G.1 (Qwen3-VL judges).
    extract, judge = preset("slvm.extract"), preset("slvm.judge")
    assert (extract.top_p, extract.top_k, extract.temperature) == (0.95, 20, 0.6)
    assert (extract.min_p, extract.repetition_penalty) == (0.0, 1.2)
    assert (judge.top_p, judge.top_k, judge.temperature, judge.min_p) == (0.8, 20, 0.7, 0.0)


def test_etva() -> None:
    # ETVA's released settings: greedy questions, near-greedy answers. What its code needs to cut
    # questions out of lines (stop words, 150 tokens) would cut our agents' objects in two.
    questions, answer = preset("etva.questions"), preset("etva.answer")
    assert (questions.temperature, questions.top_p) == (0.0, 0.95)
    assert not questions.stop
    assert preset("etva.elements") == preset("etva.graph") == questions
    assert (answer.temperature, answer.top_p, answer.repetition_penalty) == (0.1, 0.001, 1.05)
    assert (answer.min_tokens, answer.max_tokens) == (10, 1024)
    assert preset("etva.knowledge") == answer


def test_univbench() -> None:
    # UniV-Eval's default judge.
    judge = preset("univ.judge")
    assert (judge.temperature, judge.max_tokens) == (0.0001, 32768)


def test_what_no_paper_settles_is_greedy() -> None:
    assert preset("locot2v.events") == Sampling(temperature=0.0)
    assert all(sampling.max_tokens > 0 for sampling in PRESETS.values())
