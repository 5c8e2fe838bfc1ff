"""What a run knows of the notes on files: each is shown where its own file is worked on, and repeated by a note on that
file alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from core.base.markdown import parse_bullets
from core.commands.bullets import add
from core.conversations.read import read_conversation
from core.harvest.answer import given, items_from
from core.harvest.known import Shown
from core.harvest.quotes import source_of
from core.knowledge.categories import read_category
from core.knowledge.confirmed import confirmed_bullets, read_confirmed
from core.knowledge.file_notes import notes_for
from core.knowledge.same import Statement, statements
from tests.harvest_world import FakeModel, World, known_id, session, workspace_of

PORT = "sets the port of the worker, 7700"


def noting(path: str, note: str, **more: str) -> dict[str, Any]:
    """The answer of a model that leaves one note."""
    return {"files": [{"path": path, "note": note, "quote": "", **more}]}


def notes_on(world: World, file: Path) -> list[Statement]:
    """What the program tells of a file."""
    place, _ = notes_for(world.paths, str(file))
    found = parse_bullets(place.read_text()) if place is not None else []
    return statements(confirmed_bullets(read_confirmed(world.paths), f"files/{place and place.name}", found))


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("wordless", [True, False])
@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("linked", [True, False])
def test_a_note_on_a_file_is_known_to_the_next_session_and_confirmed(
    world: World, there: bool, wordless: bool, at_once: bool, linked: bool
) -> None:
    """Notes alone were not shown: each session wrote its own, in other words. A note knows the file itself, a session
    may have worked in a folder that is a link."""
    seen = list[str]()

    def answering(number: int, prompt: str) -> dict[str, Any]:
        same = known_id(prompt, f"conf.py: {PORT}")
        seen.append(same)
        if not same:
            return noting("conf.py", PORT)
        row = {"statement": "", "detail": "", "quote": "worker's port", "confirms": same}
        again = noting("conf.py", "the port of the worker, 7700, is set here", quote="worker's port", confirms=same)
        return {"facts": [row]} if wordless or not there else again

    folder = world.folder / "app"
    (world.folder / "real" if linked else folder).mkdir()
    if linked:
        folder.symlink_to(world.folder / "real")
    if there:
        (folder / "conf.py").write_text("PORT = 7700\n")
    model = FakeModel(answering)
    for number in range(3):
        world.converse(session(folder, number, "which?", f"conf.py sets the worker's port, 7700. {number}"))
        if not at_once:
            world.run(model)
    world.run(model)
    assert seen[0] == "" and all(seen[1:]) and len(seen) == 3
    [statement] = notes_on(world, folder / "conf.py") if there else statements(read_category(world.paths, "facts"))
    assert statement.bullet.text.endswith(PORT) and statement.conversations == 3


@pytest.mark.parametrize(
    "answer",
    [
        noting("other.py", "sets the port of the worker, 7700, too"),
        noting("other.py", "sets it as conf.py does"),
        noting("conf.py", "sets the port of the worker, 7701"),
        noting("conf.py", "does not set the port of the worker, 7700, any more"),
        {"facts": [{"statement": "The port of the worker is set in a file, 7700", "detail": "", "quote": ""}]},
        {"tasks_open": [{"statement": "Set the port of the worker, 7700", "detail": "", "quote": "the worker's port"}]},
    ],
    ids=["path", "words", "figure", "contrary", "fact", "task"],
)
@pytest.mark.parametrize("earlier", [True, False])
def test_only_a_note_on_the_same_file_repeats_a_note(world: World, answer: dict[str, Any], earlier: bool) -> None:
    """Lines were lost as repeated because a note on another file, or a line of another kind, was like them."""
    folder = world.folder / "app"
    folder.mkdir()
    for name in ("conf.py", "other.py"):
        (folder / name).write_text("PORT = 7700\n")
    talk = session(folder, 1, "which?", "conf.py sets the worker's port, 7700; other.py does.")
    if earlier:
        shown = Shown(None, str(folder), 4096)
        shown.add(given(noting("conf.py", PORT)))
        shown.block("")
        [row] = [{**row, "confirms": "k1"} for rows in answer.values() for row in rows]
        source = source_of(read_conversation("x", talk.encode()))
        found = items_from({next(iter(answer)): [row]}, source, quotes="check", secrets=True, shown=shown)
        assert len(found.items) == 1 and not found.items[0].confirms
        return

    world.converse(session(folder, 0, "which?", "conf.py sets the worker's port, 7700"))
    world.run(FakeModel(lambda number, prompt: noting("conf.py", PORT)))

    def answering(number: int, prompt: str) -> dict[str, Any]:
        same = known_id(prompt, f"conf.py: {PORT}")
        assert same
        return {name: [{**row, "confirms": same} for row in rows] for name, rows in answer.items()}

    world.converse(talk)
    world.run(FakeModel(answering))
    written = "".join(path.read_text() for path in world.paths.knowledge.rglob("*.md"))
    [row] = [row for rows in answer.values() for row in rows]
    assert (row.get("note") or row["statement"]) in written
    [statement, *_] = notes_on(world, folder / "conf.py")
    assert statement.bullet.text == PORT and statement.conversations == 1


@pytest.mark.parametrize(
    ("path", "said", "shown"),
    [
        ("app/src/conf.py", "src/conf.py sets it, worker, port 7700", True),
        ("app/src/conf.py", "The worker has the port 7700.", False),
        ("app/src/conf.py", "old-src/conf.py and src/conf.pyc set the worker port", False),
        ("other/src/conf.py", "src/conf.py sets it, worker, port 7700", False),
        ("app/inner/src/conf.py", "inner/src/conf.py sets it, worker, port 7700", False),
    ],
)
def test_a_note_is_shown_where_its_own_file_is_worked_on(world: World, path: str, said: str, shown: bool) -> None:
    """What somebody typed has no conversation to ask for its project: it was shown in every project."""
    file = world.folder / path
    file.parent.mkdir(parents=True)
    file.write_text("PORT = 7700\n")
    if "inner" in path:
        (world.folder / "app/inner/.git").mkdir()
    add(workspace_of(world), "files", f"{PORT} by hand", file=str(file))
    note = next(world.paths.file_notes.glob("*.md"))
    note.write_text(re.sub(r" \[from: .*\]", "", note.read_text()))
    model = FakeModel(lambda number, prompt: {})
    world.converse(session(world.folder / "app", 1, "which?", said))
    world.run(model)
    assert (PORT in model.prompts[0]) is shown
