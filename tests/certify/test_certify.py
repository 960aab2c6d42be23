"""Certificates of judges whose answers are known: every figure can be worked out beforehand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from screentest.certify.cases import Case, read_cases
from screentest.certify.certificate import Certificate
from screentest.certify.certify import Certification, Plan, certify, read_certificates
from screentest.certify.prompts import PromptChange
from screentest.core import Aspect, BadOption, Choice, Reason, Verdict
from screentest.degrade.testbed import Kind
from screentest.evaluate.judging import Order
from screentest.evaluate.settings import Settings
from screentest.models import Choice as ModelChoice
from screentest.models.testing import Answer, Asked, FakeChatServer, Status
from screentest.run import InlineEngine, LocalEngine, RunReader, RunStore, canonical

pytestmark = pytest.mark.usefixtures("clean_tools")

ASPECTS = ("aesthetics", "dynamics_degree", "comprehensiveness", "temporal_flow")


def answer(better: str) -> Answer:
    return Answer(json.dumps({"reason": "as the test says", "better": better}))


def settings(server: FakeChatServer) -> Settings:
    choice = f"chat=openai:test,base_url={server.url},max_attempts=1"
    return Settings(models=(ModelChoice.parse(choice),))


def certified(
    folder: Path, plan: Plan, given: Settings | None = None, workers: int = 0
) -> Certification:
    engine = LocalEngine(workers) if workers else InlineEngine()
    with RunStore(folder, command="certify") as store:
        return certify(store, plan, given, engine=engine)


def plan_of(testbed: Path, *judges: str, **options: object) -> Plan:
    cases = read_cases([testbed], placebos=bool(options.pop("placebos", False)))
    return Plan(tuple(cases), judges, **options)  # type: ignore[arg-type]


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
        for item in (case.contest.first, case.contest.second):
            assert item.script is not None
            assert not item.script.timed
            assert item.text == case.contest.prompt
            assert item.video.is_file()


def test_a_placebo_is_put_in_every_aspect_and_can_be_left_out(testbed: Path) -> None:
    cases = read_cases([testbed])
    placebos = [case for case in cases if case.kind is Kind.PLACEBO]
    assert {case.contest.aspect.value for case in placebos} == set(ASPECTS)
    assert not [c for c in read_cases([testbed], placebos=False) if c.kind is Kind.PLACEBO]
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
    assert (certificate.cost.tokens_in, certificate.cost.tokens_out) == server.billed


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
        videos = {case.contest.second.id for case in plan.cases}
        videos |= {case.contest.first.id for case in plan.cases}
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

    certificate, _ = asked_about(
        testbed, tmp_path, by_the_prompt, prompt_changes=tuple(PromptChange), probe_pairs=2
    )
    moved = {(one.change, one.aspect.value): one.changed_share for one in certificate.prompts}
    for aspect in ASPECTS:
        assert moved["empty", aspect] == 1.0
        assert moved["swapped", aspect] == 0.0
        assert moved["shuffled", aspect] == 0.0


def test_workers_order_and_resume_change_nothing(testbed: Path, tmp_path: Path) -> None:
    def script(asked: Asked) -> Answer:
        return answer("first" if int(asked.digest[:8], 16) % 2 else "second")

    plan = plan_of(testbed, "vlm_video:frames=2,long_side=64", "contrast")
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

    plan = plan_of(testbed, "vlm_video:frames=2,long_side=64")
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
        path = "/".join(case.contest.second.video.parts[-3:])
        # Three of four votes for the intact video, but for the first pair a draw.
        votes = ["intact", "intact", "changed", "changed" if number == 0 else "intact"]
        rows += [f"{path},{case.contest.aspect.value},{v},w{n}" for n, v in enumerate(votes)]
    votes_file = tmp_path / "votes.csv"
    votes_file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    plan = plan_of(testbed, f'human:votes="{votes_file}"')
    (certificate,) = certified(tmp_path / "run", plan).certificates
    with RunReader(tmp_path / "run") as run:
        verdicts = [record.outcomes[record.key.evaluator].unwrap() for record in run.records()]
    ties = [v for v in verdicts if isinstance(v, Verdict) and v.choice is Choice.TIE]
    assert len(ties) == 2
    assert certificate.overall.unwrap().value > 0.9


@pytest.mark.parametrize(
    "text", ["", "video,aspect\nx,color\n", "video,aspect,choice\nx,colour,intact\n"]
)
def test_wrong_votes_are_told(text: str, tmp_path: Path, testbed: Path) -> None:
    votes = tmp_path / "votes.csv"
    votes.write_text(text, encoding="utf-8")
    if not text:
        return  # no votes at all are no fault of the file
    with pytest.raises(BadOption):
        certified(tmp_path / "run", plan_of(testbed, f'human:votes="{votes}"'))


def test_case_ids_are_unique(testbed: Path) -> None:
    cases: list[Case] = read_cases([testbed])
    places = [(case.id, case.contest.aspect) for case in cases]
    assert len(set(places)) == len(places)
