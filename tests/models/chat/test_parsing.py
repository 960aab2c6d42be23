from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.core import NoValue, Reason, attempt
from screentest.models.chat.parsing import parse_yes_no, spoken

# docs/chat.md states the rules that these tables follow.
YES_NO = {
    "yes": True,
    "Yes.": True,
    "YES!": True,
    " **Yes** ": True,
    "[YES]": True,
    "no": False,
    "No, it does not.": None,
    "<think>no, or is it yes?</think>Yes": True,
    "The answer is yes": None,
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
    assert parse_yes_no(text) is True
    with pytest.raises(NoValue):
        parse_yes_no(f"{text} or [NO]")
    with pytest.raises(NoValue):
        parse_yes_no("There is no shadow, yet yes.")


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


@given(st.characters(categories=["L", "N"]), st.sampled_from(["yes", "no"]))
def test_a_letter_on_either_side_makes_it_another_word(letter: str, word: str) -> None:
    for glued in (f"{letter}{word}", f"{word}{letter}"):
        if glued.casefold() not in ("yes", "no"):
            with pytest.raises(NoValue):
                parse_yes_no(glued)
