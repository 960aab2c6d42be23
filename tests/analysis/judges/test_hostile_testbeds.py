"""Testbeds of others: no judge sees a file that is not theirs, and each such pair is counted."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from screentest.analysis.judges.cases import read_cases
from screentest.analysis.judges.plan import Plan
from screentest.core import Reason
from screentest.judges.cases import strongest
from screentest.run import inputs as run_inputs
from screentest.run.reader import RunReader
from screentest.run.session import Settings
from screentest.testbeds.testbed import FILE, read_testbed
from screentest.testing.chat_server import FakeChatServer
from screentest.video.limits import Limits
from tests.analysis.judges.stage import answer, certified, settings

pytestmark = pytest.mark.usefixtures("clean_tools")


@pytest.fixture
def bed(testbed: Path, tmp_path: Path) -> Path:
    """A copy to harm; beside it lies a film that is nobody else's business."""
    folder = tmp_path / "bed"
    shutil.copytree(testbed, folder, ignore=shutil.ignore_patterns("run"))
    (tmp_path / "secret").mkdir()
    shutil.copyfile(folder / victim(read(folder))["intact"], tmp_path / "secret" / "private.mp4")
    return folder


def read(bed: Path) -> Any:
    return json.loads((bed / FILE).read_text())


def write(bed: Path, data: Any) -> None:
    (bed / FILE).write_text(json.dumps(data))


def victim(data: Any) -> Any:
    return next(p for p in data["pairs"] if p["name"] == "aesthetics" and p["severity"] == 1.0)


def point_to(place: Callable[[Path], str]) -> Callable[[Path], None]:
    """The changed video of the pair is listed elsewhere, all else as it is."""

    def harm(bed: Path) -> None:
        data = read(bed)
        private = bed.parent / "secret" / "private.mp4"
        # Size and hash fit: only its place tells that it is none of ours.
        digest = run_inputs.hash_file(private)
        changed = {"path": place(private), "bytes": private.stat().st_size, "sha256": digest}
        victim(data)["changed"].update(changed)
        write(bed, data)

    return harm


def link_out(bed: Path) -> None:
    path = bed / victim(read(bed))["changed"]["path"]
    path.unlink()
    path.symlink_to(bed.parent / "secret" / "private.mp4")


def link_a_folder_out(bed: Path) -> None:
    (bed / "videos" / "more").symlink_to(bed.parent / "secret", target_is_directory=True)
    point_to(lambda _: "videos/more/private.mp4")(bed)


def swap(bed: Path) -> None:
    data = read(bed)
    shutil.copyfile(bed / victim(data)["intact"], bed / victim(data)["changed"]["path"])


def flip(bed: Path) -> None:
    path = bed / victim(read(bed))["changed"]["path"]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def grow(bed: Path) -> None:
    """A sparse file of 15 TB: looking at its size is enough."""
    os.truncate(bed / victim(read(bed))["changed"]["path"], 15 << 40)


def put_a_pipe(bed: Path) -> None:
    path = bed / victim(read(bed))["changed"]["path"]
    path.unlink()
    os.mkfifo(path)


def circle(bed: Path) -> None:
    path = bed / victim(read(bed))["changed"]["path"]
    path.unlink()
    path.symlink_to(path.name)


HARMS: dict[str, tuple[Callable[[Path], None], Reason]] = {
    "dots": (point_to(lambda _: "../secret/private.mp4"), Reason.UNSAFE),
    "dots inside": (point_to(lambda _: "videos/../../secret/private.mp4"), Reason.UNSAFE),
    "absolute": (point_to(str), Reason.UNSAFE),
    "address": (point_to(lambda path: f"file://{path}"), Reason.UNSAFE),
    "device": (point_to(lambda _: "/dev/zero"), Reason.UNSAFE),
    "long": (point_to(lambda _: "x" * 5000), Reason.MISSING_FILE),
    "link": (link_out, Reason.UNSAFE),
    "folder link": (link_a_folder_out, Reason.UNSAFE),
    "swapped": (swap, Reason.WRONG_FILE),
    "one bit": (flip, Reason.WRONG_FILE),
    "sparse": (grow, Reason.WRONG_FILE),
    "pipe": (put_a_pipe, Reason.UNSAFE),
    "circle": (circle, Reason.MISSING_FILE),
}


@pytest.mark.parametrize(("harm", "reason"), HARMS.values(), ids=HARMS.keys())
def test_what_is_not_a_file_of_the_testbed_is_a_failure_of_its_pair(
    bed: Path, tmp_path: Path, harm: Callable[[Path], None], reason: Reason
) -> None:
    harm(bed)
    cases = [
        case for case in strongest(read_cases([bed], placebos=False)) if case.name == "aesthetics"
    ]
    (done,) = certified(tmp_path / "run", Plan(tuple(cases), ("contrast",))).certificates
    overall = done.overall.unwrap()
    assert overall.failures == {reason: 2}  # both orders
    assert (overall.judgements, overall.total) == (2 * len(cases) - 2, 2 * len(cases))
    with RunReader(tmp_path / "run") as run:
        names = {record.key.item for record in run.records() if not record.key.aspect}
        paths = {str(item.video) for item in run.items().values()}
    # Not even measured; and the run does not know where else a file could have been.
    assert len(names) == 2 * len(cases) - 2
    assert not [path for path in paths if "secret" in path or path.startswith("/dev")]


def test_a_video_above_the_limit_is_not_read(bed: Path, tmp_path: Path) -> None:
    cases = strongest(read_cases([bed], placebos=False))
    chosen = [case for case in cases if case.name == "aesthetics"]
    narrow = Settings(limits=Limits(file_bytes=1000))
    (done,) = certified(tmp_path / "run", Plan(tuple(chosen), ("contrast",)), narrow).certificates
    assert done.overall.failure is not None
    with RunReader(tmp_path / "run") as run:
        found = {reason for record in run.records() for reason in record.reasons}
    assert found == {Reason.TOO_LARGE}


def test_no_picture_of_it_goes_to_an_endpoint(bed: Path, tmp_path: Path) -> None:
    point_to(lambda _: "../secret/private.mp4")(bed)
    cases = strongest(read_cases([bed], placebos=False))
    chosen = [case for case in cases if case.name == "aesthetics"]
    with FakeChatServer(lambda asked: answer("first")) as server:
        plan = Plan(tuple(chosen), ("vlm_video:frames=2,long_side=64",))
        (done,) = certified(tmp_path / "run", plan, settings(server)).certificates
    overall = done.overall.unwrap()
    assert len(server.asked) == overall.judgements == overall.total - 2
    assert overall.failures == {Reason.UNSAFE: 2}


def test_a_pair_that_was_put_right_is_judged(bed: Path, tmp_path: Path) -> None:
    path = bed / victim(read(bed))["changed"]["path"]
    content = path.read_bytes()

    def certificate() -> Any:
        cases = [one for one in strongest(read_cases([bed])) if one.name == "aesthetics"]
        (done,) = certified(tmp_path / "run", Plan(tuple(cases), ("contrast",))).certificates
        return done.overall.unwrap()

    flip(bed)
    assert certificate().failures == {Reason.WRONG_FILE: 2}
    assert certificate().failures == {Reason.WRONG_FILE: 2}
    path.write_bytes(content)
    assert certificate().failures == {}
    flip(bed)
    assert certificate().failures == {Reason.WRONG_FILE: 2}


def test_a_file_is_hashed_once(bed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_files: list[Path] = []
    hash_file = run_inputs.hash_file

    def counting(path: Path, *more: Any) -> str:
        read_files.append(path)
        return hash_file(path, *more)

    for path in bed.rglob("*.mp4"):
        os.utime(path, (1, 1))
    monkeypatch.setattr(run_inputs, "hash_file", counting)
    monkeypatch.setattr(run_inputs.Stamp, "settled", property(lambda self: True))
    cases = [one for one in strongest(read_cases([bed])) if one.name == "aesthetics"]
    certified(tmp_path / "run", Plan(tuple(cases), ("contrast",)))
    assert len(read_files) == len(set(read_files)) == 2 * len(cases)
    assert len(read_testbed(bed).pairs) > len(cases)
