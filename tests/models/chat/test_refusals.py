"""A failure is never a score: whatever declines, guesses or saw nothing has no verdict.

Each answer goes the whole way: question, server, client, rules, verdict. The honest ones show that
the rules do not throw away what was said in earnest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from screentest.core import NoValue, Outcome, Reason
from screentest.judges.vlm import COMPARE_FRAMES, COMPARE_TEXTS, DESCRIBE, as_verdict
from screentest.metrics.narrative.dense import CLIP
from screentest.models.ask import Query, send
from screentest.models.ask.templates import Pictures, Prompts, Trusted
from screentest.models.chat.messages import DECLINED, SEEN, ChatRequest, Encoding, Text, encode
from screentest.models.chat.parsing import parse_yes_no
from screentest.suites.etva.answers import read_answer
from screentest.suites.locot2v.metrics.alignment import OCCURS
from screentest.suites.locot2v.metrics.herd import Marks
from screentest.suites.univ.schema import Inspection
from screentest.testing.chat_answers import Act, Answer, Asked
from tests.models.chat import refusals
from tests.models.chat.kit import serving
from tests.suites.univ.scripted import finding, inspection

PICTURE = encode(np.full((32, 32, 3), 120, np.uint8), Encoding())
SHOWN = Pictures((Text("[1.00 second]"), PICTURE))
PROMPTS = Prompts()
NO_VERDICT = {Reason.REFUSED, Reason.UNPARSABLE, Reason.UNSEEN}


def every(corpus: dict[str, list[str]]) -> list[str]:
    assert set(corpus) == {"en", "fr", "de", "es", "ja", "zh"}
    return [text for texts in corpus.values() for text in texts]


def compare(number: int, query: Query = COMPARE_FRAMES) -> ChatRequest:
    slots: dict[str, Any] = {
        "aspect": Trusted("Aesthetics"),
        "description": Trusted("How it looks."),
        "prompt": f"Film number {number}.",
    }
    if query is COMPARE_FRAMES:
        slots |= {"first_frames": SHOWN, "second_frames": SHOWN}
    else:
        slots |= {"first_video": "A dog.", "second_video": "A cat."}
    return query.request(PROMPTS, slots)


def answered(texts: Sequence[str], requests: Sequence[ChatRequest]) -> list[Outcome[Any]]:
    """What becomes of each request when its own text is all that the model ever says."""
    marks = [request.parts[0].text for request in requests]  # type: ignore[union-attr]
    assert len(set(marks)) == len(texts)

    def script(asked: Asked) -> Act:
        (number,) = [n for n, mark in enumerate(marks) if mark in asked.texts]
        return Answer(texts[number])

    with serving(script) as (_, chat):
        return send(chat, requests)


def numbered(count: int, **more: Any) -> list[ChatRequest]:
    return [ChatRequest((Text(f"Question {n}:"), PICTURE), **more) for n in range(count)]


def framed(count: int) -> list[ChatRequest]:
    # The template's first text is the same for all but the prompt, so it tells them apart.
    return [compare(number) for number in range(count)]


def failed(outcomes: Iterator[Outcome[Any]] | Sequence[Outcome[Any]]) -> list[Reason]:
    return [outcome.failure.reason for outcome in outcomes if outcome.failure is not None]


def test_the_corpus_is_as_large_as_promised() -> None:
    groups = (refusals.AROUND_AN_OBJECT, refusals.REASONS, refusals.YES_NO)
    assert sum(len(every(group)) for group in groups) >= 60
    honest = (refusals.HONEST_OBJECTS, refusals.HONEST_REASONS)
    words = (refusals.HONEST_YES_NO, refusals.HONEST_SCORES)
    assert sum(len(group) for group in (*honest, *words)) >= 30


def test_an_object_among_words_is_no_verdict() -> None:
    held = refusals.SECOND
    texts = [text.replace("{}", held) for text in every(refusals.AROUND_AN_OBJECT)]
    outcomes = [one.map(as_verdict) for one in answered(texts, framed(len(texts)))]
    reasons = failed(outcomes)
    assert len(reasons) == len(texts)
    assert set(reasons) <= NO_VERDICT


ALL_REASONS = [*every(refusals.REASONS), *refusals.MORE_REASONS]


def test_an_answer_that_says_it_declines_is_refused() -> None:
    reasons = [reason for reason in ALL_REASONS if reason.strip()]
    texts = [
        json.dumps({SEEN: True, DECLINED: reason, "reason": "Sharper.", "better": "first"})
        for reason in reasons
    ]
    outcomes = failed(answered(texts, framed(len(texts))))
    assert outcomes == [Reason.REFUSED] * len(texts)


@pytest.mark.parametrize("field", [{}, {DECLINED: None}, {DECLINED: ""}, {DECLINED: "none"}])
def test_a_reason_about_the_answer_itself_is_refused_without_the_field(field: Any) -> None:
    """The short list knows 83 of 102; the others would have to be said in the field."""
    texts = [
        json.dumps({SEEN: True, **field, "reason": reason, "better": "first"})
        for reason in ALL_REASONS
    ]
    assert len(failed(answered(texts, framed(len(texts))))) >= 83


def test_a_yes_or_no_that_is_none() -> None:
    texts = every(refusals.YES_NO)
    for outcome, text in zip(answered(texts, numbered(len(texts))), texts, strict=True):
        if outcome.ok:  # the rules for a bare text let through what the rules for a yes do not
            with pytest.raises(NoValue):
                parse_yes_no(outcome.unwrap())
            assert not read_answer(outcome.unwrap()).ok, text


@pytest.mark.parametrize(
    "text", ["No - video unavailable", "No. The video is not available.", "Yes, hypothetically"]
)
def test_a_yes_or_no_about_nothing(text: str) -> None:
    with pytest.raises(NoValue) as caught:
        parse_yes_no(text)
    assert caught.value.reason is Reason.REFUSED


def test_findings_that_sound_like_refusals_are_answers() -> None:
    texts = [
        json.dumps({DECLINED: None, "reason": reason, "better": "second"})
        for reason in refusals.FINDINGS
    ]
    outcomes = answered(texts, framed(len(texts)))
    assert [outcome.unwrap().better for outcome in outcomes] == ["second"] * len(texts)
    assert not failed(answered(refusals.FINDINGS, numbered(len(texts))))
    for text in refusals.FINDINGS:
        for token, yes in (("[YES]", True), ("[NO]", False)):
            assert read_answer(f"{text} Conclusion: {token}").unwrap() is yes, text
            assert read_answer(f"{token} {text}").unwrap() is yes, text


def test_honest_objects_are_read() -> None:
    texts = [
        *refusals.HONEST_OBJECTS,
        *(
            json.dumps({"reason": one, "better": "second"})
            for one in (*refusals.HONEST_REASONS, *refusals.MORE_HONEST_REASONS)
        ),
    ]
    outcomes = answered(texts, framed(len(texts)))
    assert [one.unwrap().better for one in outcomes] == ["second"] * len(texts)


REPORTS = [
    line
    for line in Path(__file__).with_name("honest_reports.txt").read_text("utf-8").splitlines()
    if not line.startswith("[")
]
"""Written as an inspector, in six languages, with the words that refusals are made of."""


def test_no_honest_report_is_refused() -> None:
    assert len(set(REPORTS)) == 200
    assert not failed(answered(REPORTS, numbered(len(REPORTS))))
    found = [json.dumps(inspection(finding(description=one, fix=one))) for one in REPORTS]
    inspected = answered(found, numbered(len(found), schema=Inspection))
    said = [outcome.unwrap().findings[0].description for outcome in inspected]
    assert said == REPORTS
    for report in REPORTS:
        for token, yes in (("[YES]", True), ("[NO]", False)):
            assert read_answer(f"{report} Conclusion: {token}").unwrap() is yes, report
            assert read_answer(f"{token} {report}").unwrap() is yes, report


def test_honest_words_are_read() -> None:
    for text, yes in refusals.HONEST_YES_NO.items():
        if "[" in text:
            assert parse_yes_no(text) is yes, text
            assert read_answer(text).unwrap() is yes
    texts = [*refusals.HONEST_YES_NO, *refusals.HONEST_SCORES]
    assert not failed(answered(texts, numbered(len(texts))))


def test_a_refusal_is_not_sent_back_to_be_worded_better() -> None:
    first = "No images were attached, so as a placeholder: " + refusals.FIRST
    with serving([Answer(first), Answer(refusals.FIRST)]) as (server, chat):
        (outcome,) = send(chat, [compare(1)])
    assert failed([outcome]) == [Reason.REFUSED]
    assert len(server.asked) == 1


def test_other_words_are_sent_back_once() -> None:
    with serving([Answer(f"My answer: {refusals.SECOND}"), Answer(refusals.SECOND)]) as (
        server,
        chat,
    ):
        (outcome,) = send(chat, [compare(1)])
    assert outcome.unwrap().better == "second"
    assert len(server.asked) == 2
    assert SEEN in server.asked[1].texts[-1]


FORMS = [COMPARE_FRAMES.form, DESCRIBE.form, CLIP.form, OCCURS.form, Marks]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_every_form_about_pictures_can_say_that_they_were_not_seen(form: Any) -> None:
    (request,) = numbered(1, schema=form)
    assert request.form is not None
    assert list(request.form["properties"])[:2] == [SEEN, DECLINED]
    for text in ('{"pictures_seen": false}', '{"pictures_seen": false, "better": "first"}'):
        (outcome,) = answered([text], [request])
        assert failed([outcome]) == [Reason.UNSEEN]
    (outcome,) = answered(['{"pictures_seen": "no"}'], [request])
    assert failed([outcome]) == [Reason.UNPARSABLE]


@pytest.mark.parametrize("again", [True, False], ids=["said the second time", "never said"])
def test_an_object_that_says_nothing_of_the_pictures_is_sent_back(again: bool) -> None:
    """It may come from a model that saw none: the field is what holds where words are not known."""
    silent = Answer('{"reason": "It is sharper.", "better": "first"}', as_is=True)
    with serving([silent, Answer(refusals.SECOND) if again else silent]) as (server, chat):
        (outcome,) = send(chat, [compare(1)])
    assert len(server.asked) == 2
    assert "pictures_seen is missing" in server.asked[1].texts[-1]
    if again:
        assert outcome.unwrap().better == "second"
    else:
        assert failed([outcome]) == [Reason.UNPARSABLE]


def test_a_form_about_text_does_not_ask_for_pictures() -> None:
    request = compare(0, COMPARE_TEXTS)
    assert request.form is not None
    assert SEEN not in request.form["properties"]
    honest = '{"reason": "I cannot see the videos, but the first has a dog.", "better": "first"}'
    assert next(iter(request.form["properties"])) == DECLINED
    guess = '{"declined": "I would have to guess.", "reason": "Sharper.", "better": "first"}'
    assert answered([honest], [request])[0].unwrap().better == "first"
    assert failed(answered([guess], [request])) == [Reason.REFUSED]


def test_a_text_about_pictures_can_say_that_they_were_not_seen() -> None:
    (outcome,) = answered(["[NOT SEEN]"], numbered(1))
    assert failed([outcome]) == [Reason.UNSEEN]
    told = "\n".join(part.text for part in compare(0).parts if isinstance(part, Text))
    assert "[NOT SEEN]" in told
    assert SEEN in told


def test_a_description_of_nothing_is_none() -> None:
    said = {"observations": [], "overall": "I'm unable to view the video, so I cannot describe it."}
    (outcome,) = answered([json.dumps(said)], numbered(1, schema=DESCRIBE.form))
    assert failed([outcome]) == [Reason.REFUSED]


COMMON = [
    "I'm sorry, but I cannot see the video.",
    "My apologies, I cannot view the images.",
    "As a placeholder, I chose the first.",
    "Error: failed to load the media.",
    "Es tut mir leid, aber ich kann das Video nicht sehen.",
    "Entschuldigung, ich kann keine Videos ansehen.",
    "Es ist kein Video angehängt.",
    "Je suis désolé, mais je ne peux pas voir la vidéo.",
    "Lo siento, pero no puedo ver el vídeo.",
    "No tengo acceso al video.",
    "抱歉，我无法观看视频。",
    "对不起，我无法查看图片。",
    "很抱歉，我不能直接查看视频。",
    "我不能观看视频，只能随机选择一个答案。",
    "申し訳ありませんが、動画を見ることができません。",
]
"""How chat models decline to look, in their most usual words."""


@pytest.mark.parametrize("text", COMMON)
def test_usual_refusals_beside_a_token_are_none(text: str) -> None:
    for said in (f"[NO] {text}", f"{text} Conclusion: [NO]", f"[YES] {text}"):
        assert failed([read_answer(said)]) == [Reason.REFUSED]


@pytest.mark.parametrize(
    "text",
    [
        "Error: the hand has six fingers.",
        "Der Vogel tut dem Hund leid.",
        "画面很暗，我看不到浣熊，抱歉。",
        "Lo siento, pero no veo ningún mapache en el vídeo.",
    ],
)
def test_a_finding_in_the_words_of_an_apology_is_an_answer(text: str) -> None:
    assert read_answer(f"[NO] {text}").unwrap() is False
