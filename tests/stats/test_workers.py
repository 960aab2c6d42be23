"""Each rule on cases made by hand; the thresholds are those of the paper's appendix A.4."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from screentest.stats import Sign, Vote, WorkerRules, review_workers


def vote(
    worker: str,
    pair: int,
    *,
    seconds: float = 300.0,
    answer: str = "A",
    correct: bool | None = True,
    duration: float = 600.0,
    task: str = "color",
) -> Vote:
    return Vote(worker, f"pair {pair}", task, seconds, duration, answer, correct)


def crowd(pairs: int = 10, workers: int = 4, **rest: object) -> list[Vote]:
    """Honest workers, each of a slightly different pace."""
    return [
        vote(f"honest {n}", pair, seconds=300.0 + n, **rest)  # type: ignore[arg-type]
        for pair in range(pairs)
        for n in range(workers)
    ]


def signs(votes: list[Vote], worker: str, rules: WorkerRules | None = None) -> set[Sign]:
    reports = {one.worker: one for one in review_workers(votes, rules or WorkerRules())}
    return {evidence.sign for evidence in reports[worker].signs}


def test_an_honest_crowd_shows_nothing() -> None:
    assert all(not report.signs and not report.flagged for report in review_workers(crowd()))


def test_pace_counts_per_second_of_video() -> None:
    # 60 s for 10 minutes is fast; the honest take the same 60 s for 1 minute of video.
    hasty = [vote("hasty", pair, seconds=60) for pair in range(5)]
    short = [
        vote(f"honest {n}", 100 + pair, seconds=60 + n, duration=60)
        for pair in range(12)
        for n in range(5)
    ]
    assert signs(hasty + short, "hasty") == {Sign.TOO_FAST}
    assert signs(hasty + short, "honest 0") == set()


def test_pace_is_compared_within_a_task() -> None:
    # Watching for colour takes a minute, reading for comprehensiveness ten: neither is hasty.
    quick = [vote(f"a {n}", pair, seconds=60) for pair in range(10) for n in range(5)]
    slow = [
        vote(f"b {n}", pair, seconds=600, task="comprehensiveness")
        for pair in range(10)
        for n in range(5)
    ]
    assert not any(report.signs for report in review_workers(quick + slow))


def test_fast_once_is_no_habit() -> None:
    votes = crowd(20, 5)
    votes += [vote("mostly slow", pair, seconds=10 if pair < 4 else 400) for pair in range(10)]
    assert signs(votes, "mostly slow") == set()
    votes += [vote("mostly fast", pair, seconds=10 if pair < 5 else 400) for pair in range(10)]
    assert Sign.TOO_FAST in signs(votes, "mostly fast")


def test_disagreeing_where_four_of_five_agree() -> None:
    votes = crowd() + [vote("contrary", pair, answer="C") for pair in range(5)]
    assert signs(votes, "contrary") == {Sign.DISAGREES}
    assert signs(votes, "honest 0") == set()


def test_contradicting_once_is_not_repeatedly() -> None:
    votes = crowd() + [vote("once", pair, answer="C" if pair == 0 else "A") for pair in range(5)]
    votes += [vote("twice", pair, answer="C" if pair < 7 else "A") for pair in range(5, 10)]
    assert signs(votes, "once") == set()
    assert signs(votes, "twice") == {Sign.DISAGREES}


def test_b_against_a_is_no_clear_contradiction() -> None:
    votes = crowd() + [vote("strict", pair, answer="B") for pair in range(10)]
    assert signs(votes, "strict") == set()
    assert signs(votes, "strict", WorkerRules(steps=1)) == {Sign.DISAGREES}


def test_where_others_are_divided_nobody_disagrees() -> None:
    votes = [vote(f"honest {n}", pair, answer="AABC"[n]) for pair in range(10) for n in range(4)]
    votes += [vote("contrary", pair, answer="C") for pair in range(10)]
    assert signs(votes, "contrary") == set()


def test_three_others_are_too_few_to_disagree_with() -> None:
    votes = crowd(10, 3) + [vote("contrary", pair, answer="C") for pair in range(10)]
    assert signs(votes, "contrary") == set()


def test_of_five_others_four_are_enough() -> None:
    votes = crowd(10, 4)
    votes += [vote("doubtful", pair, answer="B") for pair in range(10)]
    votes += [vote("contrary", pair, answer="C") for pair in range(10)]
    assert signs(votes, "contrary") == {Sign.DISAGREES}


def test_answers_off_the_scale_contradict_when_they_differ() -> None:
    votes = crowd(answer="first") + [vote("contrary", pair, answer="second") for pair in range(5)]
    assert signs(votes, "contrary") == {Sign.DISAGREES}


@pytest.mark.parametrize(("right", "found"), [(2, True), (3, False)])
def test_inaccurate_at_20_percent_or_less_where_most_do_well(right: int, found: bool) -> None:
    votes = crowd() + [vote("guesser", pair, correct=pair < right) for pair in range(10)]
    assert (Sign.INACCURATE in signs(votes, "guesser")) is found


def test_a_task_that_is_hard_for_most_accuses_nobody() -> None:
    hard = [vote(f"honest {n}", pair, correct=n < 2) for pair in range(10) for n in range(4)]
    assert not any(report.signs for report in review_workers(hard))


def test_few_votes_are_not_many_assignments() -> None:
    votes = crowd() + [
        replace(vote("new", pair, answer="C", correct=False, seconds=1), watched=0.1)
        for pair in range(4)
    ]
    assert signs(votes, "new") == set()
    assert signs(votes, "new", WorkerRules(votes=4)) == set(Sign) - {Sign.HASTY}


def test_one_sign_alone_flags_nobody() -> None:
    votes = crowd() + [vote("contrary", pair, answer="C") for pair in range(10)]
    votes += [vote("careless", pair, answer="C", correct=False) for pair in range(20, 30)]
    votes += [
        vote(f"honest {n}", pair, seconds=300.0 + n) for pair in range(20, 30) for n in range(4)
    ]
    reports = {one.worker: one for one in review_workers(votes)}
    assert len(reports["contrary"].signs) == 1
    assert not reports["contrary"].flagged
    assert {one.sign for one in reports["careless"].signs} == {Sign.DISAGREES, Sign.INACCURATE}
    assert reports["careless"].flagged
    assert reports["careless"].signs[0].share == 1.0
    assert reports["careless"].votes == 10


def test_spammers_in_a_simulated_crowd() -> None:
    """Forty honest workers and four who click at random at once: all four, and only they."""
    generator = np.random.default_rng(11)
    honest, spam = [f"honest {n}" for n in range(40)], [f"spam {n}" for n in range(4)]
    votes = []
    for pair in range(600):
        duration = float(generator.uniform(200, 2000))
        for worker in generator.choice(honest + spam, 5, replace=False):
            if worker in spam:
                answer = str(generator.choice(list("ABC")))
                seconds, correct = 0.02 * duration, bool(generator.random() < 0.5)
            else:
                answer = str(generator.choice(list("ABC"), p=[0.93, 0.06, 0.01]))
                seconds = duration * float(generator.lognormal(-0.7, 0.3))
                correct = bool(generator.random() < 0.93)
            votes.append(Vote(str(worker), f"{pair}", "color", seconds, duration, answer, correct))
    reports = review_workers(votes)
    assert {one.worker for one in reports if one.flagged} == set(spam)


def test_impossible_times_are_refused() -> None:
    with pytest.raises(ValueError, match="times"):
        review_workers([vote("a", 1, duration=0)])


def test_lazy_workers_are_found_where_a_third_are_lazy() -> None:
    """227 of the paper's 736 workers were excluded. Here 31 of 100 answer by a coin within a
    minute, on films of 19 minutes of which five clips of 17 s are harmed."""
    rng = np.random.default_rng(5)
    votes = []
    for pair in range(290):
        for worker in rng.choice(100, 5, replace=False):
            lazy = worker < 31
            took = rng.uniform(10, 60) if lazy else rng.lognormal(np.log(120), 0.5)
            right = rng.random() < (0.5 if lazy else 0.95)
            answer = "AB"[int(rng.random() < 0.5)] if lazy else "A"
            votes.append(
                replace(
                    vote(f"{worker}", pair, seconds=took, answer=answer, correct=bool(right)),
                    duration=2 * 19 * 60.0,
                    harmed=2 * 5 * 17.0,
                )
            )
    flagged = {int(one.worker) for one in review_workers(votes) if one.flagged}
    assert len([worker for worker in flagged if worker < 31]) >= 28
    assert not [worker for worker in flagged if worker >= 31]
    # By what is known of others alone, hardly any.
    relative = {
        one.worker
        for one in review_workers([replace(each, harmed=0.0) for each in votes])
        if one.flagged
    }
    assert len(relative) < 5
