"""Sampling per use: the papers' values, by the name of the use.

>>> preset("slvm.judge").temperature
0.7

Where a paper names none, the model answers greedily: temperature 0.
"""

from __future__ import annotations

from screentest.models.chat.messages import Sampling

GREEDY = Sampling(temperature=0.0)

# Token limits that a paper leaves open are ours: room for a model that thinks aloud.
PRESETS: dict[str, Sampling] = {
    # SLVMEval, appendix E.1: Qwen3-8B reads captions.
    "slvm.extract": Sampling(
        temperature=0.6, top_p=0.95, top_k=20, min_p=0.0, repetition_penalty=1.2
    ),
    # SLVMEval, appendix G.1: Qwen3-VL. GPT-5 takes no sampling settings; see dialects.
    "slvm.judge": Sampling(temperature=0.7, top_p=0.8, top_k=20, min_p=0.0, max_tokens=8192),
    # ETVA writes its questions greedily. Its code has them line by line, which needs stop words,
    # a limit of 150 tokens and a repetition penalty of 1.2. Our agents answer with objects, in
    # which names and brackets must repeat.
    "etva.elements": Sampling(temperature=0.0, top_p=0.95),
    "etva.graph": Sampling(temperature=0.0, top_p=0.95),
    "etva.questions": Sampling(temperature=0.0, top_p=0.95),
    "etva.knowledge": Sampling(
        temperature=0.1, top_p=0.001, repetition_penalty=1.05, min_tokens=10, max_tokens=1024
    ),
    "etva.answer": Sampling(
        temperature=0.1, top_p=0.001, repetition_penalty=1.05, min_tokens=10, max_tokens=1024
    ),
    # UniVBench: as good as greedy, with room for long lists of faults.
    "univ.judge": Sampling(temperature=0.0001, max_tokens=32768),
}


def preset(use: str) -> Sampling:
    """The sampling for a use; greedy for one that no paper settles."""
    return PRESETS.get(use, GREEDY)
