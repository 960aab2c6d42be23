"""Reading a value out of a model's free text, by stated rules.

Each function gives the one value the text holds or raises NoValue(UNPARSABLE). None ever falls
back on a default. docs/chat.md states the rules; a text that could be read in two ways has
no value.

>>> parse_yes_no("Yes, it does.")
True
>>> parse_score("I give it 4 out of 5.", 1, 5)
4.0
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from screentest.core import NoValue, Reason

_THOUGHT = re.compile(r"\A.*</think(?:ing)?>|\A\s*<think(?:ing)?>.*", re.DOTALL | re.IGNORECASE)
_PLAIN = re.compile(r"[+\-−]?[0-9]+(?:\.[0-9]+)?")
_CLOCK = re.compile(r"[0-9]+(?::[0-9]+)+(?:\.[0-9]+)?")
_LABEL = re.compile(r"(?<=[A-Za-z\"'*)\]])\s*[:=]\s*")
_OUT_OF = re.compile(
    r"(?<![\w.,:/+\-−])([0-9]+(?:\.[0-9]+)?)\s*(?:/|out\s+of)\s*([0-9]+(?:\.[0-9]+)?)"
    r"(?!\w|[.,:/\-−][0-9])",
    re.IGNORECASE,
)
# What may stand between the start of a line and the choice or number that is the answer.
_LEADING = (
    "so thus therefore overall hence my the final this that it it['’]s is as a an of i am we would "
    "say choose pick prefer select rate give gave assign video clip option score rating grade "
    "answer verdict conclusion choice decision"
)
_LEAD_IN = rf"(?:(?:{'|'.join(_LEADING.split())})\b[\s,:=\-–—*_\"'`(\[]*)*"
_OPENING = 200
"""How far into a line or sentence an answer may begin; also what bounds the search."""
_MARGIN = "\"'`*_()[]{}<>.,;:!?~=#$ "


def spoken(text: str) -> str:
    """The text after the thinking that some models put before it, without its margins."""
    return _THOUGHT.sub("", text, count=1).strip().strip("\ufeff").strip()


def parse_yes_no(text: str, *, bracketed: bool = False) -> bool:
    """Whether it says yes or no, as a word of its own: "eyes" is not a yes.

    ``bracketed`` counts only [YES] and [NO], for answers that reason before they conclude.
    """
    return parse_choice(text, ("yes", "no"), bracketed=bracketed) == "yes"


def parse_choice(text: str, choices: Sequence[str], *, bracketed: bool = False) -> str:
    """The one of ``choices`` that the text names, as words of their own.

    Upper and lower case are the same, except for choices of one letter, since "a" is a word.
    """
    said = spoken(text)
    whole = said.strip("\"'`*.!()[] \n").casefold()
    for choice in choices:
        if whole == choice.casefold():
            return choice
    named = [choice for choice in choices if _names(said, choice, bracketed)]
    if not bracketed:
        # Named in passing is not answered: "there is no doubt that the cat is there".
        named = [choice for choice in named if _answers(said, choice)] and named
    # "not sure" also names "sure": the longer one is what was said.
    named = [
        choice
        for choice in named
        if not any(choice != other and _within(choice, other, said) for other in named)
    ]
    if len(named) != 1:
        found = " and ".join(repr(choice) for choice in named) or "none"
        raise _unparsable(f"expected one of {', '.join(choices)}; found {found}", text)
    return named[0]


def parse_score(text: str, low: float, high: float, *, whole: bool = False) -> float:
    """The one number in the text, from ``low`` to ``high``; ``whole`` takes only integers.

    "4/5" and "4 out of 5" are 4 where 5 is the highest score there is.
    """
    said = _LABEL.sub(" ", spoken(text))
    if "%" in said and high != 100:
        raise _unparsable("a percentage where a score was asked for", text)
    for scale in _OUT_OF.finditer(said):
        if float(scale.group(2)) != high:
            raise _unparsable(f"a score out of {scale.group(2)[:20]}, not {high:g}", text)
    numbers = _numbers(_OUT_OF.sub(r"\1", said), text)
    if len(numbers) != 1:
        raise _unparsable(f"expected one number; found {len(numbers) or 'none'}", text)
    if not _is_the_answer(_OUT_OF.sub(r"\1", said), numbers[0]):
        raise _unparsable("a number stands in it, but not where an answer stands", text)
    value = float(numbers[0].replace("−", "-"))
    if not math.isfinite(value) or not low <= value <= high:
        raise _unparsable(f"{numbers[0][:20]} is not from {low:g} to {high:g}", text)
    if whole and not value.is_integer():
        raise _unparsable(f"{value:g} is not a whole number", text)
    return value


def _numbers(said: str, text: str) -> list[str]:
    numbers = []
    for word in said.replace("%", " ").split():
        bare = word.strip(_MARGIN)
        if not any("0" <= letter <= "9" for letter in bare):
            continue
        if _PLAIN.fullmatch(bare):
            numbers.append(bare)
        elif _CLOCK.fullmatch(bare) or any(letter.isalpha() or letter == "_" for letter in bare):
            continue  # a time, or part of a name: 1:30, 4k, frame_12
        else:
            raise _unparsable(f"{bare[:20]!r} could be more than one number", text)
    return numbers


def _is_the_answer(said: str, number: str) -> bool:
    """Whether a number opens or closes the text or follows a word such as "score"."""
    start = rf"[\W_]*{_LEAD_IN}[\W_]*{re.escape(number)}"
    # Nothing but the end or a pause may follow: "4 frames" counts frames.
    for piece, last in _sentences(said):
        counts_points = piece.strip() == f"{number}." and not last
        if not counts_points and re.match(
            start + r"\s*(?:[^\w\s]|$)", piece[:_OPENING], re.IGNORECASE
        ):
            return True
    return False


def _sentences(said: str) -> list[tuple[str, bool]]:
    """The sentences that are no questions, each with whether its line ends there."""
    found = []
    for line in said.splitlines():
        pieces = re.split(r"(?<=[.!?;])\s+", line)
        found += [(piece, place == len(pieces)) for place, piece in enumerate(pieces, start=1)]
    return [(piece, last) for piece, last in found if not piece.rstrip().endswith("?")]


def _answers(said: str, choice: str) -> bool:
    """Whether a line or sentence of the text opens with the choice, or it stands in brackets."""
    if _pattern(choice, bracketed=True).search(said):
        return True
    words = r"\s+".join(re.escape(word) for word in choice.split())
    flags = re.NOFLAG if len(choice) == 1 else re.IGNORECASE
    # After it a pause or the end: "No idea" and "No frames were sent" are not a no.
    after = r"(?=\s*(?:[^\w\s]|$)"
    ordinal = choice.casefold() in ("first", "second", "left", "right")
    after += r"|\s+(?:video|clip|film|one|option)\b)" if ordinal else ")"
    start = re.compile(rf"[\W_]*(?i:{_LEAD_IN})[\W_]*{words}(?![\w-]){after}", flags)
    return any(start.match(piece[:_OPENING]) for piece, _ in _sentences(said))


def _names(text: str, choice: str, bracketed: bool) -> bool:
    return _pattern(choice, bracketed).search(text) is not None


def _pattern(choice: str, bracketed: bool) -> re.Pattern[str]:
    words = r"\s+".join(re.escape(word) for word in choice.split())
    flags = re.NOFLAG if len(choice) == 1 else re.IGNORECASE
    if bracketed:
        return re.compile(rf"\[\s*{words}\s*\]", flags)
    return re.compile(rf"(?<![\w-]){words}(?![\w-])", flags)


def _within(short: str, long: str, text: str) -> bool:
    # Whether every place that names ``short`` lies inside one that names ``long``.
    outer = [match.span() for match in _pattern(long, False).finditer(text)]
    return bool(outer) and all(
        any(start <= match.start() and match.end() <= end for start, end in outer)
        for match in _pattern(short, False).finditer(text)
    )


def _unparsable(problem: str, text: str) -> NoValue:
    start = " ".join(text[:120].split())
    return NoValue(Reason.UNPARSABLE, f"{problem}. The answer begins: {start!r}")
