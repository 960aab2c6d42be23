"""Every sentence that people may see, errors aside: one template for each.

``tests/present/sentences.txt`` has all of them with examples, to be read aloud.
"""

from __future__ import annotations

from collections.abc import Mapping

SENTENCES: Mapping[str, str] = {
    # The headline of a comparison of models: at most 100 characters.
    "beats": "{winner} beats {others} on {metrics} ({prompts}, p < {level}, corrected)",
    "beats_each": (
        "{winner} beats each of {others} on some metric ({prompts}, p < {level}, corrected)"
    ),
    "no_single_winner": (
        "No single winner: differences on {metrics} ({prompts}, p < {level}, corrected)"
    ),
    "explained_only": "No winner: an artefact explains every significant difference ({prompts})",
    "inconclusive": "Inconclusive: {prompts}, {needed} needed",
    "no_difference": "No significant difference on {metrics} ({prompts})",
    "equal": "No difference larger than re-encoding noise on {metrics} ({prompts})",
    "identical": "All values are identical on {metrics} ({prompts})",
    "nothing_compared": "Nothing to compare: {reason}",
    # The headline of one model's scores.
    "worst_video": "{video} ranks worst on {metrics}",
    "scored": "{videos} scored on {metrics}",
    "nothing_scored": "No value could be measured on {videos}",
    # The headline of certificates, and of people's votes on models.
    "certificate": "{judge} {verb} {seen} of {tested} ({basis})",
    "certificate_open": "{judge}: inconclusive on {tested} ({basis})",
    "certificate_untested": "{judge} could not be tested ({basis})",
    "certificates": "Judges that {verb}: {seen} of {tested} ({basis})",
    "people_prefer": "People prefer {pairs} ({basis})",
    "people_same": "People: no significant difference between the models ({basis})",
    "people_open": "People: inconclusive, {basis}; {why}",
    # The labelled lines.
    "over": "{better} over {worse}: {metrics}",
    "so_far": "{model} {place}: {metrics}",
    "unclear": "{model} has added artefacts, or {other} lost detail",
    "looks": "{model} is {looks}",
    "seeds": "videos per prompt: {videos}; compared: {count} of each",
    "merged": "{written} count as {units}: same text or same video",
    "borders": "{shares} of the frame; pictures are measured inside",
    "by_name": "videos are paired by file name: they have no prompts",
    # The checks of a report.
    "certified": "{sees} of {metrics} certified",
    "not_certified": "no metric is certified; add a run of screentest certify",
    "resume": "{values} to come; start the same command again",
    # The notes below a table.
    "star": "* significant in all metrics tested together, and larger than re-encoding noise",
    "circle": "° significant, but explained by an artefact",
    "counted": "Each video counts by {part}.",
    "no_margin": "Re-encoding noise is not known for {metrics}.",
    # Tables of a suite, and the way to more.
    "no_value": "Without any value: {levels}.",
    "nothing_started": "Nothing was started. Calls are upper bounds: earlier answers are reused.",
    "at_worst": "At worst: the judge tosses a coin on its placebos; otherwise it ties on them.",
    "left_out": "Left out: {part} ({why})",
    "file_gone": "The file is no longer there.",
    "get_models": "To measure prompt following: --models light, or a chat model.",
}


def say(sentence: str, **values: object) -> str:
    """Return a sentence with its values filled in."""
    return SENTENCES[sentence].format_map(values)
