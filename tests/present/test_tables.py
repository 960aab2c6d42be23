"""Every table in every format, read back by somebody else."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from screentest.core import BadOption, Reason, Table, UserError
from screentest.present.files import FORMATS, as_csv, latex, markdown, write_tables
from screentest.present.page.data import read_report
from screentest.present.page.tables import tables
from tests.present.runs import (
    CALM,
    certificate,
    certify_run,
    items,
    lost,
    score_run,
    scored,
    two_systems,
)


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """Three films: one has both values, one has lost one, one is still to come."""
    return score_run(
        tmp_path / "scores",
        items("a", "b", "c"),
        {
            ("a", "calm"): scored(0.2, 0.1, 0.3),
            ("a", "busy"): scored(12.0),
            ("b", "calm"): scored(0.4),
            ("b", "busy"): lost(),
        },
    )


def test_each_table_in_each_format(scores: Path, tmp_path: Path) -> None:
    other = certify_run(tmp_path / "certificates", [certificate()])
    report = read_report([scores, other])
    written = write_tables(report, tmp_path / "tables", FORMATS)

    names = {table.name for table in tables(report)}
    certified = {"certificate_calm", "accuracy"}
    assert names == {"summary", "values", "missing", "signatures", "runs", *certified}
    assert {path.name for path in written} == {f"{n}.{f}" for n in names for f in FORMATS}
    assert all(path.stat().st_size for path in written)


def test_parquet_has_numbers_and_nulls(scores: Path, tmp_path: Path) -> None:
    write_tables(read_report([scores]), tmp_path / "tables", ["parquet"])
    values = pq.read_table(tmp_path / "tables" / "values.parquet").to_pydict()
    assert values == {"item": ["a", "b", "c"], "calm": [0.2, 0.4, None], "busy": [12.0, None, None]}
    summary = pq.read_table(tmp_path / "tables" / "summary.parquet").to_pydict()
    # The mean of 0.2 and 0.4 by hand; one film of three is pending.
    assert summary["mean"] == pytest.approx([0.3, 12.0])
    assert summary["scored"] == [2, 1]
    assert summary["total"] == [3, 3]


def test_why_a_value_is_missing_is_a_table_too(scores: Path) -> None:
    (missing,) = [one for one in tables(read_report([scores])) if one.name == "missing"]
    assert set(missing.rows) == {
        ("b", "busy", "undecodable", "no picture", "Make it again."),
        ("c", "calm", "pending", "", ""),
        ("c", "busy", "pending", "", ""),
    }


def test_a_certificate_of_each_testbed_stays(tmp_path: Path) -> None:
    runs = [certify_run(tmp_path / bed, [certificate(testbed=bed)]) for bed in ("one", "two")]
    report = read_report(runs)
    assert [one.testbeds for one in report.certificates] == [("one",), ("two",)]
    named = [one.name for one in tables(report) if one.name.startswith("certificate")]
    assert named == ["certificate_calm", "certificate_calm_2"]


STRANGE = r"50% & $x_1$ #1 {a} \cmd ~ ^ <b> | é 漢"


def test_latex_keeps_every_letter() -> None:
    text = latex(Table("t", "T", ("name",), ((STRANGE,),)))
    assert r"50\% \& \$x\_1\$ \#1 \{a\} \textbackslash{}cmd" in text
    assert text.count(r"\toprule") == text.count(r"\midrule") == text.count(r"\bottomrule") == 1


def test_latex_compiles(tmp_path: Path) -> None:
    program = shutil.which("pdflatex")
    if program is None:
        pytest.skip("pdflatex is not installed")
    table = latex(
        Table("t", "T", ("a_b", "n"), ((STRANGE[:-2], 0.5), ("[2cm]x", 0.5), ("*x", 0.5)))
    )
    page = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n"
    (tmp_path / "t.tex").write_text(page + table + "\\end{document}\n")
    done = subprocess.run(
        [program, "-interaction=batchmode", "-halt-on-error", "t.tex"], cwd=tmp_path, check=False
    )
    assert done.returncode == 0


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", " =", "\uff1d", "\uff20"])
def test_csv_holds_no_formula(start: str) -> None:
    table = Table("t", "T", ("item", "n"), ((f'{start}HYPERLINK("http://x","y")', -1.5),))
    (_, row) = csv.reader(io.StringIO(as_csv(table)))
    assert row[0].startswith(f"'{start}HYPERLINK")
    assert row[1] == "-1.5"  # a number is no formula


def test_latex_rows_are_no_options_of_the_line_above() -> None:
    rows = (("[2cm]x", 0.5), ("*x", 0.5), ("*[3cm]", 0.5))
    table = Table("t", "A\n\\input{x}\u2028% & judge", ("[1cm]", "n"), rows)
    lines = latex(table).splitlines()
    assert lines[0].startswith("% A")
    assert "\\input{x}" not in lines[0]
    assert lines[1].startswith("\\begin{tabular}")
    for line in (lines[3], *lines[5:8]):
        assert line.startswith("{}")


def test_markdown_has_one_line_per_row() -> None:
    table = Table("t", "T", ("a", "b"), (("x|y\nz", "<script>"),))
    assert markdown(table).splitlines()[2] == r"| x\|y z | &lt;script> |"


@pytest.mark.parametrize(
    "text",
    [
        "![t](http://tracker.example/x.png)",
        "[click](https://evil.example)",
        "[t][1]",
        "<http://evil.example>",
        "https://evil.example/x",
        "www.evil.example",
        "somebody@evil.example",
        "`code`![x](//evil.example/y.png)",
        "&lt;img src=x&gt;",
        "\\![t](http://tracker.example/x.png)",
    ],
)
def test_markdown_fetches_nothing_and_links_to_nothing(text: str) -> None:
    """As a renderer that knows links, pictures and bare addresses sees it: only the text."""
    from markdown_it import MarkdownIt

    page = markdown(Table("t", "T", (text, "b"), ((text, 0.5),)))
    shown = MarkdownIt("commonmark", {"html": True}).enable("table").render(page)
    assert "<img" not in shown
    assert "<a" not in shown
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert shown.count(plain) == 2
    # GitHub links bare addresses too, which this renderer leaves alone.
    assert "://" not in page
    assert "www." not in page
    assert "@" not in page


def test_a_group_that_is_called_like_a_column(tmp_path: Path) -> None:
    films = [
        replace(one, prompt="the same") for one in (*items("a", mean="x"), *items("b", mean="y"))
    ]
    run = score_run(tmp_path / "run", films, {(n, "calm"): scored(0.5) for n in "ab"})
    write_tables(read_report([run], by="mean"), tmp_path / "tables", ["parquet"])
    read = pq.read_table(tmp_path / "tables" / "models.parquet")
    assert read["model"].to_pylist()[:2] == ["x", "y"]


def test_formats_that_do_not_exist(tmp_path: Path) -> None:
    run = two_systems(tmp_path / "run", count=2)
    with pytest.raises(BadOption, match="'xls'"):
        write_tables(read_report([run]), tmp_path / "t", ["xls"])


def test_nothing_to_report(tmp_path: Path) -> None:
    run = score_run(tmp_path / "empty", [], {})
    with pytest.raises(UserError, match="nothing to report"):
        read_report([run])


def test_failures_of_each_reason_are_counted(tmp_path: Path) -> None:
    films = items("a", "b", "c", "d")
    values = {
        ("a", "calm"): scored(0.5),
        ("b", "calm"): lost(Reason.REFUSED),
        ("c", "calm"): lost(Reason.REFUSED),
    }
    run = score_run(tmp_path / "run", films, values, metrics={"calm": CALM})
    (summary,) = [one for one in tables(read_report([run])) if one.name == "summary"]
    (row,) = summary.records()
    assert (row["scored"], row["total"]) == (1, 4)
    assert row["not_scored"] == "refused 2; pending 1"
