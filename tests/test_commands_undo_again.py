"""A harvest is undone and made again: it gives what a first one gives, and what the user has done with its lines in an
editor meanwhile holds. If these fail, an undo costs a task, or doubles what a user has put into better words."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from datetime import UTC as UTC_ZONE
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from core.base import disk
from tests.cli_call import call
from tests.faults.fault import Counter, Fault
from tests.harvest_world import nobody_waits_for_editors
from tests.histories.ground import in_child
from tests.shop import edited, ran, turn

CATEGORIES = ("facts.md", "decisions.md", "questions.md", "playbooks.md", "tasks.md", "digest.md")


class Home:
    """A home of a user who harvests by rules what lies in a folder. `run` is the last harvest, `edit` the last edit."""

    def __init__(self, folder: Path, name: str = "home") -> None:
        self.path, self.talks = folder / name, folder / "talks"
        self.talks.mkdir(exist_ok=True)
        self.run = self.edit = ""

    def do(self, *words: str) -> str:
        code, out, err = call(*words, "--home", str(self.path))
        assert code == 0, (words, out, err)
        return out

    def harvest(self, *words: str) -> str:
        """The report of a harvest, without its own name."""
        out = self.do("harvest", "--source", str(self.talks), "--now", "--apply", *words)
        self.run = re.search(r"^run: (\S+)", out, re.MULTILINE)[1]  # type: ignore[index]
        return out.replace(self.run, "RUN")

    def undo(self, run: str = "") -> str:
        return self.do("undo", run or self.run)

    def file(self, name: str) -> Path:
        return self.path / "knowledge" / name

    def text(self, name: str) -> str:
        return self.file(name).read_text() if self.file(name).exists() else ""

    def texts(self) -> dict[str, str]:
        return {name: self.text(name) for name in (*CATEGORIES, "quarantine.md", ".state/confirmed.json")}

    def put(self, old: str, new: str, name: str = "decisions.md") -> None:
        """An editor saves the file with other words; with none the lines that hold the old ones are gone."""
        rows = self.text(name).split("\n")
        assert any(old in row for row in rows)
        self.file(name).write_text("\n".join(row.replace(old, new) for row in rows if new or old not in row))


@pytest.fixture(name="home")
def home_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CACHE", "CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    nobody_waits_for_editors(monkeypatch)
    yield Home(tmp_path)


# --- what the undone run left waiting --------------------------------------------------------------------------------

LINT, TYPES, TESTS, COMMIT = "npm run lint", "npm run typecheck", "npm test", 'git commit -am "Read all banks"'
GIT = {COMMIT: "[main 1a2b3c4] Read all banks", "git status --short": " M rates.py"}
STATUS = ("git status --short",)
RUNS: dict[str, list[list[tuple[str, ...]]]] = {
    "checks that several ran": [[(LINT, TYPES, TESTS), (LINT, TESTS), (TYPES, TESTS), (LINT, TYPES, TESTS)]],
    "checks that an earlier run had left": [[(LINT, TESTS)], [(TYPES, TESTS), (LINT, TYPES, TESTS)]],
    "a request to commit that is made once": [[STATUS, STATUS]],
    "one that a commit has settled": [[STATUS, (COMMIT,), STATUS]],
    "one of an earlier run that the undone one settled": [[STATUS], [STATUS, (COMMIT,)]],
}
"""What the sessions of each run ran; the last run is undone."""


def session(
    home: Home, number: int, commands: tuple[str, ...], files: tuple[str, str] = ("rates.py", "banks.py")
) -> None:
    """Two files of a project are changed, and commands are run there."""
    folder, name = home.path.parent / "rates", f"s{number}"
    folder.mkdir(exist_ok=True)
    rows: list[dict[str, Any]] = [turn("user", f"Read all banks up to number {number} and commit", 0, name, folder)]
    for at, file in enumerate(files):
        rows += edited(folder / file, "a", f"b{number}", 1 + 2 * at, name, folder)
    for at, words in enumerate(commands):
        rows += ran(words, GIT.get(words, "ok"), False, 5 + 2 * at, name, folder)
    rows.append(turn("assistant", [{"type": "text", "text": "Done."}], 20, name, folder))
    path = home.talks / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    at = time.time() - 100_000 + number
    os.utime(path, (at, at))


@pytest.mark.parametrize("runs", RUNS.values(), ids=RUNS)
def test_what_an_undone_run_left_changes_nothing(home: Home, runs: list[list[tuple[str, ...]]]) -> None:
    number, first = 0, ""
    for sessions in runs:
        for commands in sessions:
            number += 1
            session(home, number, commands)
        first = home.harvest()
    before = home.texts()
    assert any("- " in text for name, text in before.items() if name.endswith(".md"))
    for _ in range(2):
        home.undo()
        again = home.harvest("--again")
        assert home.texts() == before
        assert again == first.replace(f"knowledge: made a new home: {home.path}\n", "")


def test_a_commit_counts_as_long_as_one_harvest_of_it_stands(home: Home) -> None:
    """Of a session that went on the older harvest was undone, and what a later one left open was not told."""
    session(home, 1, STATUS)
    home.harvest()
    session(home, 2, (*STATUS, COMMIT))
    home.harvest()
    older = home.run
    session(home, 2, (*STATUS, COMMIT, TESTS))
    home.harvest()
    home.undo(older)
    session(home, 3, STATUS, ("page.py", "menu.py"))
    home.harvest()
    assert "Commit `page.py`" in home.text("tasks.md")


# --- what the user has done with its lines ---------------------------------------------------------------------------

TALKS = {
    "one": "Decision: the cache is a folder.\nDecision: times are kept in UTC.",
    "two": "Decision: file names are in lower case.\nDecision: times are kept in UTC.",
}
CACHE, UTC, NAMES, MINE = (
    "The cache is a folder.",
    "Times are kept in UTC.",
    "File names are in lower case.",
    "It is cached.",
)
UTC_ONE = "Days are kept in UTC too."
ALL = [CACHE, UTC, NAMES]
STEPS: dict[str, tuple[str, list[str]]] = {
    "untouched": ("undo again", ALL),
    "reworded": ("reword undo again", [MINE, UTC, NAMES]),
    "deleted": ("delete undo again", [UTC, NAMES]),
    "deleted though two said it": ("delete-both undo again", [CACHE, NAMES]),
    "deleted by a command": ("rm undo again", [UTC, NAMES]),
    "deleted by a command, and that undone": ("rm undo-edit undo again", ALL),
    "only the case is another": ("case undo again", [CACHE.upper(), UTC, NAMES]),
    "struck through": ("strike undo again", [f"~~{CACHE}~~", UTC, NAMES]),
    "moved to another file": ("move undo", []),
    "moved, and harvested again": ("move undo again", [UTC, NAMES]),
    "moved, undone twice, harvested again": ("move undo undo again", [UTC, NAMES]),
    "moved, and all of it once more": ("move undo again undo again", [UTC, NAMES]),
    "undone twice": ("reword undo undo again", [MINE, UTC, NAMES]),
    "undone, harvested, undone, harvested": ("reword undo again undo again", [MINE, UTC, NAMES]),
    "deleted after the second harvest": ("undo again delete undo again", [UTC, NAMES]),
    "reworded after the second harvest": ("undo again reword undo again", [MINE, UTC, NAMES]),
    "deleted, wanted, and deleted after all": ("rm undo want again delete undo again", [UTC, NAMES]),
    "reworded by a command": ("edit undo again", [MINE, UTC, NAMES]),
    "and that undone before": ("edit undo-edit undo again", ALL),
    "and that undone between": ("edit undo undo-edit again", ALL),
    "and the harvest undone once more": ("edit undo undo-edit undo again", ALL),
    "and that undone after": ("edit undo again undo-edit", ALL),
    "all gone, as from an editor with an old text": ("empty undo again", ALL),
    "all gone, and the user has said so": ("empty wave undo again", []),
    "said so, and that undone": ("empty wave undo-edit undo again", ALL),
    "taken out of removed.md": ("delete undo want again", ALL),
    "taken out of it, and undone once more": ("delete undo want undo again", ALL),
}
"""What happens after a harvest, and which decisions stand at the end."""
EDITOR = {
    "reword": (CACHE, MINE),
    "case": (CACHE, CACHE.upper()),
    "strike": (CACHE, f"~~{CACHE}~~"),
    "delete": (CACHE, ""),
    "delete-both": (UTC, ""),
    "delete-names": (NAMES, ""),
    "delete-utc": (UTC_ONE, ""),
    "empty": ("[from: ", ""),
}


def step(home: Home, name: str) -> None:
    if name in EDITOR:
        home.put(*EDITOR[name])
    elif name == "again":
        home.harvest("--again")
    elif name == "move":
        [line] = [row for row in home.text("decisions.md").split("\n") if CACHE in row]
        home.put(CACHE, "")
        home.file("facts.md").write_text(f"# Facts\n\n{line}\n")
    elif name == "want":
        home.put(CACHE, "", "removed.md")
    elif name.startswith("undo"):
        home.undo(home.edit if name == "undo-edit" else "")
    else:
        words = {"rm": ("rm", CACHE), "edit": ("edit", CACHE, MINE), "wave": ("review", "all", "vanished", "--no")}[
            name
        ]
        home.edit = re.search(r"undo (edit-[\w-]+)", home.do(*words))[1]  # type: ignore[index]


def taught(home: Home, talks: dict[str, str] = TALKS) -> None:
    """A first harvest of both conversations."""
    for number, (name, said) in enumerate(talks.items()):
        path = home.talks / f"{name}.md"
        path.write_text(f"User: what of it?\n\nAssistant: {said}\n")
        os.utime(path, (time.time() - 1000 + number,) * 2)
    home.harvest()


def standing(home: Home) -> list[str]:
    rows = [row for row in home.text("decisions.md").split("\n") if row.startswith("- ")]
    return sorted(row.partition(" [from: ")[0][2:] for row in rows)


@pytest.mark.parametrize(("steps", "stand"), STEPS.values(), ids=STEPS)
def test_what_the_user_did_with_the_lines_holds(home: Home, steps: str, stand: list[str]) -> None:
    taught(home)
    for name in steps.split():
        step(home, name)
    assert standing(home) == sorted(stand)
    shown = json.loads(home.do("list", "--project", "all", "--json"))["bullets"]
    moved = [CACHE] if "move" in steps else []
    assert sorted(row["text"] for row in shown if not row["struck"]) == sorted(
        [*moved, *(row for row in stand if "~~" not in row)]
    )


def test_the_undo_tells_where_a_line_was_moved(home: Home) -> None:
    taught(home)
    step(home, "move")
    told = home.undo()
    assert f"stayed (moved to facts.md since): - {CACHE}" in told and "gone before" not in told


TASK = "Commit `page.py`"


def mark_done(home: Home, how: str) -> None:
    if how == "by a command":
        home.do("done", TASK)
    else:
        [line] = [row for row in home.text("tasks.md").split("\n") if TASK in row]
        home.put(TASK, "", "tasks.md")
        home.put("## Done", f"## Done\n\n{line}", "tasks.md")


def is_done(home: Home) -> bool:
    opened, _, done = home.text("tasks.md").partition("## Done")
    return TASK in done and TASK not in opened


@pytest.mark.parametrize("steps", ["undo again", "undo undo again", "undo again undo again"])
@pytest.mark.parametrize("how", ["by a command", "in an editor"])
def test_a_task_that_is_done_stays_done(home: Home, how: str, steps: str) -> None:
    session(home, 1, STATUS, ("page.py", "menu.py"))
    home.harvest()
    mark_done(home, how)
    assert is_done(home)
    told = home.undo()
    assert f"stayed (moved to Done since): - {TASK}" in told
    for name in steps.split()[1:]:
        step(home, name)
        assert is_done(home)


@pytest.mark.parametrize("at", range(1, 50, 4))
def test_a_task_that_is_done_stays_done_when_an_undo_is_killed(home: Home, at: int) -> None:
    session(home, 1, STATUS, ("page.py", "menu.py"))
    home.harvest()
    mark_done(home, "in an editor")

    def killed() -> None:
        with patch.object(disk, "perform", Counter(Fault(at, "after"))):
            home.undo()

    assert in_child(killed) in (0, -9)
    home.undo()
    assert is_done(home)


def test_the_undo_tells_what_stays_away_and_what_brings_it_back(home: Home) -> None:
    taught(home)
    for name in ("reword", "delete-names"):
        step(home, name)
    told = home.undo()
    assert "2 lines that you had reworded or deleted stay away from later harvests (removed.md)" in told
    assert "stay away" not in home.undo()
    assert {row[2:].partition(" [")[::2] for row in home.text("removed.md").split("\n") if row[:2] == "- "} == {
        (CACHE, f"replaced: {today()}]"),
        (NAMES, f"removed: {today()}]"),
    }
    home.harvest("--again")
    rows = json.loads(home.do("review", "--kind", "kept-away", "--json"))["waiting"]
    assert {row["text"] for row in rows} == {CACHE, NAMES}


@pytest.mark.parametrize("order", [("reword", "delete-utc"), ("delete-utc", "reword")])
def test_one_line_was_reworded_and_one_of_the_same_conversation_deleted(home: Home, order: tuple[str, str]) -> None:
    """What was deleted was said to stay, in words that stood nowhere, and to have been replaced."""
    said = TALKS["one"].replace("times are kept in UTC.", UTC_ONE.lower().replace("utc", "UTC"))
    taught(home, {"one": said, "two": TALKS["two"]})
    for name in order:
        step(home, name)
    gone = json.loads(home.do("review", "--kind", "vanished", "--json"))["waiting"]
    assert [[line.partition(" [")[0] for line in row["lines"]] for row in gone] == [[f"- {UTC_ONE}"]]
    assert "nothing waits" in home.do("review")
    told = home.undo()
    assert f"stayed (reworded since): - {MINE} [from: " in told and f"gone before: - {UTC_ONE} [from: " in told
    assert told.count("stayed") == 1
    assert {row[2:].partition(" [")[::2] for row in home.text("removed.md").split("\n") if row[:2] == "- "} == {
        (CACHE, f"replaced: {today()}]"),
        (UTC_ONE, f"removed: {today()}]"),
    }
    home.harvest("--again")
    assert standing(home) == sorted([MINE, NAMES, UTC])


def test_an_answer_that_is_undone_is_asked_again(home: Home) -> None:
    taught(home)
    step(home, "empty")
    waits = home.do("review", "--json")
    assert json.loads(waits)["counts"]["vanished"] == 2
    for answer in ("--yes", "--no", "--yes"):
        done = home.do("review", "all", "vanished", answer)
        assert "nothing waits" in home.do("review")
        home.undo(re.search(r"undo (edit-[\w-]+)", done)[1])  # type: ignore[index]
        assert home.do("review", "--json") == waits


def test_what_vanishes_after_it_was_harvested_again_is_told(home: Home) -> None:
    """The undo of the first harvest passed for the user's own word that the lines may go."""
    taught(home)
    home.undo()
    home.harvest("--again")
    step(home, "empty")
    assert json.loads(home.do("review", "--json"))["counts"]["vanished"] == 2


def today() -> str:
    return datetime.now(UTC_ZONE).date().isoformat()


@pytest.mark.parametrize("at", range(1, 50, 4))
def test_an_undo_that_was_killed_remembers_as_much_when_it_is_begun_again(home: Home, at: int) -> None:
    taught(home)
    for name in ("reword", "delete-both"):
        step(home, name)

    def killed() -> None:
        with patch.object(disk, "perform", Counter(Fault(at, "after"))):
            home.undo()

    assert in_child(killed) in (0, -9)
    home.undo()
    home.harvest("--again")
    assert standing(home) == sorted([MINE, NAMES])


def test_another_machine_may_undo_and_the_first_one_harvests_again(home: Home, tmp_path: Path) -> None:
    """Its copy is what git carries (assets/docs/machines.md); back it comes as a merge of one side that changed."""
    for number, commands in enumerate([(LINT, TESTS), (LINT, TESTS), (TYPES, LINT)], 1):
        session(home, number, commands)
    taught(home)
    there = Home(tmp_path, "there")
    there.run = home.run

    def carried(one: Home, other: Home) -> None:
        ignored = shutil.ignore_patterns("digest.md", "index.json", "*.db*", "backups")
        for path in one.file("").iterdir():
            if path.name == ".state":
                shutil.copytree(path / "plans", other.file(".state") / "plans", dirs_exist_ok=True)
            elif path.is_dir():
                shutil.copytree(path, other.file(path.name), dirs_exist_ok=True, ignore=ignored)
            elif path.name not in ignored("", [path.name]):
                other.file("").mkdir(parents=True, exist_ok=True)
                shutil.copy(path, other.file(path.name))

    before = home.text("playbooks.md")
    carried(home, there)
    for name in ("reword", "delete-both", "undo"):
        step(there, name)
    (home.file(".state") / "plans" / f"{home.run}.jsonl").unlink()
    carried(there, home)
    assert standing(home) == [MINE] and LINT in before
    home.harvest("--again")
    assert standing(home) == sorted([MINE, NAMES]) and home.text("playbooks.md") == before
