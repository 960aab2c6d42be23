"""A command: ``screentest brightest``."""

from __future__ import annotations

import typer

import screentest

brightest = typer.Typer()


@brightest.callback(invoke_without_command=True)
def main(video: str) -> None:
    """Print how bright a video is."""
    scores = screentest.score(video, metrics=["light"], out="brightest")
    (value,) = scores.results.values
    typer.echo(f"light {value.outcome.unwrap().value:.3f}")
