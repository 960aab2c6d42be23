"""Layouts of other tools, read as they are: prompts and seeds kept, what is wrong listed."""

from __future__ import annotations

import io
import json
import os
import sys
import tarfile
import tempfile
import tracemalloc
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import screentest
from screentest.core import BadOption, Item, ManifestError
from screentest.inputs.check import check_manifest
from screentest.inputs.fields import ProblemKind
from screentest.inputs.importers import examine_inputs, format_of, importer_of
from screentest.inputs.layouts import folders
from screentest.inputs.layouts.contents import LARGEST_ARCHIVE, LONGEST, NoColumn
from screentest.inputs.manifest import BadRows
from screentest.inputs.parted import Corpus
from screentest.run.store import RunStore
from tests.messages import each_names, names

CATS = ("A cat sleeps", "Two dogs run")


def files(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())


def read(path: Path, form: str | None = None) -> Corpus:
    return examine_inputs([path], form=form)


def said(corpus: Corpus, kind: ProblemKind) -> list[str]:
    return [str(one) for one in corpus.problems if one.kind is kind]


def rows(corpus: Corpus) -> list[tuple[str, str, str]]:
    return [(one.video.name, one.prompt, one.groups.get("seed", "")) for one in corpus.items]


def test_names_are_prompt_and_seed(tmp_path: Path) -> None:
    files(tmp_path, *(f"{prompt}-{seed}.mp4" for prompt in CATS for seed in range(2)))
    assert format_of(tmp_path, films=False) == "prompt_names"
    found = read(tmp_path)
    assert rows(found) == [
        ("A cat sleeps-0.mp4", "A cat sleeps", "0"),
        ("A cat sleeps-1.mp4", "A cat sleeps", "1"),
        ("Two dogs run-0.mp4", "Two dogs run", "0"),
        ("Two dogs run-1.mp4", "Two dogs run", "1"),
    ]
    assert not found.problems
    assert names(found.seen, "2 prompts", "2 videos", "0, 1", "by names")


def test_some_prompts_are_one_word_and_have_seeds_of_their_own(tmp_path: Path) -> None:
    files(tmp_path, *(f"{prompt}-{seed}.mp4" for prompt in CATS for seed in range(2)))
    files(tmp_path, "coffee-7.mp4")
    found = read(tmp_path)
    assert ("coffee-7.mp4", "coffee", "7") in rows(found)
    assert each_names(said(found, ProblemKind.MISSING), ("1 video (7)", "'coffee'", 2))
    files(tmp_path, "coffee-9.mp4", "A cow-0.mp4")
    assert each_names(said(read(tmp_path), ProblemKind.MISSING), ("video 1", "'A cow'"))


def test_names_are_checked_against_a_list_of_prompts(tmp_path: Path) -> None:
    full = [{"prompt_en": one, "dimension": ["color"]} for one in (*CATS, "A red bus?")]
    (tmp_path / "VBench_full_info.json").write_text(json.dumps(full))
    files(tmp_path, "A cat sleeps-0.mp4", "A cat sleeps-0.webm", "A cat sleeps-1.mp4")
    files(tmp_path, "a_red_bus-0.mp4", "A cow jumps-0.mp4")
    found = read(tmp_path)
    assert [one.prompt for one in found.items] == ["A cat sleeps", "A cat sleeps", "A red bus?"]
    twice = ("A cat sleeps-0.webm: ", "A cat sleeps-0.mp4")
    assert each_names(said(found, ProblemKind.DUPLICATE_VIDEO), twice)
    assert each_names(said(found, ProblemKind.UNLISTED), ("'A cow jumps-0.mp4'",))
    lost = said(found, ProblemKind.MISSING)
    assert each_names(lost, ("video 1", "'A red bus?'"), ("'Two dogs run'",))
    assert "1" not in lost[1]  # none at all, where the other prompt lacks its second


def test_a_name_that_was_cut_off_is_the_only_prompt_it_begins(tmp_path: Path) -> None:
    long = "A long road through the hills " * 5
    (tmp_path / "prompts.txt").write_text(f"{long}at dawn\n{long}at noon\n{'B' * 80} end\n")
    files(tmp_path, f"{'B' * 70}-0.mp4", f"{long.strip()}-0.mp4")
    found = read(tmp_path, "prompt_names")
    assert [one.prompt for one in found.items] == [f"{'B' * 80} end"]
    assert len(said(found, ProblemKind.UNLISTED)) == 1  # it may be either of two


@pytest.mark.parametrize(
    "names",
    [
        ("render-1.mp4", "render-2.mp4"),  # one word is a name
        ("my film-Scene-001.mp4",),  # a clip of Vript
        ("A cat sleeps-0.mp4", "notes.mp4"),
    ],
)
def test_other_names_are_plain_videos(tmp_path: Path, names: tuple[str, ...]) -> None:
    files(tmp_path, *names)
    assert format_of(tmp_path, films=False) == "videos"
    found = read(tmp_path)
    assert not any(one.prompt for one in found.items)
    assert ("`layout=prompt_names`" in found.seen) == (len({one[0] for one in names}) > 1)


def test_a_stray_file_is_surplus_and_the_layout_holds(tmp_path: Path) -> None:
    files(tmp_path, *(f"{prompt}-{seed}.mp4" for prompt in CATS for seed in range(2)), "dog.mp4")
    found = read(tmp_path)
    assert len(found.items) == 4
    assert each_names(said(found, ProblemKind.UNLISTED), ("'dog.mp4'", "PROMPT-SEED"))
    (tmp_path / "prompts.txt").write_text("\n".join([*CATS, "dog"]))
    found = read(tmp_path)
    assert len(found.items) == 4
    assert each_names(said(found, ProblemKind.MISSING), ("'dog'",))


def test_prompts_that_were_not_read_are_a_problem(tmp_path: Path) -> None:
    files(tmp_path, "one.mp4", "two.mp4")
    assert not read(tmp_path).problems
    (tmp_path / "prompts.txt").write_text("A cat\nA dog\n")
    assert each_names(said(read(tmp_path), ProblemKind.NO_PROMPT), ("prompts.txt",))
    (tmp_path / "prompts.txt").unlink()
    (tmp_path / "metadata.csv").write_text("video,prompt\none.mp4,A cat\ntwo.mp4,\n")
    assert each_names(said(read(tmp_path), ProblemKind.NO_PROMPT), (1, "2 rows"))


TABLES = {
    "metadata.csv": "video,prompt,fps\na.mp4,A cat,8\nsub/b.mp4,Two dogs,8\n",
    "metadata.jsonl": '{"file_name": "a.mp4", "text": "A cat"}\n'
    '{"file_name": "sub/b.mp4", "text": "Two dogs"}\n',
    "metadata.json": json.dumps(
        [{"video": "a.mp4", "prompt": "A cat"}, {"video": "sub/b.mp4", "prompt": "Two dogs"}]
    ),
    "rows.json": json.dumps(
        {
            "data": [
                {"video_path": "a.mp4", "caption": "A cat"},
                {"video_path": "sub/b.mp4", "caption": "Two dogs"},
            ]
        }
    ),
    "names.json": json.dumps({"a.mp4": "A cat", "sub/b.mp4": "Two dogs"}),
}


@pytest.mark.parametrize("name", [*TABLES, "metadata.parquet"])
def test_tables_of_videos_and_prompts(tmp_path: Path, name: str) -> None:
    files(tmp_path, "a.mp4", "sub/b.mp4", "sub/c.mp4")
    if name.endswith(".parquet"):
        columns = {"file_name": ["a.mp4", "sub/b.mp4"], "caption": ["A cat", "Two dogs"]}
        parquet.write_table(pyarrow.table({**columns, "video": [b"1", b"2"]}), tmp_path / name)
    else:
        (tmp_path / name).write_text(TABLES[name])
    for path in [tmp_path / name, *([tmp_path] if name.startswith("metadata") else [])]:
        assert format_of(path, films=False) == "metadata"
        found = read(path)
        assert [(one.id, one.prompt) for one in found.items] == [
            ("a.mp4", "A cat"),
            ("sub/b.mp4", "Two dogs"),
        ]
        assert each_names(said(found, ProblemKind.UNLISTED), ("'sub/c.mp4'",))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("captions.csv", "file_name,text\na.mp4,A cat\nb.mp4,Two dogs\n"),
        ("list.json", '[{"video":"a.mp4","prompt":"A cat"},{"video":"b.mp4","prompt":"Two dogs"}]'),
    ],
)
def test_the_only_table_of_a_folder_is_read_under_any_name(
    tmp_path: Path, name: str, content: str
) -> None:
    files(tmp_path, "a.mp4", "b.mp4")
    (tmp_path / "results.csv").write_text("video,score\na.mp4,3\n")
    (tmp_path / name).write_text(content)
    found = read(tmp_path)
    assert [one.prompt for one in found.items] == ["A cat", "Two dogs"]
    assert f"layout: metadata; {name}" in found.seen
    (tmp_path / f"other {name}").write_text(content)  # which of two is not guessed
    found = read(tmp_path)
    assert not any(one.prompt for one in found.items)
    assert f"other {name}" in found.seen
    assert f"{name}, " in found.seen or f", {name}" in found.seen


def test_a_misspelt_column_is_suggested(tmp_path: Path) -> None:
    files(tmp_path, "a.mp4", "b.mp4")
    (tmp_path / "captions.csv").write_text("vidoe,prompt\na.mp4,A cat\n")
    (lost,) = said(read(tmp_path), ProblemKind.NO_PROMPT)
    assert names(lost, "captions.csv", "'vidoe'", "'video'")
    (tmp_path / "captions.csv").unlink()
    (tmp_path / "metadata.csv").write_text("video,promt\na.mp4,A cat\n")
    (lost,) = said(read(tmp_path), ProblemKind.NO_PROMPT)
    assert names(lost, "metadata.csv", "'promt'", "'prompt'")
    assert not check_manifest(tmp_path).ok
    with pytest.raises(NoColumn) as error:
        read(tmp_path, "metadata:video=file")
    assert names(error.value.advice, "for file;", "'video', 'promt'")
    (tmp_path / "metadata.json").write_text('[{"video": "a.mp4"}, {"vidio": "b.mp4"}]')
    (tmp_path / "metadata.csv").unlink()
    with pytest.raises(BadRows) as wrong:
        read(tmp_path)
    (problem,) = wrong.value.problems
    assert problem.row == 2
    assert names(problem.advice, "'vidio'", "'video'")


def test_the_only_manifest_in_a_folder_is_read(tmp_path: Path) -> None:
    files(tmp_path, "a.mp4", "b.mp4")
    row = '{"id": "x0", "video": "a.mp4", "prompt": "A cat"}'
    (tmp_path / "list.json").write_text(f"[{row}]")
    found = read(tmp_path)
    assert [(one.id, one.text) for one in found.items] == [("x0", "A cat")]
    assert each_names(said(found, ProblemKind.UNLISTED), ("'b.mp4'",))
    assert "the rows of list.json" in found.seen
    assert [one.kind for one in check_manifest(tmp_path).reading.problems] == [ProblemKind.UNLISTED]
    (tmp_path / "films.jsonl").write_text(row)
    assert names(read(tmp_path).seen, "films.jsonl", "manifest")


def test_a_prompt_is_text(tmp_path: Path) -> None:
    files(tmp_path, "a.mp4")
    (tmp_path / "list.json").write_text('[{"video": "a.mp4", "prompt": 5}]')
    with pytest.raises(ManifestError, match=r"prompt.*'5'"):
        read(tmp_path)


def test_groups_of_a_table_and_a_video_twice(tmp_path: Path) -> None:
    files(tmp_path, "a.mp4", "b.mp4")
    lines = ["video,prompt,seed,model,group.kind", "a.mp4,A cat,3,x,fur", "b.mp4,A cat,4,x,fur"]
    (tmp_path / "metadata.csv").write_text("\n".join([*lines, "./a.mp4,A cat,5,x,fur"]))
    found = read(tmp_path)
    assert [dict(one.groups) for one in found.items] == [
        {"seed": "3", "model": "x", "kind": "fur"},
        {"seed": "4", "model": "x", "kind": "fur"},
    ]
    assert each_names(said(found, ProblemKind.DUPLICATE_VIDEO), ("./a.mp4: ", " a.mp4"))


def test_a_json_array_of_items_is_a_manifest(tmp_path: Path) -> None:
    items = [{"id": "one", "video": "a.mp4", "prompt": "A cat", "groups": {"model": "x"}}]
    path = tmp_path / "m.json"
    path.write_text(json.dumps(items, indent=1))
    assert format_of(path, films=False) == "manifest"
    (item,) = read(path).items
    assert item == Item("one", tmp_path / "a.mp4", "A cat", groups={"model": "x"})
    path.write_text('[\n{"id": "a", "video": "a.mp4"},\n{"id": "b", "vidoe": "b.mp4"}\n]')
    with pytest.raises(BadRows) as wrong:
        read(path)
    problem = wrong.value.problems[0]
    assert (problem.row, problem.id, problem.field) == (2, "b", "vidoe")
    # On one line, rows are told apart all the same.
    path.write_text('[{"id": "a", "video": "a.mp4"}, {"id": "a", "video": "b.mp4"}]')
    with pytest.raises(BadRows, match="row 1") as wrong:
        read(path)
    (problem,) = wrong.value.problems
    assert (problem.kind, problem.row, problem.id) == (ProblemKind.DUPLICATE_ID, 2, "a")


def test_videos2caption(tmp_path: Path) -> None:
    files(tmp_path, "videos/a.mp4", "videos/b.mp4")
    content = [{"path": "a.mp4", "cap": ["A cat", "A pet"], "fps": 8}]
    (tmp_path / "videos2caption.json").write_text(json.dumps(content))
    found = read(tmp_path)
    assert [(one.video, one.prompt) for one in found.items] == [
        (tmp_path / "videos/a.mp4", "A cat")
    ]
    assert each_names(said(found, ProblemKind.UNLISTED), ("'b.mp4'",))


def test_two_lists(tmp_path: Path) -> None:
    files(tmp_path, "videos/1.mp4", "videos/2.mp4")
    (tmp_path / "prompts.txt").write_text("A cat\nTwo dogs\n")
    (tmp_path / "videos.txt").write_text("videos/1.mp4\nvideos/2.mp4\n")
    assert format_of(tmp_path, films=False) == "lists"
    assert [one.prompt for one in read(tmp_path).items] == ["A cat", "Two dogs"]
    (tmp_path / "videos.txt").write_text("videos/1.mp4\n")
    with pytest.raises(ManifestError, match=r"prompts\.txt.* 2 .*videos\.txt.* 1\b"):
        read(tmp_path)


@pytest.mark.parametrize("name", ["prompts.txt", "prompts.csv", "prompts.parquet", "prompts.json"])
def test_numbers_in_the_order_of_a_list(tmp_path: Path, name: str) -> None:
    files(tmp_path, "0001.mp4", "0003.mp4", "3.mp4", "0004.mp4")
    prompts = ["A cat", "Two dogs", "A bus", "A cow"]
    if name.endswith(".txt"):
        (tmp_path / name).write_text("\n".join(prompts))
    elif name.endswith(".csv"):
        (tmp_path / name).write_text("\n".join(["index,prompt", *map("0,{}".format, prompts)]))
    elif name.endswith(".json"):
        (tmp_path / name).write_text(json.dumps(prompts))
    else:
        parquet.write_table(pyarrow.table({"caption": prompts}), tmp_path / name)
    found = read(tmp_path)
    assert [(one.video.name, one.prompt) for one in found.items] == [
        ("0001.mp4", "A cat"),
        ("0003.mp4", "A bus"),
        ("0004.mp4", "A cow"),
    ]
    assert each_names(said(found, ProblemKind.MISSING), ("prompt 2", "'Two dogs'"))
    assert each_names(said(found, ProblemKind.DUPLICATE_VIDEO), ("3.mp4: ", " 0003.mp4"))


@pytest.mark.parametrize("head", ["video,prompt", "file_name,text", "id,video,prompt"])
def test_a_list_of_prompts_that_names_its_videos_goes_by_names(tmp_path: Path, head: str) -> None:
    """Not by the order of its rows."""
    files(tmp_path, "clip0.mp4", "clip1.mp4")
    rows_ = ["clip1.mp4,Two dogs", "clip0.mp4,A cat"]
    mark = "x" if head.startswith("id") else ""
    table = [head, *(f"{mark}{place},{row}" if mark else row for place, row in enumerate(rows_))]
    (tmp_path / "prompts.csv").write_text("\n".join(table))
    found = read(tmp_path)
    assert {one.video.name: one.prompt for one in found.items} == {
        "clip0.mp4": "A cat",
        "clip1.mp4": "Two dogs",
    }


def test_numbers_with_seeds_from_zero(tmp_path: Path) -> None:
    files(tmp_path, "0_0.mp4", "0_1.mp4", "1_0.mp4", "2_0.mp4")
    (tmp_path / "prompts.txt").write_text("A cat\nTwo dogs")
    found = read(tmp_path)
    assert rows(found) == [
        ("0_0.mp4", "A cat", "0"),
        ("0_1.mp4", "A cat", "1"),
        ("1_0.mp4", "Two dogs", "0"),
    ]
    assert each_names(said(found, ProblemKind.UNLISTED), ("'2_0.mp4'", "prompts.txt", " 2"))
    assert each_names(said(found, ProblemKind.MISSING), ("video 1", "prompt 1", "'Two dogs'"))


NO_LINE_ENDS = ("\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e")
"""Where ``str.splitlines`` ends a line, and no editor does."""


@given(
    st.lists(st.text(st.sampled_from((*"a b,'", *NO_LINE_ENDS))), min_size=1, max_size=4),
    st.sampled_from(["prompts.txt", "prompts.csv", "prompts.jsonl"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_prompts_keep_their_places(texts: list[str], name: str, end: str) -> None:
    """Each prompt is the one that was written for its video, whatever is inside of it."""
    prompts = [f"{number}{text}." for number, text in enumerate(texts)]
    written = {
        "prompts.txt": end.join(prompts),
        "prompts.csv": end.join(["prompt", *(f'"{prompt}"' for prompt in prompts)]),
        "prompts.jsonl": "\n".join(
            json.dumps({"prompt": prompt}, ensure_ascii=False) for prompt in prompts
        ),
    }[name]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        files(folder, *(f"{number:04}.mp4" for number in range(len(prompts))))
        (folder / name).write_bytes(written.encode())
        found = read(folder, "numbered:first=0")
        assert [one.prompt for one in found.items] == prompts
        assert not found.problems


@pytest.mark.parametrize("inside", NO_LINE_ENDS)
def test_a_table_of_two_columns_ends_its_rows_at_line_ends(tmp_path: Path, inside: str) -> None:
    files(tmp_path, "a.mp4", "b.mp4")
    text = f"video,prompt\r\na.mp4,A car{inside}drives\r\nb.mp4,Rain\r\n"
    (tmp_path / "metadata.csv").write_bytes(text.encode())
    assert [one.prompt for one in read(tmp_path).items] == [f"A car{inside}drives", "Rain"]


def test_where_counting_begins_is_not_guessed(tmp_path: Path) -> None:
    files(tmp_path, "1.mp4", "2.mp4")
    (tmp_path / "prompts.txt").write_text("A cat\nTwo dogs\nA bus")
    with pytest.raises(BadOption, match="0 or 1"):
        read(tmp_path)
    found = read(tmp_path, "numbered:first=0")
    assert [one.prompt for one in found.items] == ["Two dogs", "A bus"]


def archive(path: Path, members: dict[str, bytes]) -> None:
    with tarfile.open(path, "w") as file:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            file.addfile(member, io.BytesIO(content))


def test_an_archive_is_unpacked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCREENTEST_CACHE", str(tmp_path / "cache"))
    shards = tmp_path / "shards"
    shards.mkdir()
    members = {"a.mp4": b"one", "a.txt": b"A cat\n", "b.mp4": b"two", "c.txt": b"lost"}
    archive(shards / "0.tar", {**members, "../../up.mp4": b"up", "b.json": b'{"caption": "B"}'})
    found = read(shards)
    texts = {one.id: (one.video.read_bytes(), one.prompt) for one in found.items}
    assert texts == {"a": (b"one", "A cat"), "b": (b"two", "B"), "../../up": (b"up", "")}
    assert each_names(said(found, ProblemKind.MISSING), ("0.tar", "'c'"))
    assert all(one.video.is_relative_to(tmp_path / "cache") for one in found.items)
    before = {one.video: one.video.stat().st_mtime_ns for one in found.items}
    assert {one.video: one.video.stat().st_mtime_ns for one in read(shards).items} == before


def test_another_archive_of_the_same_name_size_and_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As ``cp -p`` and ``rsync -t`` leave it: what is read is what is in it now."""
    monkeypatch.setenv("SCREENTEST_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "x.tar"
    for content in (b"one", b"two"):
        archive(path, {"a.mp4": content, "a.txt": b"A cat"})
        os.utime(path, (1_000_000_000, 1_000_000_000))
        assert [one.video.read_bytes() for one in read(path).items] == [content]


def sparse_archive(path: Path, claimed: int, *, alone: bool = False) -> None:
    """One member of 4 bytes that claims to stand for more, as PAX archives write it."""
    member = tarfile.TarInfo("a.mp4")
    member.size = 4
    member.pax_headers = {
        "GNU.sparse.map": f"{claimed - 4},4",
        "GNU.sparse.size": str(claimed),
        "GNU.sparse.numblocks": "1",
    }
    plain = tarfile.TarInfo("b.mp4")
    plain.size = 3
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as file:
        file.addfile(member, io.BytesIO(b"film"))
        if not alone:
            file.addfile(plain, io.BytesIO(b"two"))


def test_an_archive_of_sparse_members_alone_says_so(tmp_path: Path) -> None:
    sparse_archive(tmp_path / "x.tar", 3 * 2**30, alone=True)
    with pytest.raises(ManifestError, match=r"'a\.mp4'.* sparse"):
        read(tmp_path / "x.tar")


def test_a_sparse_member_costs_itself_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCREENTEST_CACHE", str(tmp_path / "cache"))
    sparse_archive(tmp_path / "x.tar", 64 * 2**20)
    found = read(tmp_path / "x.tar")
    assert [one.id for one in found.items] == ["b"]
    assert each_names(said(found, ProblemKind.UNREADABLE), ("a: ", "x.tar", "'a.mp4'", "sparse"))
    (cached,) = (tmp_path / "cache" / "webdataset").glob("*/*")
    assert cached.read_bytes() == b"two"


@pytest.mark.parametrize("packed", ["gz", "bz2", "xz"])
def test_a_compressed_archive_is_not_unpacked(tmp_path: Path, packed: str) -> None:
    """A few kilobytes of it can hold gigabytes."""
    with tarfile.open(tmp_path / "x.tar", f"w:{packed}") as file:  # type: ignore[call-overload]
        member = tarfile.TarInfo("a.mp4")
        member.size = 3
        file.addfile(member, io.BytesIO(b"one"))
    with pytest.raises(ManifestError, match=r"plain \.tar files"):
        read(tmp_path / "x.tar")


def test_what_is_unpacked_has_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same that files have, and all together that of the cache: what is old makes room."""
    cache = tmp_path / "cache"
    monkeypatch.setenv("SCREENTEST_CACHE", str(cache))

    def unpack(name: str, *, largest: int = 10**6, total: int = 1500) -> None:
        path = tmp_path / f"{name}.tar"
        archive(path, {f"{name}.mp4": name.encode() * 1000})
        context = copy_context()
        context.run(LARGEST_ARCHIVE.set, largest)
        monkeypatch.setattr(folders, "MOST_UNPACKED", total)
        context.run(read, path)

    def kept() -> list[bytes]:
        return sorted(path.read_bytes()[:1] for path in cache.glob("webdataset/*/*"))

    with pytest.raises(ManifestError, match="larger than `max_file_size`"):
        unpack("a", largest=5000)  # a tar is padded to 10 KiB
    unpack("a")
    with pytest.raises(ManifestError, match="would take 2,000 bytes"):
        unpack("b")
    assert kept() == [b"a"]
    for folder in (cache / "webdataset").iterdir():
        os.utime(folder, (1_000_000_000, 1_000_000_000))
    unpack("b")
    assert kept() == [b"b"]
    with pytest.raises(ManifestError, match="larger than"):
        screentest.score(tmp_path / "a.tar", metrics="contrast", max_file_size=5e-6)
    unpack("a", total=2000)
    assert kept() == [b"a", b"b"]


def test_a_large_video_is_unpacked_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCREENTEST_CACHE", str(tmp_path / "cache"))
    archive(tmp_path / "x.tar", {"a.mp4": bytes(32 * 2**20)})
    tracemalloc.start()
    try:
        (item,) = read(tmp_path / "x.tar").items
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert item.video.stat().st_size == 32 * 2**20
    assert most < 8 * 2**20


@pytest.mark.parametrize(
    ("text", "why"),
    [(b"[" * 200_000, "nested too deep"), (b"1" * 9999, "wrong JSON"), (b'{"a"', "wrong JSON")],
)
def test_a_broken_prompt_in_an_archive_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: bytes, why: str
) -> None:
    monkeypatch.setenv("SCREENTEST_CACHE", str(tmp_path / "cache"))
    archive(tmp_path / "x.tar", {"a.mp4": b"one", "a.json": text, "b.mp4": b"two", "b.txt": b"B"})
    found = read(tmp_path / "x.tar")
    assert [(one.id, one.prompt) for one in found.items] == [("a", ""), ("b", "B")]
    (problem,) = said(found, ProblemKind.NO_PROMPT)
    assert "'a.json'" in problem
    assert why in problem


HEADER = 512
"""Bytes of a member's header; the first is that of the video."""


@given(st.lists(st.tuples(st.integers(0, 2 * HEADER - 1), st.integers(0, 255)), max_size=6))
def test_a_damaged_archive_raises_nothing_of_its_own(changes: list[tuple[int, int]]) -> None:
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCREENTEST_CACHE", f"{place}/cache")
        path = Path(place, "x.tar")
        archive(path, {"a.mp4": b"one", "a.txt": b"A cat", "b.mp4": b"two"})
        content = bytearray(path.read_bytes())
        for offset, byte in changes:
            content[offset] = byte
        header = content[:HEADER]
        header[148:156] = b" " * 8  # the checksum is of the header without it
        content[148:156] = f"{sum(header):06o}\0 ".encode()
        path.write_bytes(content)
        with suppress(ManifestError):
            read(path)


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux")
@pytest.mark.parametrize(
    ("names", "form", "kept"),
    [
        (["A cat sleeps-0.mp4", "A dog runs-0.mp4", "Caf\udce9 noir-0.mp4"], None, 2),
        (["0.mp4", "1.mp4", "caf\udce9.mp4"], "numbered:first=0", 2),
        (["one/a.mp4", "two/a.mp4", "caf\udce9/a.mp4"], None, 3),
        (["a.mp4", "caf\udce9.mp4"], None, 2),
    ],
)
def test_a_name_that_is_not_utf_8_costs_one_clip_at_most(
    tmp_path: Path, names: list[str], form: str | None, kept: int
) -> None:
    videos = tmp_path / "videos"
    files(videos, *(name for name in names if name.isascii()))
    for name in set(names) - {name for name in names if name.isascii()}:
        (videos / name).parent.mkdir(exist_ok=True)
        (videos / name).write_bytes(b"video")
    if form is not None:
        (videos / "prompts.txt").write_text("A cat\nA dog\n")
    found = read(videos, form)
    assert len(found.items) == kept
    left = said(found, ProblemKind.UNLISTED)
    assert len(left) == len(names) - kept
    with RunStore(tmp_path / "run", command="score") as store:
        store.keep_items(found.items)  # as text
        store.keep_note("problems", left)


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    files(tmp_path, *(f"{folder}/c.mp4" for folder in ("a/x/v", "b/x/v", "b/y/w")), "b/y/w/d.mp4")
    folders = [tmp_path / "a/x/v", tmp_path / "b/x/v", tmp_path / "b/y/w"]
    found = examine_inputs(folders)
    assert [one.id for one in found.items] == ["a/x/v/c.mp4", "b/x/v/c.mp4", "w/c.mp4", "d.mp4"]


def test_a_broken_archive_says_so(tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_bytes(b"not a tar")
    with pytest.raises(ManifestError, match="cannot be unpacked"):
        read(tmp_path / "x.tar")


def test_a_folder_for_each_model(tmp_path: Path) -> None:
    files(tmp_path, "step100/A cat sleeps-0.mp4", "step100/Two dogs run-0.mp4")
    files(tmp_path, "step200/A cat sleeps-0.mp4")
    found = read(tmp_path)
    assert [(one.id, one.groups["model"], one.prompt) for one in found.items] == [
        ("step100/A cat sleeps-0.mp4", "step100", "A cat sleeps"),
        ("step100/Two dogs run-0.mp4", "step100", "Two dogs run"),
        ("step200/A cat sleeps-0.mp4", "step200", "A cat sleeps"),
    ]
    assert each_names(said(found, ProblemKind.MISSING), ("step200: ", "'Two dogs run'"))


def test_models_share_the_list_of_prompts_above_them(tmp_path: Path) -> None:
    files(tmp_path, *(f"{model}/{number}.mp4" for model in "ab" for number in range(2)))
    (tmp_path / "prompts.txt").write_text("A cat\nTwo dogs")
    found = read(tmp_path)
    assert [one.prompt for one in found.items] == ["A cat", "Two dogs"] * 2
    assert not found.problems


@pytest.mark.parametrize("name", ["prompts.json", "prompts_sample.json"])
def test_one_model_with_prompts_as_etva_released_them(tmp_path: Path, name: str) -> None:
    """JSON lines in a file called .json, and videos counted from 0 in the folder of one model."""
    files(tmp_path, "kling/0.mp4", "kling/1.mp4")
    rows = ({"number": n, "prompt": text} for n, text in enumerate(("A cat", "Two dogs")))
    (tmp_path / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    found = read(tmp_path)
    assert [(one.id, one.groups["model"], one.prompt) for one in found.items] == [
        ("kling/0.mp4", "kling", "A cat"),
        ("kling/1.mp4", "kling", "Two dogs"),
    ]
    assert not found.problems


def test_what_is_not_recognised_is_named_with_what_was_seen(tmp_path: Path) -> None:
    files(tmp_path, "x/readme.md", "notes.json", "notes2.json")
    with pytest.raises(BadOption, match=r"2 \.json, 1 folder\b") as error:
        read(tmp_path)
    assert "`layout=NAME`" in error.value.advice
    assert "prompt_names" in error.value.advice
    (tmp_path / "m.json").write_text('{"a": 1}')
    with pytest.raises(BadOption, match="is not a video"):
        read(tmp_path / "m.json")


def test_plain_videos_beside_a_list_say_that_it_was_not_read(tmp_path: Path) -> None:
    files(tmp_path, "cat.mp4", "dog.mp4", "prompts.txt")
    found = read(tmp_path)
    assert len(found.items) == 2
    assert "prompts.txt not read" in found.seen


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("metadata.csv", "video,prompt\na.mp4\n", r"line 2: 1 cell\b.* 2\n"),
        ("metadata.csv", b"video,prompt\na.mp4,\xff\n", "not UTF-8"),
        ("metadata.jsonl", '{"video": "a"}\n{"video"\n', "line 2: wrong JSON"),
        ("metadata.csv", "video,prompt\n", "names no video"),
    ],
)
def test_a_table_that_is_wrong_says_where(
    tmp_path: Path, name: str, content: str | bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ManifestError, match=words):
        read(tmp_path)


def test_a_list_of_gigabytes_is_not_read(tmp_path: Path) -> None:
    files(tmp_path, "0000.mp4", "prompts.txt")
    os.truncate(tmp_path / "prompts.txt", LONGEST + 1)  # a hole, so it takes no room
    with pytest.raises(ManifestError, match="larger than"):
        read(tmp_path)


def test_validate_checks_a_layout(tmp_path: Path) -> None:
    files(tmp_path, "c.mp4")
    (tmp_path / "c.mp4").write_bytes(b"")
    (tmp_path / "metadata.csv").write_text("video,prompt\na.mp4,A cat\n")
    found = check_manifest(tmp_path)
    assert found.reading.layout == "metadata"
    assert {one.kind for one in found.problems} == {ProblemKind.MISSING, ProblemKind.UNLISTED}
    assert [one.kind for one in check_manifest(tmp_path, partial=True).problems] == [
        ProblemKind.MISSING
    ]


def test_a_layout_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="unknown layout 'prompt_name'") as error:
        importer_of(tmp_path, "prompt_name:prompts=x")
    assert error.value.advice == "Did you mean 'prompt_names'?"
    with pytest.raises(BadOption, match="has no option 'promts'") as error:
        importer_of(tmp_path, "prompt_names:promts=x")
    assert "prompts" in error.value.advice
