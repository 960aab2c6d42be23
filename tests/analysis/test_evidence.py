"""Evidence: what is known of a value, and whether it holds for these numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from screentest.analysis import evidence
from screentest.analysis.evidence import (
    Evidence,
    Reaction,
    Standing,
    entry,
    evidence_of,
    measured,
    people_of,
    read_entry,
    recipe,
    settings_key,
    values_named,
)
from screentest.analysis.models.explain import with_explanations
from screentest.analysis.models.rows import Explained
from screentest.analysis.results import Results, Value
from screentest.analysis.runs import read_results
from screentest.core import Outcome, OutputInfo, Score, build, registry
from screentest.core.errors import BadOption
from screentest.core.signature import value_name
from screentest.run.reader import RunReader
from screentest.stats import Claim
from tests.analysis.test_comparison import with_faults
from tests.present.runs import CALM, certificate, certify_run, items, score_run, scored

SHOTS = "shots:default%7Cv%3A1"
KEY = "calm|v:1|shots:default/1"
SEES = Reaction(Claim.SEES, 40, 38, 0, strict=True)
ANSWERS = ([20, 10, 10, "="], [999, 999, 0, "+!"])
PREFERS = Reaction(Claim.PREFERS_DEGRADED, 40, 1, 30)


def value(signature: str, name: str = "calm") -> Value:
    return Value("a", name, name, Outcome.of(Score(0.5)), signature)


def results(*values: Value) -> Results:
    return Results({}, values, {one.name: OutputInfo("") for one in values})


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Evidence:
    one = Evidence("calm", Standing.MEASURED, 40, {"motion_blur": SEES, "banding": PREFERS})
    monkeypatch.setattr(evidence, "measured", lambda: {KEY: one})
    return one


def test_evidence_holds_for_the_version_and_settings_that_were_measured(known: Evidence) -> None:
    assert settings_key(value(f"calm|v:1|{SHOTS}")) == KEY
    assert evidence_of(results(value(f"calm|v:1|decoder:av99|{SHOTS}"))) == {"calm": known}
    for other in (
        f"calm|v:2|{SHOTS}",
        "calm|v:1|shots:none%7Cv%3A1",
        f"calm|v:1|{SHOTS}|model.flow:raft",
    ):
        (found,) = evidence_of(results(value(other))).values()
        assert found == Evidence("calm", Standing.OTHER_VERSION)
    (found,) = evidence_of(results(value(f"calm|v:1|rate:2|{SHOTS}", "calm:rate=2"))).values()
    assert found.standing is Standing.OTHER_VERSION
    assert evidence_of(results(value("busy|v:1", "busy")))["busy"].standing is Standing.NONE
    assert evidence_of(results(value(""))) == {}


def test_the_most_certain_come_first(known: Evidence) -> None:
    more = replace(known, operators={"tilted": replace(SEES, wins=20), "motion_blur": SEES})
    assert more.having(Claim.SEES) == ("motion_blur", "tilted")
    assert PREFERS.ties == 9


def test_what_a_certificate_says_is_read_again_as_it_was_written() -> None:
    made = certificate()
    found = read_entry(KEY, entry(made, cost=0.0123))
    (seen, chance, *_) = made.operators
    assert found.operators[seen.name] == Reaction(Claim.SEES, 20, 18, 0, strict=True)
    assert found.operators[chance.name].claim is Claim.UNDECIDED
    assert (found.films, found.cost, found.settings["version"]) == (20, 0.012, "1")


def test_a_certificate_of_the_user_comes_before_the_package(
    tmp_path: Path, known: Evidence
) -> None:
    judged = certify_run(tmp_path / "certificates", [certificate()])
    one = score_run(
        tmp_path / "run", items("a"), {("a", "calm"): scored(0.5)}, metrics={"calm": CALM}
    )

    with RunReader(one) as run:
        found = read_results(run)
    mine = evidence_of(replace(found, certified=(str(judged),)))["calm"]
    assert mine.source == str(judged)
    assert mine.having(Claim.SEES)


def test_released_scores_stand_beside_people() -> None:
    # docs/evidence/results/trust.json, FETV's generated videos: in a rater's place 55.6 and 68.9%.
    (quality, _, alignment) = (
        one for one in people_of("clipscore") if one["release"] == "FETV, generated"
    )
    assert [round(100 * quality[who]) for who in ("in_place", "person")] == [56, 74]
    assert [round(100 * alignment[who]) for who in ("in_place", "person")] == [69, 73]
    assert people_of("no such score") == []


def test_an_explained_lead_names_the_tests_that_show_it() -> None:
    # flicker is helped by blur: less sharpness, in which the same model is behind.
    comparison = with_faults(14)
    rows = [
        row
        for row in comparison.rows
        for pair in row.pairs
        if pair.explanation is not None and pair.explanation.kind is Explained.ARTEFACT
    ]
    assert rows
    cause = next(p.explanation for p in rows[0].pairs if p.explanation is not None)
    prefers = Evidence(
        rows[0].name, Standing.MEASURED, 9, {"motion_blur": PREFERS, "banding": PREFERS}
    )
    of_cause = next(row for row in comparison.rows if row.name == cause.value)
    worse = cause.more is None or cause.more is not of_cause.info.higher_is_better
    shows = Evidence(cause.value, Standing.MEASURED, 9, {"motion_blur": SEES if worse else PREFERS})
    known = {rows[0].name: prefers, cause.value: shows}
    again = with_explanations([replace(r, evidence=known.get(r.name)) for r in comparison.rows])
    (row,) = (r for r in again if r.name == rows[0].name)
    assert {p.explanation.tests for p in row.pairs if p.explanation} == {("motion_blur",)}


CANNOT = {"prompt_objects", "videoscore", "etva", "etva_builtin", "human"}
"""Metrics that are not tested without what is not here: networks, questions, prompts."""


def registered() -> Iterator[tuple[str, str]]:
    for metric in registry.entries("metric", builtin=True):
        try:
            info = build("metric", metric.name).thing.info
        except BadOption:  # it needs to be told what to measure
            continue
        chat = any(role.partition(".")[0] == "chat" for role in info.roles)
        if not chat and metric.name not in CANNOT:
            for output in info.outputs:
                yield value_name(metric.name, output), str(metric.version)


def test_every_registered_version_has_evidence() -> None:
    if not recipe():
        pytest.skip("nothing was measured yet: make evidence")
    have = {(one.value.partition(":")[0], one.settings["version"]) for one in measured().values()}
    missing = [name for name, version in registered() if (name, version) not in have]
    assert not missing


def test_the_recipe_names_films_by_hash() -> None:
    if not recipe():
        pytest.skip("nothing was measured yet: make evidence")
    assert {"command", "commit", "seed", "operators", "films"} <= recipe().keys()
    for film in recipe()["films"]:
        assert len(film.get("sha256", "")) == 64 or film["of"]
    assert {one.films for one in values_named("sharpness")} <= set(range(1, 200))


def test_a_plugin_says_nothing_of_the_packages_values(monkeypatch: pytest.MonkeyPatch) -> None:
    own, others = ({"operators": {"banding": answers}, "placebos": {}} for answers in ANSWERS)
    documents = ({"values": {KEY: own}}, {"values": {KEY: others, "theirs.a|v:1": others}})
    monkeypatch.setattr(evidence, "_documents", lambda: documents)

    found = measured.__wrapped__()

    assert found[KEY].operators == {"banding": Reaction(Claim.CHANCE, 20, 10, 10)}
    assert found["theirs.a|v:1"].operators == {
        "banding": Reaction(Claim.SEES, 999, 999, 0, strict=True)
    }
