"""Manifests: what they say comes back exactly, and every fault is named with its line."""

from __future__ import annotations

import csv
import json
import os
import pickle
import string
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.core import Clip, Item, ManifestError, Script, Span, StorageError
from screentest.inputs.fields import ProblemKind
from screentest.inputs.manifest import (
    MOST,
    BadRows,
    examine_manifest,
    read_manifest,
    write_manifest,
)
from screentest.inputs.records import LONGEST_LINE
from tests.messages import names


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def problems(path: Path) -> list[tuple[int | None, str]]:
    """Return line and field of all that is wrong."""
    return [(problem.line, problem.field) for problem in examine_manifest(path).problems]


# ---- what a row means


def test_every_field_of_a_json_row(tmp_path: Path) -> None:
    row = {
        "id": "a",
        "video": "clips/a.mp4",
        "prompt": "A cat.\nIt sleeps.",
        "groups": {"model": "sora", "seed": 7},
        "script": [
            {"caption": "one", "start": 0, "end": "1001/24000"},
            {"caption": "two", "start": 0.1, "end": "0:01:30.5"},
        ],
        "references": ["cat.png", "/abs/cat.png"],
        "source": "../before.mp4",
        "instruction": "make it rain",
    }
    path = written(tmp_path, "m.jsonl", json.dumps(row))

    assert read_manifest(path) == [
        Item(
            id="a",
            video=tmp_path / "clips/a.mp4",
            prompt="A cat.\nIt sleeps.",
            script=Script(
                (
                    Clip("one", Span(Fraction(0), Fraction(1001, 24000))),
                    Clip("two", Span(Fraction(1, 10), Fraction(181, 2))),
                )
            ),
            references=(tmp_path / "cat.png", Path("/abs/cat.png")),
            source=tmp_path / "../before.mp4",
            instruction="make it rain",
            groups={"model": "sora", "seed": "7"},
        )
    ]


def test_a_csv_row_says_the_same_as_a_json_row(tmp_path: Path) -> None:
    script = [{"caption": "one, with a comma", "start": 0, "end": 2}]
    row = {"id": "a", "video": "a.mp4", "prompt": 'say "hi"', "script": script}
    lines = written(
        tmp_path, "m.jsonl", json.dumps(row | {"groups": {"model": "x"}, "references": ["r.png"]})
    )
    with (tmp_path / "m.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "video", "prompt", "script", "references", "group.model"])
        writer.writerow(["a", "a.mp4", 'say "hi"', json.dumps(script), "r.png", "x"])

    assert read_manifest(tmp_path / "m.csv") == read_manifest(lines)


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_a_script_may_lie_in_a_file_of_its_own(tmp_path: Path, form: str) -> None:
    (tmp_path / "scripts").mkdir()
    written(tmp_path, "scripts/a.json", '\ufeff[{"caption": "one"}, {"caption": "two"}]')
    content = {
        "jsonl": '{"id": "a", "video": "a.mp4", "script": "scripts/a.json"}',
        "csv": "id,video,script\na,a.mp4,scripts/a.json\n",
    }
    path = written(tmp_path, f"m.{form}", content[form])

    (item,) = read_manifest(path)
    assert item.script == Script((Clip("one"), Clip("two")))


def test_an_empty_csv_cell_is_nothing_and_an_id_may_be_a_whole_number(tmp_path: Path) -> None:
    table = written(tmp_path, "m.csv", "id,video,prompt,group.model,source\n7,a.mp4,,,\n,,,,\n")
    lines = written(tmp_path, "m.jsonl", '{"id": 7, "video": "a.mp4", "prompt": null}\n\n')

    expected = [Item("7", tmp_path / "a.mp4")]
    assert read_manifest(table) == expected
    assert read_manifest(lines) == expected


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("m.jsonl", ['{"id": "ä", "video": "a.mp4"}', '{"id": "b", "video": "b.mp4"}']),
        ("m.csv", ["id,video", "ä,a.mp4", "b,b.mp4"]),
        ("manifest", ['{"id": "ä", "video": "a.mp4"}', '{"id": "b", "video": "b.mp4"}']),
        ("manifest", ["id,video", "ä,a.mp4", "b,b.mp4"]),
    ],
)
def test_byte_order_marks_and_line_ends_change_nothing(
    tmp_path: Path, name: str, lines: list[str], bom: bytes, end: bytes, last: bool
) -> None:
    content = bom + end.join(line.encode() for line in lines) + (end if last else b"")
    path = written(tmp_path, name, content)

    assert [item.id for item in read_manifest(path)] == ["ä", "b"]


# ---- what is wrong is named, all of it, with its line


def test_all_bad_json_rows_are_listed_and_the_good_ones_kept(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "m.jsonl",
        "\n".join(
            [
                '{"id": "good", "video": "a.mp4"}',
                '{"id": "b", "video": "b.mp4", "promt": "x"}',
                "",
                '{"id": "c", "video": ',
                "[1, 2]",
                "{}",
                '{"id": "good", "video": "g.mp4"}',
                '{"id": "h", "video": "h.mp4", "id": "i"}',
                '{"id": "j", "video": "j.mp4", "prompt": NaN}',
                '{"id": "k", "video": 5, "prompt": ["x"]}',
                '{"id": "last", "video": "z.mp4"}',
            ]
        ),
    )
    reading = examine_manifest(path)

    assert [row.line for row in reading.rows] == [1, 11]
    assert problems(path) == [
        (2, "promt"),
        (4, ""),
        (5, ""),
        (6, "id"),
        (6, "video"),
        (7, "id"),
        (8, ""),
        (9, ""),
        (10, "video"),
        (10, "prompt"),
    ]
    named = ("'promt'", "character 21", "JSON", "", "", "line 1", "'id'", "NaN", "5", "list")
    assert all(map(names, reading.problems, named))
    assert "'prompt'" in reading.problems[0].advice
    assert reading.problems[5].kind is ProblemKind.DUPLICATE_ID
    with pytest.raises(BadRows) as error:
        read_manifest(path)
    assert error.value.problems == reading.problems
    assert all(str(problem) in error.value.message for problem in reading.problems)
    many = BadRows(path, reading.problems * 50)
    assert len(many.problems) == 50 * len(reading.problems) > 4 * MOST
    assert MOST < len(many.message.splitlines()) < 1.1 * MOST
    # Workers hand errors back by pickle.
    assert pickle.loads(pickle.dumps(error.value)).problems == reading.problems


def test_all_bad_csv_rows_are_listed_with_the_line_they_begin_on(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "m.csv",
        "\n".join(
            [
                "id,video,prompt,promt,script",
                'a,a.mp4,"goes over',
                'two lines",,',
                "b,b.mp4",
                ",c.mp4,,,",
                'd,d.mp4,"x"y,,',
                'e,e.mp4,,,"[{"',
                "a,f.mp4,,,",
                "g,g.mp4,,,",
            ]
        ),
    )
    reading = examine_manifest(path)

    assert [(row.line, row.item.id) for row in reading.rows] == [(2, "a"), (9, "g")]
    assert problems(path) == [(1, "promt"), (4, ""), (5, "id"), (6, ""), (7, "script"), (8, "id")]
    assert names(reading.problems[1], 2, 5)  # cells of the row, and of the first line
    assert names(reading.problems[3], "CSV")
    assert names(reading.problems[5], "line 2")
    assert reading.problems[5].kind is ProblemKind.DUPLICATE_ID
    assert "'prompt'" in reading.problems[0].advice


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": ""}, "no id"),
        ({"id": True}, "true"),
        ({"id": " a"}, "' a'"),
        ({"id": "a\nb"}, "U+000A"),
        ({"id": "a\u2028b"}, "U+2028"),
        ({"video": ""}, "no video"),
        ({"video": "a\0.mp4"}, "character"),
        ({"video": "https://example.org/a.mp4"}, "address"),
        ({"video": "\ud800.mp4"}, "character"),
        ({"prompt": "a\0b"}, "U+0000 at character 2"),
        ({"prompt": "\x1b[2J"}, "U+001B at character 1"),
        ({"prompt": "\ud800"}, "surrogate"),
        ({"prompt": 3.5}, "3.5"),
        ({"groups": ["x"]}, "a list"),
        ({"groups": {"": "x"}}, "name"),
        ({"groups": {"model": ""}}, "'model' is empty"),
        ({"groups": {"model": {}}}, "'model': is an object"),
        ({"references": 4}, "4"),
        ({"references": [""]}, "empty"),
        ({"script": {}}, "an object"),
        ({"script": []}, "no clips"),
        ({"script": ["x"]}, "clip 1 is text"),
        ({"script": [{"captoin": "x"}]}, "'captoin'"),
        ({"script": [{"caption": 1}]}, "clip 1: is the number 1"),
        ({"script": [{"start": 1}]}, "clip 1 has no end"),
        ({"script": [{"start": 1, "end": 1}]}, "clip 1 ends before"),
        ({"script": [{"start": "x", "end": 1}]}, "clip 1: 'x'"),
        ({"script": [{"start": 0, "end": "1e999999999"}]}, "clip 1: '1e999999999'"),
        ({"script": [{"start": True, "end": 1}]}, "time: is true"),
        (
            {"script": [{"start": 0, "end": 2}, {"start": 1, "end": 3}]},
            "clip 2 (0:00:01.000–0:00:03.000)",
        ),
        ({"script": [{"start": 0, "end": 2}, {"caption": "x"}]}, "every clip"),
        ({"script": "no.json"}, "no file"),
        ({"script": "."}, "no file"),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, row: dict[str, object], message: str) -> None:
    path = written(tmp_path, "m.jsonl", json.dumps({"id": "a", "video": "a.mp4"} | row))

    (problem,) = examine_manifest(path).problems
    assert (problem.line, [problem.field]) == (1, list(row))
    assert message in problem.message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("nonsense", "JSON at character 1"),
        ('{"clips": []}', "an object"),
        (b"\xff\xfe[\0]\0", "UTF-8"),
        ("[\n{]", "line 2, character 2"),
    ],
)
def test_a_wrong_script_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | bytes, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    written(Path(), "s.json", content)
    path = written(Path(), "m.jsonl", '{"id": "a", "video": "a.mp4", "script": "s.json"}')

    (problem,) = examine_manifest(path).problems
    assert problem.field == "script"
    assert message in problem.message
    assert ("'s.json'" in problem.message) == (content != '{"clips": []}')


@pytest.mark.parametrize(
    ("name", "content", "message", "advice"),
    [
        ("m.jsonl", "", "no rows", ""),
        ("m.csv", "id,video\n", "no rows", ""),
        ("m.json", '[\n{"id": "a"}]', "no video", ""),
        ("m.json", '[{"id": "a", "video": "b"}', "comma", ""),
        ("m.json", '[{"id": "a", "video": "b"},]', "wrong JSON", ""),
        ("m.jsonl", '{\n"id": "a"\n}', "several lines", "jq -c '.'"),
        ("m.csv", '{"id": "a"}\n', "'id' and no column 'video'", ".jsonl"),
        ("m.csv", "id;video\na;b\n", "no column", "semicolons"),
        ("m.csv", "id,vidoe\na,b\n", "no column 'video'", "there is 'vidoe'"),
        ("m.csv", "a,b.mp4\n", "no column 'id'", "names the columns"),
        ("m.csv", "id,video,id\n", "'id'", ""),
        ("m.csv", 'id,video\na,"b\nc,d\n', "never closed", ""),
        ("m.jsonl", "\ufeff".encode("utf-16"), "the file is UTF-16", "UTF-8"),
        ("m.mp4", b"\0\0\0\x18ftypmp42" + bytes(100), "text file", "not a video"),
        ("m.jsonl", b'{"id": "\xff", "video": "a"}', "UTF-8 at character 9", "UTF-8"),
        ("m.csv", b"id,video,prompt\na,b,caf\xe9\n", "UTF-8 at character 4", "UTF-8"),
        ("m.csv", b"id,vid\xe9o\n", "not UTF-8", "UTF-8"),
        ("m.csv", "id,video\rb,c\r", "line end", ""),
        ("m.jsonl", "[" * 100_000, "wrong JSON", ""),
        ("m.jsonl", '{"id":' * 100_000, "nested", ""),
        ("m.jsonl", '{"id": ' + "1" * 5000 + "}", "Exceeds the limit", ""),
    ],
)
def test_files_that_are_no_manifest_say_what_to_do(
    tmp_path: Path, name: str, content: str | bytes, message: str, advice: str
) -> None:
    (problem, *_) = examine_manifest(written(tmp_path, name, content)).problems

    assert message in problem.message
    assert advice in problem.advice


def test_one_nul_is_the_fault_of_its_row_alone(tmp_path: Path) -> None:
    path = written(tmp_path, "m.csv", b"id,video,prompt\na,a.mp4,x\0y\nb,b.mp4,\n")

    (problem,) = examine_manifest(path).problems
    assert (problem.line, problem.field) == (2, "prompt")
    assert "U+0000 at character 2" in problem.message
    assert [row.item.id for row in examine_manifest(path).rows] == ["b"]


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_huge_cells_are_read_and_endless_lines_are_not(
    tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = csv.field_size_limit()
    long = Item("a", tmp_path / "a.mp4", "x" * 3_000_000)
    path = tmp_path / f"m.{form}"
    write_manifest(path, [long])
    assert read_manifest(path) == [long]
    assert csv.field_size_limit() == before

    monkeypatch.setattr("screentest.inputs.records.LONGEST_LINE", 2**20)
    assert LONGEST_LINE == 64 * 2**20
    (problem,) = examine_manifest(path).problems
    assert problem.kind is ProblemKind.BAD_FILE
    assert "1 MiB" in problem.message


def test_what_is_no_file_is_said_so(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for name, message in [
        ("none.jsonl", "is not there"),
        (".", "is a folder"),
        ("pipe", "is a special file"),
        ("loop", "cannot be reached"),
    ]:
        with pytest.raises(ManifestError, match=message):
            read_manifest(tmp_path / name)


def test_videos_of_bad_rows_count_as_named(tmp_path: Path) -> None:
    path = written(tmp_path, "m.jsonl", '{"id": "a", "video": "a.mp4", "prompt": 1}')

    reading = examine_manifest(path)
    assert reading.rows == ()
    assert reading.named == {tmp_path / "a.mp4"}


# ---- writing


def test_written_paths_are_relative_to_the_manifest_where_they_lie_inside(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    path = tmp_path / "set/m.jsonl"
    write_manifest(path, [Item("a", tmp_path / "set/v/a.mp4", source=tmp_path / "b.mp4")])

    row = json.loads(path.read_text())
    assert row == {"id": "a", "video": "v/a.mp4", "source": str(tmp_path / "b.mp4")}


def test_file_names_that_are_not_utf8_travel_in_json_lines(tmp_path: Path) -> None:
    item = Item("a", tmp_path / os.fsdecode(b"caf\xe9.mp4"))
    write_manifest(tmp_path / "m.jsonl", [item])
    assert read_manifest(tmp_path / "m.jsonl") == [item]

    with pytest.raises(ManifestError, match="not UTF-8"):
        write_manifest(tmp_path / "m.csv", [item])


@pytest.mark.parametrize(
    "items",
    [
        [Item("a", Path("a.mp4")), Item("a", Path("b.mp4"))],
        [Item("a", Path("a.mp4"), prompt="\0")],
        [Item("a", Path("a.mp4"), script=Script(()))],
        [Item("a", Path("a.mp4"), groups={"model": ""})],
        [Item(" a", Path("a.mp4"))],
    ],
)
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_nothing_is_written_that_would_not_come_back(
    tmp_path: Path, items: list[Item], form: str
) -> None:
    path = written(tmp_path, f"m.{form}", "old")
    with pytest.raises(ManifestError):
        write_manifest(path, items)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be written"):
        write_manifest(tmp_path / "missing" / "m.csv", [Item("a", Path("/a.mp4"))])
    with pytest.raises(ManifestError, match=r"m\.txt"):
        write_manifest(tmp_path / "m.txt", [])


# ---- round trip


def _prints_nothing_odd(text: str) -> bool:
    return text == text.strip() and bool(text)


# Everything UTF-8 can hold except the control characters that no text of a row may have.
_any_text = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]) | st.just("\n"))
_names = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1
).filter(_prints_nothing_odd)
_letters = string.ascii_letters + " ,;\"'[]{}%$()-\n\\äß猫"
_file_names = st.text(_letters, min_size=1, max_size=12).filter(
    lambda name: name not in {".", ".."} and "/" not in name
)
_times = st.fractions(min_value=-10, max_value=20_000, max_denominator=90_000)


@st.composite
def _scripts(draw: st.DrawFn) -> Script:
    captions = draw(st.lists(_any_text, min_size=1, max_size=4))
    if draw(st.booleans()):
        return Script(tuple(Clip(caption) for caption in captions))
    count = 2 * len(captions)
    moments = sorted(draw(st.lists(_times, min_size=count, max_size=count, unique=True)))
    spans = [Span(*moments[n : n + 2]) for n in range(0, count, 2)]
    return Script(tuple(map(Clip, captions, spans)))


@st.composite
def _items(draw: st.DrawFn, folder: Path) -> list[Item]:
    paths = st.builds(lambda name: folder / name, _file_names) | st.just(Path("/else where/x.mp4"))
    return [
        Item(
            id=name,
            video=draw(paths),
            prompt=draw(_any_text),
            script=draw(st.none() | _scripts()),
            references=tuple(draw(st.lists(paths, max_size=2))),
            source=draw(st.none() | paths),
            instruction=draw(_any_text),
            groups=draw(st.dictionaries(_names, _names, max_size=3)),
        )
        for name in draw(st.lists(_names, max_size=4, unique=True))
    ]


@pytest.mark.parametrize("form", ["jsonl", "csv"])
@given(data=st.data())
def test_what_is_written_comes_back(
    tmp_path_factory: pytest.TempPathFactory, form: str, data: st.DataObject
) -> None:
    folder = tmp_path_factory.getbasetemp()
    items = data.draw(_items(folder))
    path = folder / f"round-trip.{form}"
    write_manifest(path, items)

    assert examine_manifest(path).items == items
    first = path.read_bytes()
    write_manifest(path, examine_manifest(path).items)
    assert path.read_bytes() == first


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ""])
@given(
    content=st.binary(max_size=300)
    | st.text(max_size=200).map(lambda t: t.encode("utf-8", "surrogatepass"))
)
def test_no_bytes_raise_anything_but_a_manifest_error(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / f"any{suffix}"
    path.write_bytes(content)
    reading = examine_manifest(path)
    assert reading.rows or reading.problems


def test_no_cell_of_a_written_manifest_is_a_formula(tmp_path: Path) -> None:
    odd = '=HYPERLINK("http://x","y")'
    items = [
        Item(name, tmp_path / f"{name}.mp4", odd, groups={odd: odd})
        for name in ("=1+1", "+1", "-1", "@x", "\uff1dx", "'=1", "'plain")
    ]
    path = tmp_path / "m.csv"
    write_manifest(path, items)
    with path.open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell.lstrip(" ")[:1] in "=+-@\uff1d" and cell]
    assert read_manifest(path) == items
