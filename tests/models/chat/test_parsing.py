from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.core import NoValue, Reason, attempt
from screentest.models.chat.parsing import parse_choice, parse_yes_no, spoken

# docs/chat.md states the rules that these tables follow.
YES_NO = {
    "yes": True,
    "Yes.": True,
    "YES!": True,
    " **Yes** ": True,
    "[YES]": True,
    "no": False,
    "No, it does not.": False,
    "<think>no, or is it yes?</think>Yes": True,
    "The answer is yes": True,
    "hmm, no wait\n</think>\nyes": True,
    "eyes": None,
    "Her eyes are open.": None,
    "yesterday": None,
    "nothing is known": None,
    "Norway": None,
    "yes and no": None,
    "Yes, there is no doubt.": None,
    "": None,
    "   ": None,
    "maybe": None,
    "ja": None,
    "y": None,
    "<think>yes": None,
    "yes_no": None,
}


@pytest.mark.parametrize("text", YES_NO)
def test_yes_no(text: str) -> None:
    outcome = attempt(lambda: parse_yes_no(text))
    if YES_NO[text] is None:
        assert outcome.failure is not None
        assert outcome.failure.reason is Reason.UNPARSABLE
    else:
        assert outcome.value is YES_NO[text]


def test_bracketed_answers_may_reason_first() -> None:
    # The form ETVA asks for: reasoning with yeses and noes in it, then one conclusion.
    text = "There is no shadow, yet yes, the cup floats. Conclusion: [YES]"
    assert parse_yes_no(text, bracketed=True) is True
    with pytest.raises(NoValue):
        parse_yes_no(f"{text} or [NO]", bracketed=True)
    with pytest.raises(NoValue):
        parse_yes_no("There is no shadow, yet yes.", bracketed=True)


CHOICES = {
    "first": "first",
    "The SECOND video is better.": "second",
    "tie": "tie",
    "first or second": None,
    "the second, since the first is blurred": None,
    "": None,
    "firstly": None,
}


@pytest.mark.parametrize("text", CHOICES)
def test_choice(text: str) -> None:
    outcome = attempt(lambda: parse_choice(text, ("first", "second", "tie")))
    assert outcome.value == CHOICES[text]


def test_one_letter_counts_only_as_written() -> None:
    text = "I saw a video with light. Answer: B"
    assert parse_choice(text, ("A", "B")) == "B"
    assert parse_choice("b", ("A", "B")) == "B"


@pytest.mark.parametrize(
    "text",
    [
        "There is no doubt about it: the cat is there.",
        "It's a no-brainer.",
        "The caption has no colours and the video looks right.",
        "No frames were provided, so I cannot tell.",
        "No video was attached.",
        "No idea.",
        "Is it yes? It cannot be determined.",
    ],
)
def test_a_word_in_passing_is_no_answer(text: str) -> None:
    with pytest.raises(NoValue):
        parse_yes_no(text)


def test_the_longer_choice_is_what_was_said() -> None:
    assert parse_choice("I am not sure", ("sure", "not sure")) == "not sure"
    with pytest.raises(NoValue):
        parse_choice("not sure; no, quite sure", ("sure", "not sure"))


answers = st.one_of(
    st.text(),
    st.text(alphabet="0123456789./,-−: +eE%[]{}\"'yesno outf\n"),
    st.lists(
        st.sampled_from(
            ["4", "5", "11", "-1", "/", "out of", "yes", "no", "eyes", "[YES]", "1:30"]
        ),
        max_size=6,
    ).map(" ".join),
)


@given(answers)
def test_no_text_gives_anything_but_yes_or_no(text: str) -> None:
    outcome = attempt(lambda: parse_yes_no(text))
    words = spoken(text).casefold()
    if outcome.value is True:
        assert "yes" in words
    elif outcome.value is False:
        assert "no" in words
    else:
        assert outcome.failure.reason is Reason.UNPARSABLE


@given(answers, st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=4))
def test_a_choice_is_one_of_the_choices(text: str, choices: list[str]) -> None:
    outcome = attempt(lambda: parse_choice(text, choices))
    assert outcome.value in choices if outcome.ok else True


@given(st.characters(categories=["L", "N"]), st.sampled_from(["yes", "no"]))
def test_a_letter_on_either_side_makes_it_another_word(letter: str, word: str) -> None:
    for glued in (f"{letter}{word}", f"{word}{letter}"):
        if glued.casefold() not in ("yes", "no"):
            with pytest.raises(NoValue):
                parse_yes_no(glued)
