"""How comparisons are shown: two sides with their differences, more as a ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from screentest.certificates.compare import Points, RankedRow, Row
    from screentest.core import Outcome
    from screentest.stats import RankAgreement

TURNED = "More is better in every row: where less is, as in noise, the sign is turned."
"""Said below scores: a reader who knows the plain number would wonder at the minus."""


def show_pair(
    sides: Mapping[str, Points],
    *,
    judgements: bool,
    agreement: Outcome[RankAgreement] | None,
    as_json: bool,
) -> None:
    """Two sides, row by row."""
    from screentest.certificates.compare import compare
    from screentest.cli.console import print_json

    (first, one), (second, two) = sides.items()
    rows = compare(one, two, judgements=judgements).unwrap()
    if as_json:
        found = [_pair_object(row) for row in rows]
        print_json({"first": first, "second": second, "rows": found, **_between(agreement)})
        return
    _print_pair(rows, (first, second), judgements=judgements)
    _print_agreement(agreement)


def show_ranking(
    sides: Mapping[str, Points],
    *,
    judgements: bool,
    agreement: Outcome[RankAgreement] | None,
    as_json: bool,
) -> None:
    """Three sides or more, ranked."""
    from screentest.certificates.compare import ranked
    from screentest.cli.console import print_json

    rows = ranked(sides, judgements=judgements).unwrap()
    if as_json:
        print_json({"rows": [_ranked_object(row) for row in rows], **_between(agreement)})
        return
    _print_ranking(rows, judgements=judgements)
    _print_agreement(agreement)


def show_agreement(agreement: Outcome[RankAgreement], *, as_json: bool) -> None:
    """Two testbeds: whether they rank the judges alike."""
    from screentest.cli.console import print_json

    if as_json:
        print_json(_between(agreement))
    else:
        _print_agreement(agreement)


def _print_pair(rows: Sequence[Row], names: tuple[str, str], *, judgements: bool) -> None:
    from screentest.cli.console import out
    from screentest.cli.tables import print_indented, table

    scale = 100 if judgements else 1
    cells = []
    for row in rows:
        interval = row.difference.interval
        between = f"{scale * interval.low:.2f} … {scale * interval.high:.2f}" if interval else "–"
        cells.append(
            (
                row.name,
                f"{scale * row.first:.2f}",
                f"{scale * row.second:.2f}",
                f"{scale * row.difference.value:+.2f}",
                between,
                f"{row.adjusted_p:.3f}{'*' if row.significant else ''}",
                f"{row.difference.pairs:,}",
            )
        )
    columns = ["", ">First", ">Second", ">Differ", ">95% interval", ">p", ">Pairs"]
    out().print(table(columns, cells))
    print_indented(f"First: {names[0]}. Second: {names[1]}. p after Holm; * below 0.05.", indent=0)
    if not judgements:
        print_indented(TURNED, indent=0)
    for row in rows:
        if row.needed and not row.significant:
            words = f"{row.name}: a difference like this would take about {row.needed:,} pairs"
            print_indented(words, indent=0)
    dropped = sum(row.dropped for row in rows)
    if dropped:
        print_indented(f"Left out, since one side has no value: {dropped:,}.", indent=0)


def _print_ranking(rows: Sequence[RankedRow], *, judgements: bool) -> None:
    from screentest.cli.console import out
    from screentest.cli.tables import print_heading, table

    scale = 100 if judgements else 1
    for row in rows:
        print_heading(f"{row.name}, {row.items:,} in common")
        letters = _letters(row.ranking.tied_sets)
        cells = [
            (name, f"{scale * row.means[name]:.2f}", letters[name]) for name in row.ranking.systems
        ]
        out().print(table(["", ">Mean", "Tied"], cells))
    out().print("Those that share a letter cannot be told apart (p after Holm ≥ 0.05).")
    if not judgements:
        out().print(TURNED)


def _letters(sets: Sequence[Sequence[str]]) -> dict[str, str]:
    """A letter for each set; the 27th is aa."""
    found: dict[str, str] = {}
    for number, group in enumerate(sets):
        letter = chr(ord("a") + number % 26) * (number // 26 + 1)
        for name in group:
            found[name] = f"{found.get(name, '')} {letter}".strip()
    return found


def _print_agreement(agreement: Outcome[RankAgreement] | None) -> None:
    from screentest.cli.tables import print_indented

    if agreement is None:
        return
    found = agreement.value
    words = f"Ranking of judges on both testbeds: {agreement.failure}"
    if found is not None:
        words = (
            f"Ranking of {found.spearman.n} judges on both testbeds: Spearman {found.spearman}, "
            f"Kendall {found.kendall}"
        )
    print_indented(words, indent=0)


def _between(agreement: Outcome[RankAgreement] | None) -> dict[str, Any]:
    if agreement is None:
        return {"rank_agreement": None}
    if agreement.value is None:
        return {"rank_agreement": {"failed": str(agreement.failure)}}
    found = agreement.value
    return {
        "rank_agreement": {
            "judges": list(found.systems),
            "spearman": {"value": found.spearman.value, "p": found.spearman.p_value},
            "kendall": {"value": found.kendall.value, "p": found.kendall.p_value},
            "left_out": list(found.left_out),
        }
    }


def _pair_object(row: Row) -> dict[str, Any]:
    interval = row.difference.interval
    return {
        "name": row.name,
        "first": row.first,
        "second": row.second,
        "difference": row.difference.value,
        "interval": [interval.low, interval.high] if interval else None,
        "p": row.difference.p_value,
        "p_holm": row.adjusted_p,
        "p_mcnemar": row.exact.p_value if row.exact else None,
        "pairs": row.difference.pairs,
        "sources": row.difference.sources,
        "pairs_needed": row.needed,
        "dropped": row.dropped,
    }


def _ranked_object(row: RankedRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "means": {name: row.means[name] for name in row.ranking.systems},
        "tied_sets": [list(group) for group in row.ranking.tied_sets],
        "best": list(row.ranking.best),
        "differences": [
            {
                "first": pair.first,
                "second": pair.second,
                "difference": pair.difference.value,
                "p_holm": pair.adjusted_p,
            }
            for pair in row.ranking.pairs
        ],
        "items": row.items,
        "dropped": row.dropped,
    }
