"""How much of ETVA's released questions the rules ask too, by similarity of the texts.

Run: python bench/etva_questions.py [--text minilm] [--least 0.7]
Needs the folder of test data (SCREENTEST_DATA): the released files do not ship.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from tests.suites.etva.agreement import LEAST, Agreement, covered

from screentest.models import ModelChoice, Models
from screentest.suites.etva.questions import read_question_sets
from screentest.suites.etva.rules.writer import rules_signature, write_by_rules

ROOT = Path(__file__).parent.parent


def shown(name: str, agreement: Agreement) -> str:
    return f"{name:34} {agreement.found:4}/{agreement.total:4} = {agreement.share:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text", default="minilm", help="which text_embedding backend")
    parser.add_argument("--least", type=float, default=LEAST)
    given = parser.parse_args()
    data = Path(os.environ.get("SCREENTEST_DATA", ROOT.parent / "shared" / "data")) / "etva"
    released = read_question_sets(data / "qa_sample.json", data / "question_sample.json")
    written = [write_by_rules(one.prompt) for one in released]
    models = Models([ModelChoice.parse(f"text_embedding={given.text}")])
    text = models.role("text_embedding")
    print(rules_signature(), models.signature("text_embedding"), f"least {given.least}")
    found = covered(released, written, text, least=given.least)
    print(shown("released questions also asked", found))
    for category, (some, total) in found.by_category.items():
        print(f"  {category.value:32} {some:4}/{total:4}")
    print(
        shown("rule questions also released", covered(written, released, text, least=given.least))
    )
    rotated = [*written[1:], written[0]]
    print(
        shown("by the next prompt's questions", covered(released, rotated, text, least=given.least))
    )


if __name__ == "__main__":
    main()
