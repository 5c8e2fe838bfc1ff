"""Items know their project. A person would find one project's knowledge pushed out, or leaking into, another's."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.markdown import parse_bullets
from core.base.result import Ok
from core.commands.context import context, digest
from core.commands.workspace import Workspace, open_workspace
from core.knowledge.digest import NOTE, SECTIONS, project_digest, regenerate_digest, render_digest
from core.knowledge.projects import is_inside, nearness, project_around, projects_of
from tests.harvest_world import FakeModel, World


def line(text: str, source: str) -> str:
    return f"- {text} [from: {source}, 2026-01-02]\n"


PROJECTS = {"mine": "/srv/app", "below": "/srv/app/web", "theirs": "/srv/application"}


def world_of_three(tmp_path: Path) -> World:
    world = World(tmp_path)
    rows = [line("their fact", "theirs"), line("nobody's fact", "elsewhere"), line("my fact", "mine")]
    world.knowledge("facts.md", "# Facts\n\n" + "".join(rows) + line("the web's fact", "below"))
    world.knowledge("questions.md", "# Questions\n\n" + line("Their question?", "theirs"))
    return world


def test_a_projects_own_items_come_first_and_others_only_behind_them(tmp_path: Path) -> None:
    world = world_of_three(tmp_path)
    both = project_digest(world.paths, 4096, PROJECTS, "/srv/app", only=False)
    assert both is not None
    facts = [row for row in both.text.split("\n") if "fact [" in row]
    assert [row[2:].partition(" [")[0] for row in facts] == [
        "the web's fact",
        "my fact",
        "nobody's fact",
        "their fact",
    ]
    own = project_digest(world.paths, 4096, PROJECTS, "/srv/app", only=True)
    assert own is not None
    assert own.shown == {"facts": 2}
    assert "heir" not in own.text
    assert project_digest(world.paths, 4096, PROJECTS, "/srv/none", only=True) is None


def test_another_projects_questions_take_no_room_from_ones_own_facts(tmp_path: Path) -> None:
    """Sections stand in a fixed order, but room is given to what is near first."""
    world = World(tmp_path)
    world.knowledge("questions.md", "# Questions\n\n" + "".join(line(f"Q{n} {'x' * 90}?", "theirs") for n in range(90)))
    world.knowledge("facts.md", "# Facts\n\n" + "".join(line(f"mine {n}", "mine") for n in range(20)))
    found = project_digest(world.paths, 4096, PROJECTS, "/srv/app", only=False)
    assert found is not None
    assert found.shown["facts"] == 20
    assert found.text.index("Q89") < found.text.index("mine 19")
    assert found.text.endswith(NOTE)
    assert len(found.text.encode()) <= 4096


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(SECTIONS), st.sampled_from([*PROJECTS, "x"]), st.integers(1, 300)), max_size=30),
    st.integers(300, 4096),
)
def test_bytes_are_kept_and_nothing_is_shown_twice(rows: list[tuple[str, str, int]], room: int) -> None:
    bullets: dict[str, list[object]] = {}
    for number, (section, source, length) in enumerate(rows):
        bullets.setdefault(section, []).extend(parse_bullets(line(f"n{number} " + "y" * length, source)))
    found = render_digest(bullets, room, lambda one: nearness(one, PROJECTS, "/srv/app"))  # type: ignore[arg-type]
    again = render_digest(bullets, room, lambda one: nearness(one, PROJECTS, "/srv/app"))  # type: ignore[arg-type]
    assert found == again
    if found is not None:
        assert len(found.text.encode()) <= room
        shown = [row for row in found.text.split("\n") if row.startswith("- ")]
        assert len(shown) == len(set(shown)) == sum(found.shown.values())
        assert found.dropped == len(rows) - len(shown)


def test_a_folder_is_told_from_one_whose_name_begins_alike() -> None:
    assert is_inside("/srv/app/web", "/srv/app/")
    assert not is_inside("/srv/application", "/srv/app")
    assert project_around("/srv/app/web/src", PROJECTS) == "/srv/app/web"
    assert project_around("/home", PROJECTS) == ""


def test_the_newest_harvest_tells_the_project_of_a_conversation() -> None:
    entries = {
        "1": {"path": "/c/talk", "project": "/old", "at": "2026-01-01"},
        "2": {"path": "/c/talk", "project": "/new/", "at": "2026-01-02"},
        "3": {"path": "/s#1", "name": "goose/1", "project": "/g", "at": "2026-01-01"},
        "4": {"path": "/c/none", "project": 7},
    }
    assert projects_of(entries) == {"talk": "/new", "goose/1": "/g"}


def opened(world: World, scope: str, cwd: Path) -> Workspace:
    config = world.folder / "config.toml"
    config.write_text(f'[ai_settings.knowledge]\ndigest_scope = "{scope}"\n')
    found = open_workspace(str(world.paths.home), config, {"HOME": str(world.folder)}, cwd)
    assert isinstance(found, Ok), found
    return found.value


def prefix(workspace: Workspace, project: str = "") -> str:
    found = context(workspace, project)
    assert isinstance(found, Ok), found
    return found.value.prefix.text


def test_a_harvest_records_the_project_and_the_context_follows_it(tmp_path: Path) -> None:
    """From the conversation's own working folder to the prompt of the next one."""
    world = World(tmp_path)
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        record = (
            f'{{"type":"user","sessionId":"{name}","uuid":"{name}","parentUuid":null,"cwd":"{folder}",'
            f'"message":{{"role":"user","content":"hello {name}"}}}}\n'
        )
        world.converse(record)
        world.run(FakeModel(lambda number, prompt, name=name: {"facts": [f"fact of {name}"]}))  # type: ignore[misc]
    assert {entry["project"] for entry in world.entries().values()} == {str(tmp_path / "one"), str(tmp_path / "two")}
    text = prefix(opened(world, "both", tmp_path), str(tmp_path / "one"))
    assert text.index("fact of one") < text.index("fact of two")
    assert prefix(opened(world, "both", tmp_path / "one")) == text
    assert "fact of two" not in prefix(opened(world, "project", tmp_path), str(tmp_path / "one"))
    whole = prefix(opened(world, "global", tmp_path), str(tmp_path / "one"))
    assert whole.index("fact of two") < whole.index("fact of one")
    assert prefix(opened(world, "project", tmp_path)) == whole
    shown = digest(opened(world, "project", tmp_path), "show", str(tmp_path / "two"))
    assert isinstance(shown, Ok)
    assert "fact of one" not in shown.value.text


def test_without_a_digest_file_no_project_has_one(tmp_path: Path) -> None:
    """The file is the switch, for every project."""
    world = world_of_three(tmp_path)
    regenerate_digest(world.paths, 4096)
    mine = opened(world, "both", tmp_path)
    (tmp_path / "app").mkdir()
    assert "my fact" in prefix(mine, str(tmp_path / "app"))
    world.paths.digest.unlink()
    assert prefix(mine, str(tmp_path / "app")) == ""
