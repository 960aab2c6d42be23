"""Certificates of judges whose answers are known: every figure can be worked out beforehand."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from statsmodels.stats.proportion import proportion_confint

from screentest.analysis.judges.cases import read_cases
from screentest.analysis.judges.certificate import Certificate, read_certificates
from screentest.analysis.judges.plan import Certification, Plan, PromptChange
from screentest.annotate.material import unit_key
from screentest.annotate.records import write_filtered
from screentest.core import BUILTIN_ASPECTS, Aspect, BadOption, Choice, PairKind, Reason, Verdict
from screentest.judges.cases import Case, Order, one_aspect_per_placebo
from screentest.run.reader import RunReader
from screentest.stats import Claim
from screentest.testbeds.testbed import read_testbed
from screentest.testing.chat_answers import Answer, Asked, Status
from screentest.testing.chat_server import FakeChatServer
from tests.analysis.judges.stage import answer, certified, few_of, plan_of, settings
from tests.run.canonical import canonical

pytestmark = pytest.mark.usefixtures("clean_tools")

ASPECTS = ("aesthetics", "dynamics_degree", "comprehensiveness", "temporal_flow")


def asked_about(
    testbed: Path, tmp_path: Path, script: Callable[[Asked], object], **options: object
) -> tuple[Certificate, FakeChatServer]:
    with FakeChatServer(script) as server:  # type: ignore[arg-type]
        plan = plan_of(testbed, "vlm_video:frames=4,long_side=64", **options)
        done = certified(tmp_path / "run", plan, settings(server))
    (certificate,) = done.certificates
    return certificate, server


def test_cases_hide_where_to_look(testbed: Path) -> None:
    for case in read_cases([testbed]):
        for item in (case.first, case.second):
            assert item.script is not None
            assert not item.script.timed
            assert item.text == case.prompt
            assert item.video.is_file()


def test_a_placebo_is_put_in_every_aspect_and_can_be_left_out(testbed: Path) -> None:
    cases = read_cases([testbed])
    placebos = [case for case in cases if case.kind is PairKind.PLACEBO]
    assert {case.aspect.value for case in placebos} == set(ASPECTS)
    assert not [c for c in read_cases([testbed], placebos=False) if c.kind is PairKind.PLACEBO]
    with pytest.raises(BadOption):
        read_cases([testbed], aspects=[Aspect.COLOR])


def test_a_judge_that_always_says_first_is_at_chance_and_found_out(
    testbed: Path, tmp_path: Path
) -> None:
    certificate, server = asked_about(testbed, tmp_path, lambda asked: answer("first"))
    overall, order = certificate.overall.unwrap(), certificate.order.unwrap()
    # Each pair is right in one order and wrong in the other.
    assert overall.value == 0.5
    assert overall.judgements == overall.total == 2 * order.pairs
    assert (order.first_share, order.consistent_share) == (1.0, 0.0)
    # Where the frames that are shown are the same, the question is, and is paid once.
    cases = read_cases([testbed], placebos=False)
    digests = [asked.digest for asked in server.asked]
    assert len(digests) == len(set(digests)) <= 2 * len(cases)
    assert certificate.cost.calls == len(server.asked)
    assert certificate.cost.judgements == 2 * len(cases)
    # A half of every film is what an indifferent judge gets: one trial per film (Clopper-Pearson).
    films = len({case.cluster for case in cases})
    low, high = proportion_confint(films / 2, films, method="beta")
    assert (overall.interval.low, overall.interval.high) == pytest.approx((low, high))
    assert {one.finding.claim for one in certificate.operators} == {Claim.UNDECIDED}
    assert (certificate.cost.tokens_in, certificate.cost.tokens_out) == server.billed
    assert (certificate.cost.uncounted, certificate.cost.unpriced) == (
        0,
        len(server.asked),
    )  # no list of prices


def test_a_judge_with_one_order_only_is_fooled(testbed: Path, tmp_path: Path) -> None:
    certificate, _ = asked_about(
        testbed, tmp_path, lambda asked: answer("first"), orders=(Order.AS_GIVEN,)
    )
    assert certificate.overall.unwrap().value == 1.0
    assert certificate.order.failure is not None


def test_what_cannot_be_read_is_no_answer(testbed: Path, tmp_path: Path) -> None:
    def script(asked: Asked) -> Answer:
        if any("temporal flow" in text for text in asked.texts):
            return Answer("Both are lovely.")
        return answer("second")

    certificate, _ = asked_about(testbed, tmp_path, script)
    by_aspect = {one.aspect.value: one for one in certificate.aspects}
    lost = by_aspect["temporal_flow"].accuracy
    assert lost.failure is not None
    assert lost.failure.reason is Reason.UNPARSABLE
    overall = certificate.overall.unwrap()
    assert overall.judgements < overall.total
    assert overall.failures == {Reason.UNPARSABLE: overall.total - overall.judgements}
    assert overall.value == 0.5


def test_metrics_are_judges_and_each_video_is_measured_once(testbed: Path, tmp_path: Path) -> None:
    plan = plan_of(testbed, "contrast", "frozen", placebos=True)
    (contrast, frozen) = certified(tmp_path / "run", plan).certificates
    by_aspect = {one.aspect.value: one.accuracy.unwrap().value for one in frozen.aspects}
    # Frozen clips are what this metric looks for; dynamics_degree makes nothing else.
    assert by_aspect["dynamics_degree"] == 1.0
    assert contrast.order.unwrap().consistent_share == 1.0
    assert contrast.order.unwrap().first_share == 0.5
    with RunReader(tmp_path / "run") as run:
        measured = [
            r.key for r in run.records() if r.key.evaluator == "frozen" and not r.key.aspect
        ]
        videos = {case.second.id for case in plan.cases}
        videos |= {case.first.id for case in plan.cases}
        assert len(measured) == len(videos)
        assert read_certificates(run) == [contrast, frozen]


def test_another_container_is_a_tie(testbed: Path, tmp_path: Path) -> None:
    (certificate,) = certified(
        tmp_path / "run", plan_of(testbed, "contrast", placebos=True)
    ).certificates
    by_name = {one.name: one for one in certificate.placebos}
    # The same packets in another container decode to the same pictures.
    assert by_name["container"].tie_share == 1.0
    assert by_name["container"].false_alarms.unwrap().value == 0.5


def test_ladders_have_every_step(testbed: Path, tmp_path: Path) -> None:
    (certificate,) = certified(tmp_path / "run", plan_of(testbed, "contrast")).certificates
    dose = certificate.severities["aesthetics"]
    assert [one.severity for one in dose.doses] == [0.5, 1.0]
    assert not certificate.clip_counts  # one number of clips is no ladder


def test_prompt_probes_move_those_who_read(testbed: Path, tmp_path: Path) -> None:
    def by_the_prompt(asked: Asked) -> Answer:
        # Reads nothing but the text: as long as there is one, the second video wins.
        text = " ".join(asked.texts)
        empty = text.partition("made from:")[2].partition("Frames of the first")[0]
        return answer("second" if len(empty) > 120 else "first")

    others = (PromptChange.SWAPPED, PromptChange.SHUFFLED, PromptChange.EMPTY)
    certificate, _ = asked_about(
        testbed, tmp_path, by_the_prompt, prompt_changes=others, probe_pairs=2
    )
    moved = {(one.change, one.aspect.value): one.changed_share for one in certificate.prompts}
    for aspect in ASPECTS:
        assert moved["empty", aspect] == 1.0
        assert moved["swapped", aspect] == 0.0
        assert moved["shuffled", aspect] == 0.0


def test_the_hinted_probe_stands_beside_the_neutral_words(testbed: Path, tmp_path: Path) -> None:
    def by_the_hint(asked: Asked) -> Answer:
        # Knows harm only by what it is told to look for; else it says that the first is better.
        text = " ".join(asked.texts)
        hinted = any(one.info.hint in text for one in BUILTIN_ASPECTS)
        return answer("second" if hinted else "first")

    plan = few_of(testbed, "vlm_video:frames=1,long_side=48", "contrast", most=2)
    plan = replace(plan, prompt_changes=(PromptChange.HINTED,), probe_pairs=1)
    with FakeChatServer(by_the_hint) as server:
        asked, meter = certified(tmp_path / "run", plan, settings(server)).certificates
    assert asked.prompts
    for one in asked.prompts:
        assert (one.change, one.changed_share) == ("hinted", 1.0)
        assert not one.should_matter
        assert one.plain.unwrap().judgements == one.accuracy.unwrap().judgements == 2
        assert one.plain.unwrap().value == one.accuracy.unwrap().value == 0.5
    assert not meter.prompts  # a metric is told nothing, so that there is nothing to hint at


def test_workers_order_and_resume_change_nothing(testbed: Path, tmp_path: Path) -> None:
    def script(asked: Asked) -> Answer:
        return answer("first" if int(asked.digest[:8], 16) % 2 else "second")

    plan = few_of(testbed, "vlm_video:frames=2,long_side=64", "contrast")
    shuffled = Plan(plan.cases[::-1], plan.judges[::-1])
    with FakeChatServer(script) as server:
        given = settings(server)
        one = certified(tmp_path / "one", plan, given, workers=1)
        two = certified(tmp_path / "two", shuffled, given, workers=2)
        asked = len(server.asked)
        again = certified(tmp_path / "two", shuffled, given, workers=2)
        assert len(server.asked) == asked  # nothing is paid twice
    texts = []
    for name in ("one", "two"):
        with RunReader(tmp_path / name) as run:
            texts.append(list(canonical(run.records())))
    assert texts[0] == texts[1]

    def figures(done: Certification) -> dict[str, object]:
        return {one.judge: (one.overall, one.aspects, one.order) for one in done.certificates}

    assert figures(one) == figures(two) == figures(again)


def test_a_service_that_failed_is_asked_again(testbed: Path, tmp_path: Path) -> None:
    broken = {"yes": True}

    def script(asked: Asked) -> Answer | Status:
        return Status(503, "not today") if broken["yes"] else answer("second")

    plan = few_of(testbed, "vlm_video:frames=2,long_side=64", most=2)
    with FakeChatServer(script) as server:
        first = certified(tmp_path / "run", plan, settings(server))
        assert first.certificates[0].overall.failure is not None
        broken["yes"] = False
        second = certified(tmp_path / "run", plan, settings(server))
    assert second.certificates[0].overall.unwrap().coverage == 1.0


def test_votes_of_people_are_a_judge(testbed: Path, tmp_path: Path) -> None:
    cases = read_cases([testbed], placebos=False)
    rows = ["video,aspect,choice,worker"]
    for number, case in enumerate(cases):
        path = "/".join(case.second.video.parts[-3:])
        # Three of four votes for the intact video, but for the first pair a draw.
        votes = ["intact", "intact", "changed", "changed" if number == 0 else "intact"]
        rows += [f"{path},{case.aspect.value},{v},w{n}" for n, v in enumerate(votes)]
    votes_file = tmp_path / "votes.csv"
    votes_file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    plan = plan_of(testbed, f'human:votes="{votes_file}"')
    (certificate,) = certified(tmp_path / "run", plan).certificates
    with RunReader(tmp_path / "run") as run:
        verdicts = [record.outcomes[record.key.evaluator].unwrap() for record in run.records()]
    ties = [v for v in verdicts if isinstance(v, Verdict) and v.choice is Choice.TIE]
    assert len(ties) == 2
    # The share of votes, as in the paper, and not that of pairs with a majority.
    assert 0.7 < certificate.overall.unwrap().value <= 0.75


@pytest.mark.parametrize(
    "text",
    [
        "",
        "video,aspect,choice\n",
        "video,aspect\nx,color\n",
        "video,aspect,choice\nx,colour,intact\n",
        "video,aspect,choice\nx,color,first\n",
    ],
)
def test_wrong_votes_are_reported(text: str, tmp_path: Path, testbed: Path) -> None:
    votes = tmp_path / "votes.csv"
    votes.write_text(text, encoding="utf-8")
    with pytest.raises(BadOption):
        certified(tmp_path / "run", plan_of(testbed, f'human:votes="{votes}"'))


def test_a_judge_that_is_paid_is_put_each_placebo_once(testbed: Path, tmp_path: Path) -> None:
    certificate, _ = asked_about(
        testbed, tmp_path, lambda asked: answer("second"), placebos=True, orders=(Order.AS_GIVEN,)
    )
    # Three films have three placebos each; in every aspect it would be four times as many.
    for one in certificate.placebos:
        assert one.pairs == one.false_alarms.unwrap().judgements == 3
        assert one.false_alarms.unwrap().value == 0.0  # it always preferred the changed copy
    cases = read_cases([testbed])
    drawn = {case.id: case.aspect for case in one_aspect_per_placebo(cases)}
    fewer = [case for case in cases if case.source != cases[0].source]
    for case in one_aspect_per_placebo(fewer):
        assert drawn[case.id] is case.aspect  # whatever else there is


def test_a_testbed_given_twice_is_reported(testbed: Path) -> None:
    with pytest.raises(BadOption, match="twice"):
        read_cases([testbed, testbed / ".." / testbed.name])


def test_what_people_kept_is_counted_apart(testbed: Path, tmp_path: Path) -> None:
    everything = [case for case in read_cases([testbed]) if case.kind is PairKind.DEGRADATION]
    kept = tmp_path / "kept"
    first = everything[0].source
    people = frozenset(
        unit_key(pair) for pair in read_testbed(testbed).pairs if pair.source == first
    )
    write_filtered(testbed, kept, people)
    cases = read_cases([testbed], placebos=False, kept=[kept])
    assert {case.kept for case in cases if case.source == first} == {True}
    assert {case.kept for case in cases if case.source != first} == {False}
    (certificate,) = certified(tmp_path / "run", Plan(tuple(cases), ("frozen",))).certificates
    found = certificate.filtered
    assert found is not None
    assert (found.kept, found.pairs) == (4, 12)  # one of three films, in four aspects
    assert found.overall.unwrap().pairs == 4
    assert found.aspects[Aspect.DYNAMICS_DEGREE].unwrap().value == 1.0


def test_two_testbeds_are_told_apart(testbed: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(testbed, other, ignore=shutil.ignore_patterns("run"))
    cases = read_cases([testbed, other], placebos=False)
    (certificate,) = certified(tmp_path / "run", Plan(tuple(cases), ("frozen",))).certificates
    assert certificate.by_testbed.keys() == {"testbed", "other"}
    one, two = (found.unwrap() for found in certificate.by_testbed.values())
    assert one == two  # the same pairs
    overall = certificate.overall.unwrap()
    assert overall.pairs == one.pairs + two.pairs


def test_case_ids_are_unique(testbed: Path) -> None:
    cases: list[Case] = read_cases([testbed])
    places = [(case.id, case.aspect) for case in cases]
    assert len(set(places)) == len(places)
