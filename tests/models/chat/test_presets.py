from __future__ import annotations

from screentest.models.chat.endpoint import PRESETS, preset
from screentest.models.chat.messages import Sampling


def test_slvmeval() -> None:
    # SLVMEval, appendices E.1 (Qwen3-8B reads captions) and G.1 (Qwen3-VL judges).
    extract, judge = preset("slvm.extract"), preset("slvm.judge")
    assert (extract.top_p, extract.top_k, extract.temperature) == (0.95, 20, 0.6)
    assert (extract.min_p, extract.repetition_penalty) == (0.0, 1.2)
    assert (judge.top_p, judge.top_k, judge.temperature, judge.min_p) == (0.8, 20, 0.7, 0.0)


def test_what_no_paper_settles_is_greedy() -> None:
    assert preset("some.use") == Sampling(temperature=0.0)
    assert all(sampling.max_tokens > 0 for sampling in PRESETS.values())
