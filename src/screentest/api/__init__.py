"""The jobs of screentest, one function each. The commands call these.

>>> import screentest
>>> from screentest.sample import sample_videos
>>> film = sample_videos()[1].item
>>> scores = screentest.score(film, metrics=["contrast", "frozen"], out="scores")
>>> scores.value("frenchgp_1906", "contrast").outcome.unwrap().value.__round__(2)
0.31
>>> bed = screentest.build(film, out="bed", aspects=["aesthetics"], clips=1, long_side=160)
>>> made = screentest.certify("contrast", bed, out="certificates")
>>> made.of("contrast").overall.unwrap().value
1.0
>>> screentest.report(scores, made, out="report.html").page
PosixPath('report.html')

Finished work stays in the run's folder: the same call again resumes. Ctrl-C finishes what is in
flight and raises ``Stopped``, a KeyboardInterrupt with the result so far.

Each job imports what it needs when it is called: scoring loads nothing that builds testbeds.
"""

from screentest.api.certificates import (
    certify,
    certify_scores,
    certify_votes,
    forecast,
    judge_videos,
)
from screentest.api.reports import compare, export, report, show
from screentest.api.scores import forecast_score, sample_films, score, score_frames
from screentest.api.testbeds import build, build_prompts

__all__ = [
    "build",
    "build_prompts",
    "certify",
    "certify_scores",
    "certify_votes",
    "compare",
    "export",
    "forecast",
    "forecast_score",
    "judge_videos",
    "report",
    "sample_films",
    "score",
    "score_frames",
    "show",
]
