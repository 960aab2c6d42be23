"""Taking files out of packages: what is asked for, and nothing that an archive plays at."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from screentest.models.weights.archives import BadArchive, is_archive, take

DATA = b"weights" * 100
Member = tuple[str, bytes]


def make_zip(path: Path, members: list[Member]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in members:
            package.writestr(name, data)
    return path


def make_tar(path: Path, members: list[Member]) -> Path:
    with tarfile.open(path, "w:gz") as package:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            package.addfile(info, io.BytesIO(data))
    return path


@pytest.fixture(params=[make_zip, make_tar], ids=["zip", "tar"])
def make(request: pytest.FixtureRequest) -> Callable[[Path, list[Member]], Path]:
    """Each test runs on a wheel and on an npm package."""
    made: Callable[[Path, list[Member]], Path] = request.param
    return made


def taken(archive: Path, name: str, place: Path, *, largest: int = 10_000) -> Path:
    take(archive, {name: (largest, place)}, limit=10_000_000)
    return place


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_duplicates_are_refused(tmp_path: Path, make: Callable[[Path, list[Member]], Path]) -> None:
    archive = make(tmp_path / "a", [("model.bin", DATA), ("model.bin", b"other")])

    with pytest.raises(BadArchive, match="more than once"):
        taken(archive, "model.bin", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_member_is_copied_and_its_neighbours_are_not(
    tmp_path: Path, make: Callable[[Path, list[Member]], Path]
) -> None:
    folder = tmp_path / "deep" / "er"
    folder.mkdir(parents=True)
    archive = make(
        folder / "a",
        [("../../evil", b"slipped"), ("/abs", b"x"), ("a/model.bin", DATA), ("b/model.bin", b"y")],
    )
    assert is_archive(archive)
    assert taken(archive, "a/model.bin", folder / "out").read_bytes() == DATA
    assert not (tmp_path / "evil").exists()
    assert {path.name for path in folder.iterdir()} == {"a", "out"}


def test_a_member_with_a_climbing_name_lands_where_we_say(
    tmp_path: Path, make: Callable[[Path, list[Member]], Path]
) -> None:
    archive = make(tmp_path / "a", [("../model.bin", DATA)])

    assert taken(archive, "../model.bin", tmp_path / "out").read_bytes() == DATA
    assert not (tmp_path.parent / "model.bin").exists()


def test_a_missing_member_is_named(
    tmp_path: Path, make: Callable[[Path, list[Member]], Path]
) -> None:
    with pytest.raises(BadArchive, match=r"no model\.bin"):
        taken(make(tmp_path / "a", [("other", b"")]), "model.bin", tmp_path / "out")


def test_a_member_larger_than_it_should_be_is_refused(
    tmp_path: Path, make: Callable[[Path, list[Member]], Path]
) -> None:
    archive = make(tmp_path / "a", [("model.bin", DATA)])

    with pytest.raises(BadArchive, match="should have 699"):
        taken(archive, "model.bin", tmp_path / "out", largest=len(DATA) - 1)
    assert not (tmp_path / "out").exists()


def test_a_cut_archive_is_damaged_and_leaves_nothing(
    tmp_path: Path, make: Callable[[Path, list[Member]], Path]
) -> None:
    import random

    noise = random.Random(0).randbytes(100_000)
    whole = make(tmp_path / "whole", [("model.bin", noise)]).read_bytes()
    for share in (0.02, 0.5, 0.9, 0.999):
        archive = tmp_path / "cut"
        archive.write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(BadArchive):
            taken(archive, "model.bin", tmp_path / "out", largest=200_000)
        assert not (tmp_path / "out").exists()


def test_flipped_bytes_are_noticed(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a", [("model.bin", DATA)])
    content = bytearray(archive.read_bytes())
    content[50] ^= 0xFF
    archive.write_bytes(content)

    with pytest.raises(BadArchive):
        taken(archive, "model.bin", tmp_path / "out")


@pytest.mark.parametrize(
    "kind",
    [
        *(tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE),
        *(tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.DIRTYPE),
    ],
)
def test_links_pipes_and_devices_in_a_tar_are_refused(tmp_path: Path, kind: bytes) -> None:
    (tmp_path / "secret").write_text("not for you")
    with tarfile.open(tmp_path / "a", "w:gz") as package:
        info = tarfile.TarInfo("model.bin")
        info.type, info.linkname = kind, str(tmp_path / "secret")
        package.addfile(info)

    with pytest.raises(BadArchive, match="not a plain file"):
        taken(tmp_path / "a", "model.bin", tmp_path / "out")


def test_links_in_a_zip_are_refused(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("model.bin")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a", "w") as package:
        package.writestr(info, "/etc/hostname")

    with pytest.raises(BadArchive, match="not a plain file"):
        taken(tmp_path / "a", "model.bin", tmp_path / "out")


def test_encrypted_members_are_refused(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a", [("model.bin", DATA)])
    content = bytearray(archive.read_bytes())
    at = content.rindex(b"PK\x01\x02")  # the flag stands in the directory at the end
    content[at + 8] |= 1
    archive.write_bytes(content)

    with pytest.raises(BadArchive, match="encrypted"):
        taken(archive, "model.bin", tmp_path / "out")


def test_a_zip_that_lies_about_sizes_is_stopped(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a", [("model.bin", bytes(1_000_000))])
    content = bytearray(archive.read_bytes())
    at = content.rindex(b"PK\x01\x02")
    content[at + 24 : at + 28] = (700).to_bytes(4, "little")
    archive.write_bytes(content)

    with pytest.raises(BadArchive):
        taken(archive, "model.bin", tmp_path / "out", largest=700)
    assert not (tmp_path / "out").exists()


def test_a_zip_whose_list_is_before_its_start_is_damaged(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a", [("model.bin", DATA)])
    content = bytearray(archive.read_bytes())
    at = content.rindex(b"PK\x05\x06")
    content[at + 16 : at + 20] = b"\xff\xff\xff\x7f"
    archive.write_bytes(content)
    with pytest.raises(BadArchive, match="damaged"):
        taken(archive, "model.bin", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_bomb_beside_the_wanted_file_is_stopped(tmp_path: Path) -> None:
    # 200 MB of zeros in 200 kB, before the file that is wanted.
    info = tarfile.TarInfo("bomb")
    info.size = 200_000_000
    with gzip.open(tmp_path / "a", "wb") as packed:
        packed.write(info.tobuf())
        for _ in range(200):
            packed.write(bytes(1_000_000))
    assert (tmp_path / "a").stat().st_size < 300_000

    with pytest.raises(BadArchive, match="more than it should"):
        taken(tmp_path / "a", "model.bin", tmp_path / "out")


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_a_header_of_gigabytes_is_not_read(tmp_path: Path, kind: bytes) -> None:
    info = tarfile.TarInfo("long")
    info.type, info.size = kind, 4 << 30
    with gzip.open(tmp_path / "a", "wb") as packed:
        packed.write(info.tobuf(tarfile.GNU_FORMAT))
        packed.write(bytes(10_000))

    with pytest.raises(BadArchive, match="header"):
        take(tmp_path / "a", {"model.bin": (10_000, tmp_path / "out")}, limit=8 << 30)


def test_a_sparse_member_of_terabytes_is_refused(tmp_path: Path) -> None:
    """A few bytes that say: the rest is zeros."""
    info = tarfile.TarInfo("model.bin")
    info.type, info.size = tarfile.GNUTYPE_SPARSE, 0
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[483:495] = b"%011o\0" % (8**11 - 1)  # its real size: 8 GB
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    with gzip.open(tmp_path / "a", "wb") as packed:
        packed.write(bytes(header) + bytes(1024))

    with pytest.raises(BadArchive, match="should have"):
        taken(tmp_path / "a", "model.bin", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_tar_of_very_many_members_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("screentest.models.weights.archives._MOST_MEMBERS", 1000)
    with gzip.open(tmp_path / "a", "wb", compresslevel=1) as packed:
        packed.write(tarfile.TarInfo("x").tobuf() * 1100)

    with pytest.raises(BadArchive, match="more than 1,000 members"):
        take(tmp_path / "a", {"model.bin": (10_000, tmp_path / "out")}, limit=1 << 30)


def test_a_zip_of_very_many_members_is_not_even_listed(tmp_path: Path) -> None:
    """Its last record says how long the list is: 300 MB here, of which none is read."""
    archive = make_zip(tmp_path / "a", [("model.bin", DATA)])
    for at, value, size in ((10, 0xFFFF, 2), (12, 300 << 20, 4)):
        content = bytearray(archive.read_bytes())
        end = content.rindex(b"PK\x05\x06")
        content[end + at : end + at + size] = value.to_bytes(size, "little")
        (tmp_path / "many").write_bytes(content)
        with pytest.raises(BadArchive, match="too many members"):
            taken(tmp_path / "many", "model.bin", tmp_path / "out")


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_uncommon_packing_is_refused(tmp_path: Path, method: int) -> None:
    """Its reader may ask for gigabytes before the first byte is there."""
    with zipfile.ZipFile(tmp_path / "a", "w", method) as package:
        package.writestr("model.bin", DATA)

    with pytest.raises(BadArchive, match="uncommon"):
        taken(tmp_path / "a", "model.bin", tmp_path / "out")


def test_what_is_no_archive_is_said_to_be_damaged(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"<html>404</html>")

    assert not is_archive(tmp_path / "a")
    with pytest.raises(BadArchive):
        taken(tmp_path / "a", "model.bin", tmp_path / "out")
