"""Homes of earlier programs, and how to put one down anywhere.

`make.py` makes them with such a program, through its command line; `data/NAME.tar.gz` holds what it left on the disk.
Plans and ledger tell whole paths, and the fact index the sizes of plans: so in an archive every file holds a mark as
long as the folder was, a folder of that length takes its place, and the checksums of lines are made again. Nothing of
the program of today is used here.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import tarfile
import zlib
from pathlib import Path

DATA = Path(__file__).parent / "data"
FOLDER_CHARACTERS = 180
"""So long is the path of every folder in which such a home lies."""
_MARK = b"{folder}".ljust(FOLDER_CHARACTERS, b"_")
_CHECKED = re.compile(rb"^([0-9a-f]{8}) (\{.*\})$", re.MULTILINE)
_CACHE = "cache/manual_slop/knowledge/"


def names() -> list[str]:
    """What there is."""
    return sorted(path.name.removesuffix(".tar.gz") for path in DATA.glob("*.tar.gz"))


def folder_in(place: Path) -> Path:
    """A folder of the right length below `place`; it is made."""
    room = FOLDER_CHARACTERS - len(str(place)) - 1
    assert room > 0, f"the folder {place} is too deep"
    folder = place / ("p" * room)
    folder.mkdir(parents=True)
    return folder


def put_down(name: str, place: Path) -> Path:
    """Unpack a home below `place`; the folder that holds `home`, `config.toml` and what else belongs to it."""
    folder = folder_in(place)
    with tarfile.open(DATA / f"{name}.tar.gz") as archive:
        for row in archive:
            path = (
                folder / row.name.replace("HOME", _key(folder), 1) if row.name.startswith(_CACHE) else folder / row.name
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            held = archive.extractfile(row)
            assert held is not None
            path.write_bytes(_with_folder(held.read(), os.fsencode(folder)))
            path.chmod(0o600)
            os.utime(path, (row.mtime, row.mtime))
    for path in filter(Path.is_dir, folder.rglob("*")):
        path.chmod(0o700)
    return folder


def pack(folder: Path, target: Path) -> None:
    """Put what lies in a folder into an archive that is the same for the same files."""
    rows = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    with (
        open(target, "wb") as file,
        gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for path in rows:
            name = path.relative_to(folder).as_posix().replace(_key(folder), "HOME")
            data = path.read_bytes().replace(os.fsencode(folder), _MARK)
            assert b"/tmp/" not in data, f"{name} tells a place of this computer"
            row = tarfile.TarInfo(name)
            row.size, row.mtime = len(data), int(path.stat().st_mtime)
            archive.addfile(row, io.BytesIO(data))


def _key(folder: Path) -> str:
    """The name of a home's own folder in the cache."""
    return hashlib.sha256(os.fsencode(folder / "home")).hexdigest()[:16]


def _with_folder(data: bytes, folder: bytes) -> bytes:
    """The bytes with the folder in its place. A line that was damaged stays so."""
    if _MARK not in data:
        return data
    return _CHECKED.sub(_checked, data.replace(_MARK, folder))


def _checked(found: re.Match[bytes]) -> bytes:
    return b"%08x %s" % (zlib.crc32(found[2]), found[2])
