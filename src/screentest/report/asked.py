"""Questions that a score rests on, scene by scene, out of its details."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LONGEST = 600
"""Letters of what a model said; all of it is in the run."""


def questions_asked(details: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Scenes with their questions and answers; empty where the metric asks none.

    >>> scene = {"text": "A dog.", "questions": [{"question": "A dog?", "answer": "no"}]}
    >>> questions_asked({"scenes": [scene]})[0]["questions"][0]["answer"]
    'no'
    >>> questions_asked({"scenes": 3}), questions_asked({})
    ([], [])
    """
    scenes = details.get("scenes")
    if not isinstance(scenes, list):
        return []
    found = [_scene(one) for one in scenes if isinstance(one, Mapping)]
    return [one for one in found if one["questions"] or one["failed"]]


def _scene(scene: Mapping[str, Any]) -> dict[str, Any]:
    start, asked = scene.get("start"), scene.get("questions")
    return {
        "text": _text(scene, "text"),
        "start": float(start) if isinstance(start, int | float) else 0.0,
        "failed": _text(scene, "failure"),
        "questions": [
            _question(one) for one in asked if isinstance(one, Mapping) and one.get("question")
        ]
        if isinstance(asked, list)
        else [],
    }


def _question(one: Mapping[str, Any]) -> dict[str, Any]:
    answer = one.get("answer")
    return {
        "question": _text(one, "question"),
        "category": _text(one, "category"),
        "answer": answer if answer in ("yes", "no") else None,
        # A failure says why there is no answer; else what the model said, in its own words.
        "why": _text(one, "reason") or _text(one, "said"),
    }


def _text(source: Mapping[str, Any], name: str) -> str:
    text = source.get(name)
    if not isinstance(text, str):
        return ""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
