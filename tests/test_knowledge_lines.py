"""Lines that must be there, exactly once, and not one other byte: the user edits these files too."""

from __future__ import annotations

import os
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.base import files
from core.knowledge.lines import (
    OwnWrites,
    PlannedFile,
    ensure_lines,
    insert_tasks,
    missing_lines,
    require_lines,
    with_lines,
)
from core.knowledge.swap import EditorWait
from tests.harvest_world import HURRIED

LINE = "- one [from: a, 2026-01-01]"
OTHER = "- two [from: a, 2026-01-01]"


def facts(*lines: str) -> PlannedFile:
    return PlannedFile("facts.md", "# Facts", lines)


# --- formats, to the byte --------------------------------------------------------------------------------------------


def test_a_new_category_file_to_the_byte(tmp_path: Path) -> None:
    added, renamed = ensure_lines(tmp_path, facts(LINE, OTHER), editor_wait=HURRIED)
    assert (tmp_path / "facts.md").read_bytes() == f"# Facts\n\n{LINE}\n{OTHER}\n".encode()
    assert added == (LINE, OTHER) and renamed and (tmp_path / "facts.md").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("opened", "done", "wanted"),
    [
        (("- a",), (), "# Tasks\n\n## Open\n\n- a\n\n## Done\n"),
        ((), ("- b",), "# Tasks\n\n## Open\n\n## Done\n\n- b\n"),
        (("- a", "- c"), ("- b",), "# Tasks\n\n## Open\n\n- a\n- c\n\n## Done\n\n- b\n"),
    ],
)
def test_a_new_tasks_file_to_the_byte(tmp_path: Path, opened: tuple[str], done: tuple[str], wanted: str) -> None:
    ensure_lines(tmp_path, PlannedFile("tasks.md", "# Tasks", opened, done), editor_wait=HURRIED)
    assert (tmp_path / "tasks.md").read_bytes() == wanted.encode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# Tasks\n## Open\n- x\n## Done\n- y\n", "# Tasks\n## Open\n- x\n- A\n## Done\n- y\n- B\n"),  # tight
        ("# Tasks\n\n## Open\n\n- x\n\n## Done\n\n- y\n", "# Tasks\n\n## Open\n\n- x\n- A\n\n## Done\n\n- y\n- B\n"),
        ("# Tasks\n## Open\n## Done\n", "# Tasks\n## Open\n\n- A\n\n## Done\n\n- B\n"),
        (
            "# Tasks\r\n\r\n## Open\r\n\r\n- x\r\n\r\n## Done\r\n",
            "# Tasks\r\n\r\n## Open\r\n\r\n- x\r\n- A\r\n\r\n## Done\r\n\r\n- B\r\n",
        ),
        ("# Tasks\r\n\r\n## Open", "# Tasks\r\n\r\n## Open\r\n\r\n- A\r\n\r\n## Done\r\n\r\n- B\r\n"),
        ("# Tasks\n\n## Open\n\n- x", "# Tasks\n\n## Open\n\n- x\n- A\n\n## Done\n\n- B\n"),  # no Done, no line break
        ("# Tasks\n\n## Done\n\n- y\n", "# Tasks\n\n## Open\n\n- A\n\n## Done\n\n- y\n- B\n"),  # no Open: before Done
        ("# Tasks\n\n- x\n\n## Done\n", "# Tasks\n\n- x\n- A\n\n## Done\n\n- B\n"),  # before any heading: open
        ("- x\n", "- x\n- A\n\n## Done\n\n- B\n"),
        ("", "## Open\n\n- A\n\n## Done\n\n- B\n"),
        ("## open\n- x\n  more of x\n\n## DONE\n", "## open\n- x\n  more of x\n- A\n\n## DONE\n\n- B\n"),
        (
            "## Open\n\n- x\n\n## Someday\n\n- z\n\n## Done\n\n- y\n\n## Archive\n\n- q\n",
            "## Open\n\n- x\n- A\n\n## Someday\n\n- z\n\n## Done\n\n- y\n- B\n\n## Archive\n\n- q\n",
        ),
        ("## Open\n\nwords of mine\n\n## Done\n", "## Open\n\nwords of mine\n\n- A\n\n## Done\n\n- B\n"),
        ("## Done\n- y\n## Open\n- x\n", "## Done\n- y\n- B\n## Open\n- x\n- A\n"),
        ("## Open\n\n\n\n## Done\n\n\n", "## Open\n\n- A\n\n\n## Done\n\n- B\n\n"),
    ],
)
def test_tasks_land_in_their_section_whatever_its_shape(before: str, after: str) -> None:
    assert insert_tasks(before.encode(), ["- A"], ["- B"]).decode() == after


def test_line_ends_of_windows_are_kept(tmp_path: Path) -> None:
    (tmp_path / "facts.md").write_bytes(b"# Facts\r\n\r\n- mine")
    ensure_lines(tmp_path, facts(LINE), editor_wait=HURRIED)
    assert (tmp_path / "facts.md").read_bytes() == f"# Facts\r\n\r\n- mine\r\n{LINE}\r\n".encode()


def test_a_line_that_is_there_is_not_written_again(tmp_path: Path) -> None:
    (tmp_path / "facts.md").write_bytes(f"{LINE}\r\nx\n{OTHER}".encode())
    before = (tmp_path / "facts.md").stat()
    assert ensure_lines(tmp_path, facts(LINE, OTHER), editor_wait=HURRIED) == ((), False)
    assert (tmp_path / "facts.md").stat().st_mtime_ns == before.st_mtime_ns
    assert require_lines(tmp_path, facts(LINE, OTHER, "- three")) == ["- three"]


def test_a_part_of_a_line_is_not_the_line() -> None:
    data = f"x{LINE}\n{LINE}x\n  {LINE}\n".encode()
    assert missing_lines(data, [LINE]) == [LINE.encode()]


@pytest.mark.parametrize(("end", "cut"), [(end, cut) for end in ("\n", "\r\n") for cut in range(len(LINE + OTHER) + 5)])
def test_recovery_completes_a_line_torn_at_any_byte(tmp_path: Path, end: str, cut: int) -> None:
    before, lines = f"# Facts{end}{end}- mine{end}".encode(), f"{LINE}{end}{OTHER}{end}".encode()
    (tmp_path / "facts.md").write_bytes(before + lines[:cut])
    ensure_lines(tmp_path, facts(LINE, OTHER), recovering=True, editor_wait=HURRIED)
    assert (tmp_path / "facts.md").read_bytes() == before + lines


def test_the_line_that_was_torn_is_completed_also_behind_others_that_are_missing() -> None:
    """Several plans may wait: what one of them tore is not the first line that is missing."""
    found = with_lines(f"# Facts\n{OTHER[:-4]}".encode(), facts(LINE, OTHER), recovering=True)
    assert found == f"# Facts\n{OTHER}\n{LINE}\n".encode()


def test_recovery_removes_the_zeros_that_a_power_cut_left(tmp_path: Path) -> None:
    (tmp_path / "facts.md").write_bytes(b"- mine\n" + b"\0" * 40)
    ensure_lines(tmp_path, facts(LINE), recovering=True, editor_wait=HURRIED)
    assert (tmp_path / "facts.md").read_bytes() == f"- mine\n{LINE}\n".encode()


def test_recovery_writes_a_fresh_file(tmp_path: Path) -> None:
    """A failed fsync must not be tried again on the same inode: the kernel may have dropped the pages."""
    path = tmp_path / "facts.md"
    path.write_text(f"{LINE}\n")
    before = path.stat().st_ino
    keep = os.open(path, os.O_RDONLY)
    ensure_lines(tmp_path, facts(LINE), recovering=True, editor_wait=HURRIED)
    assert path.stat().st_ino != before and path.read_text() == f"{LINE}\n"
    os.close(keep)


def test_a_write_that_a_full_disk_cuts_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "facts.md"
    path.write_text("- mine\n")

    def half(fd: int, data: bytes) -> None:
        os.write(fd, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_all", half)
    with pytest.raises(OSError, match="No space"):
        ensure_lines(tmp_path, facts(LINE), editor_wait=HURRIED)
    assert path.read_text() == "- mine\n"


# --- editors ---------------------------------------------------------------------------------------------------------


class Waiting:
    """Counts the waits, and does something at one of them."""

    def __init__(self, at: int = 0, then: object = None) -> None:
        self.count, self.at, self.then = 0, at, then

    def __call__(self, seconds: float) -> None:
        self.count += 1
        if self.count == self.at and callable(self.then):
            self.then()


def test_a_known_file_that_is_missing_is_waited_for(tmp_path: Path) -> None:
    """An editor renames it away for a moment: a new file in that gap would be lost, or lose theirs."""
    path = tmp_path / "facts.md"
    waiting = Waiting(3, lambda: path.write_text("# Theirs\n"))
    ensure_lines(tmp_path, facts(LINE), known=True, editor_wait=EditorWait(2, 0, 0, 0.05, waiting))
    assert path.read_text() == f"# Theirs\n{LINE}\n" and waiting.count == 3
    path.unlink()
    waiting = Waiting()
    ensure_lines(tmp_path, facts(LINE), known=True, editor_wait=EditorWait(2, 0, 0, 0.5, waiting))
    assert waiting.count == 4 and path.read_text() == f"# Facts\n\n{LINE}\n"


@pytest.mark.parametrize("name", [".facts.md.swp", ".#facts.md"])
def test_an_open_editor_is_waited_for_once_in_a_run(tmp_path: Path, name: str) -> None:
    (tmp_path / "facts.md").write_text("# Facts\n")
    os.utime(tmp_path / "facts.md", (1, 1))
    (tmp_path / name).symlink_to("somebody@host.1") if "#" in name else (tmp_path / name).write_text("x")
    own, waiting = OwnWrites(), Waiting()
    editor_wait = EditorWait(2, 1, 2, 0.5, waiting)
    ensure_lines(tmp_path, facts(LINE), editor_wait=editor_wait, own=own)
    assert waiting.count == 4
    ensure_lines(tmp_path, facts(LINE, OTHER), editor_wait=editor_wait, own=own)
    assert waiting.count == 4


def test_a_file_saved_just_now_is_left_to_settle_and_our_own_writes_are_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "facts.md"
    path.write_text("# Facts\n")
    own = OwnWrites()
    waiting = Waiting(2, lambda: os.utime(path, (1, 1)))
    ensure_lines(tmp_path, facts(LINE), editor_wait=EditorWait(2, 1, 2, 0.1, waiting), own=own)
    assert waiting.count == 2
    ensure_lines(tmp_path, facts(LINE, OTHER), editor_wait=EditorWait(2, 1, 2, 0.1, waiting), own=own)
    assert waiting.count == 2


@pytest.mark.parametrize("kind", ["link", "dangling", "folder", "fifo"])
def test_what_is_no_regular_file_is_an_error_and_not_followed(tmp_path: Path, kind: str) -> None:
    path, elsewhere = tmp_path / "facts.md", tmp_path / "elsewhere.md"
    match kind:
        case "link":
            elsewhere.write_text("theirs\n")
            path.symlink_to(elsewhere)
        case "dangling":
            path.symlink_to(elsewhere)
        case "folder":
            path.mkdir()
        case _:
            os.mkfifo(path)
    with pytest.raises(OSError, match=r"link|regular|directory|No such device"):
        ensure_lines(tmp_path, facts(LINE), editor_wait=HURRIED)
    assert not elsewhere.exists() or elsewhere.read_text() == "theirs\n"


def test_a_tasks_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "tasks.md"
    path.write_text("# Tasks\n")
    path.chmod(0o640)
    ensure_lines(tmp_path, PlannedFile("tasks.md", "# Tasks", ("- a",)), editor_wait=HURRIED)
    assert path.stat().st_mode & 0o777 == 0o640 and [entry.name for entry in tmp_path.iterdir()] == ["tasks.md"]


# --- properties ------------------------------------------------------------------------------------------------------

file_lines = st.sampled_from(
    [
        "",
        "# Tasks",
        "## Open",
        "## Done",
        "## open ",
        "### x",
        "- mine",
        "- ~~old~~",
        "  more",
        "words",
        "\ufeff",
        "é",
        "-",
    ]
)
line_ends = st.sampled_from(["\n", "\r\n"])
bodies = st.builds(
    lambda lines, end, last: end.join(lines).encode() + last.encode(),
    st.lists(file_lines, max_size=14),
    line_ends,
    st.sampled_from(["", "\n", "\r\n"]),
)
binaries = st.binary(max_size=60)
ours = st.lists(
    st.integers(0, 9).map(lambda number: f"- ours {number} [from: talk, 2026-01-01]"), max_size=4, unique=True
)


def without(data: bytes, lines: list[str]) -> list[bytes]:
    """The non-blank lines that are not ours, without their line ends."""
    wanted = {line.encode() for line in lines} | {b"## Open", b"## Done"}
    return [row for line in data.split(b"\n") if (row := line.rstrip(b"\r")).strip() and row not in wanted]


@given(st.one_of(bodies, binaries), ours, ours)
@example(b"", ["- ours 1 [from: talk, 2026-01-01]"], [])
def test_inserting_tasks_only_inserts(data: bytes, opened: list[str], done: list[str]) -> None:
    """Every line of the user stays, in its order and with its bytes; ours stand there once; again changes nothing."""
    done = [line.replace("ours", "done") for line in done]
    planned = PlannedFile("tasks.md", "# Tasks", tuple(opened), tuple(done))
    new = with_lines(data, planned)
    rows = iter(new.split(b"\n"))
    for line in data.split(b"\n")[:-1]:
        assert line in rows  # consumes up to it: a subsequence
    last = data.split(b"\n")[-1]
    assert last in rows or last + b"\r" in new.split(b"\n")
    for line in [*opened, *done]:
        assert [row.rstrip(b"\r") for row in new.split(b"\n")].count(line.encode()) == 1
    assert without(new, [*opened, *done]) == without(data, [*opened, *done])
    assert with_lines(new, planned) == new


@given(st.one_of(bodies, binaries), ours)
def test_appending_keeps_every_byte_in_front(data: bytes, lines: list[str]) -> None:
    planned = facts(*lines)
    new = with_lines(data, planned)
    assert new.startswith(data) and not missing_lines(new, lines) and with_lines(new, planned) == new
    for line in lines:
        assert new.count(line.encode()) == max(1, data.count(line.encode()))


@given(bodies, ours)
def test_open_tasks_stand_before_done(data: bytes, opened: list[str]) -> None:
    """However a file with one open section above one done section looks, a new open task is not among the done."""
    rows = [row.strip().lower() for row in data.decode().split("\n")]
    new = with_lines(data, PlannedFile("tasks.md", "# Tasks", tuple(opened)))
    after = [row.strip().lower() for row in new.decode().split("\n")]
    if opened and rows.count("## done") == 1 and "## open" not in rows[rows.index("## done") :]:
        assert max(after.index(line.lower()) for line in opened) < after.index("## done")


def test_a_line_that_another_program_appends_at_the_same_moment_is_not_glued_to_ours(tmp_path: Path) -> None:
    path = tmp_path / "facts.md"
    path.write_bytes(b"# Facts\n\n- mine\n")
    real = files.append

    def append(fd: int, data: bytes, size: int) -> None:
        with path.open("ab") as theirs:
            theirs.write(b"- theirs, without a line break")
        real(fd, data, size)

    with patch.object(files, "append", append):
        ensure_lines(tmp_path, PlannedFile("facts.md", "# Facts", ("- ours",)), known=True, editor_wait=HURRIED)
    assert path.read_bytes() == b"# Facts\n\n- mine\n- theirs, without a line break\n- ours\n"


@pytest.mark.parametrize("theirs", ["- d\n", "## Done\n\n- d\n"])
def test_what_is_done_stays_so_beside_a_merge_conflict(theirs: str) -> None:
    """The heading of what is done stands within the conflict: above that a done task was an open one again."""
    text = f"# Tasks\n\n## Open\n\n- a\n<<<<<<< HEAD\n- b\n\n## Done\n\n- c\n=======\n{theirs}>>>>>>> other\n"
    new = insert_tasks(text.encode(), ["- new"], ["- made"]).decode()
    assert new.startswith("# Tasks\n\n## Open\n\n- a\n- new\n<<<<<<< HEAD\n")
    assert new.endswith(">>>>>>> other\n\n## Done\n\n- made\n")
