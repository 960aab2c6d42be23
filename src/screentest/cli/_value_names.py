"""Values as tables call them: without the options that change no number, such as a file's place."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from screentest.scores.results import Results


def readable_names(results: Results) -> dict[str, str]:
    """For each value of a run what to call it; two that would be called alike keep their names."""
    from screentest.scores.results import value_name

    short = {
        value.name: value_name(plain_spec(value.metric), value.output) for value in results.values
    }
    count = Counter(short.values())
    return {name: called if count[called] == 1 else name for name, called in short.items()}


def plain_spec(spec: str) -> str:
    """A metric with the options that its signature has.

    >>> plain_spec("locot2v_herd:records=a/suite.json,unclear=wrong"), plain_spec("gone:x=1")
    ('locot2v_herd:unclear=wrong', 'gone:x=1')
    """
    from screentest.core import UserError, registry
    from screentest.core.options import parse, write_options

    name, options = parse(spec)
    try:
        neutral = registry.entry("metric", name).info.get("neutral", ())
    except UserError:  # a run may hold metrics of a plugin that is not here
        return spec
    given = write_options({key: value for key, value in options.items() if key not in neutral})
    return f"{name}:{given}" if given else name
