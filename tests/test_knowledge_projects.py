"""Which project a conversation belongs to."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base import ready
from core.base.markdown import parse_bullets
from core.base.paths import cache_folder
from core.base.project import is_below
from core.commands.bullets import notes
from core.commands.context import context, digest_show
from core.commands.review.decide import NO, decide
from core.commands.review.waiting import waiting
from core.commands.workspace import Workspace, open_workspace
from core.knowledge import projects
from core.knowledge.digest import NOTE, SECTIONS, project_digest, regenerate_digest, render_digest
from core.knowledge.ledger import Entries, write_ledger
from core.knowledge.projects import NONE, OTHER, OWN, Here, Projects, here_in, nearness, projects_of
from core.knowledge.same import Statement, mark_of_text
from tests.harvest_world import FakeModel, World, workspace_of

# --- Items know their project. A user would find one project's knowledge pushed out, or leaking into, another's.


def line(text: str, source: str) -> str:
    return f"- {text} [from: {source}, 2026-01-02]\n"


PROJECTS = Projects(
    {
        "mine": frozenset({"/srv/app"}),
        "below": frozenset({"/srv/app/web"}),
        "theirs": frozenset({"/srv/application"}),
        "shared": frozenset({"/srv/app", "/srv/application"}),
    }
)


APP = Here("/srv/app", frozenset({"/srv/app", "/srv/app/web"}))


def near(statement: Statement) -> int:
    return nearness((statement.bullet, *statement.others), PROJECTS, APP)


def world_of_three(tmp_path: Path) -> World:
    world = World(tmp_path)
    rows = [line("their fact", "theirs"), line("nobody's fact", "elsewhere"), line("my fact", "mine")]
    world.knowledge("facts.md", "# Facts\n\n" + "".join(rows) + line("the web's fact", "below"))
    world.knowledge("questions.md", "# Questions\n\n" + line("Their question?", "theirs"))
    return world


def test_a_projects_own_items_come_first_then_the_persons_and_no_others(tmp_path: Path) -> None:
    world = world_of_three(tmp_path)
    both = project_digest(world.paths, 4096, PROJECTS, APP, only=False)
    assert both is not None
    facts = [row for row in both.text.split("\n") if "fact [" in row]
    assert [row[2:].partition(" [")[0] for row in facts] == [
        "the web's fact",
        "my fact",
        "nobody's fact",
    ]
    assert "heir" not in both.text
    own = project_digest(world.paths, 4096, PROJECTS, APP, only=True)
    assert own is not None
    assert own.shown == {"facts": 2}
    assert "heir" not in own.text
    assert project_digest(world.paths, 4096, PROJECTS, here_in("/srv/none", PROJECTS), only=True) is None


def test_a_context_names_conversations_in_short(tmp_path: Path) -> None:
    """The paths of conversations took a third of what an agent read."""
    world = World(tmp_path)
    names = [f"tools/session/2026/rollout-2026-06-1{at}-52ce68c9{at}be.jsonl" for at in range(2)]
    world.knowledge(
        "facts.md", "# Facts\n\n" + "".join(line(f"fact {at} is told", name) for at, name in enumerate(names))
    )
    projects = Projects.fromkeys(names, PROJECTS["mine"])
    found = project_digest(world.paths, 4096, projects, APP, only=True)
    assert found is not None and "rollout" not in found.text
    assert all(f" [from: {name[-14:-6]}, " in found.text for name in names)
    world.knowledge("facts.md", line("told", "files/tool/cd-86afb9c782-0.jsonl"))
    names = ["files/tool/cd-86afb9c782-0.jsonl", "files/tool/cd-87afb9c782-0.jsonl", "cd-86afb"]
    for some, called in ((names[:2], "cd-86afb"), (names, "cd-86afb9")):
        found = project_digest(world.paths, 4096, Projects.fromkeys(some, PROJECTS["mine"]), APP, only=True)
        assert found is not None and f"[from: {called}, " in found.text
    world.knowledge("facts.md", line("told", "shop/.aider.chat.history.md"))
    known = Projects.fromkeys(["shop/.aider.chat.history.md"], PROJECTS["mine"])
    found = project_digest(world.paths, 4096, known, APP, only=True)
    assert found is not None and "[from: .aider.chat.history, " in found.text


def shown(world: World, room: int = 4096) -> list[str]:
    """The lines of a context of the project that `mine` is of, without their provenances."""
    found = project_digest(world.paths, room, PROJECTS, APP, only=True)
    rows = found.text.split("\n") if found is not None else []
    return [row.removeprefix("- ").partition(" [from: ")[0] for row in rows if row.startswith("- ")]


@pytest.mark.parametrize(
    ("category", "text", "first"),
    [
        ("facts", "Added a `--plain` flag to the report", False),
        ("facts", "`src/report.py` — Renamed `show_all` to `show`", False),
        ("facts", "Verified `HEAD` and `origin/main` are the same; CI is queued", False),
        ("facts", "Done. Removed the old hook", False),
        ("facts", "Moved to 8443: the API listens there since May", True),
        ("facts", "Switched to pnpm; npm must never be used here", True),
        ("facts", "Pushed tags start the release, so never push one by hand", True),
        ("facts", "Changed files below `proto/` require `make gen`", True),
        ("facts", "Updated lock files fail CI", True),
        ("facts", "Renamed master to main; pushes to master are refused", True),
        ("facts", "Removed the old hook because it ran the tests twice", True),
        ("facts", "Verified that the client cannot read the keyring", True),
        ("facts", "Set `PLAIN=1` before the first run", True),
        ("facts", "Added headers are sent twice by the proxy", True),
        ("decisions", "Replaced the queue with a table", True),
        ("tasks", "Verification gap: the tests were not run", True),
    ],
)
def test_what_was_merely_done_gets_room_last_and_is_never_left_out(
    tmp_path: Path, category: str, text: str, first: bool
) -> None:
    """A third of the lines told what the repository shows. Left out by their first word, "Switched to pnpm; npm must
    never be used here" went with them, and so did a line that the user had corrected."""
    world = World(tmp_path)
    plain = f"The report is plain {'x' * 80}"
    older = line(plain, "mine").replace("01-02", "01-01")
    world.knowledge(f"{category}.md", older + line(text, "mine"))
    assert set(shown(world)) == {text, plain}
    whole = project_digest(world.paths, 4096, PROJECTS, APP, only=True)
    assert whole is not None
    assert shown(world, len(whole.text.encode()) - 1) == [text if first else plain]
    world.knowledge(f"{category}.md", older + f"- {text}\n")
    mine = project_digest(world.paths, 4096, PROJECTS, APP, only=False)
    assert mine is not None and f"- {text}\n" in mine.text, "the user wrote it"


def test_of_versions_of_one_playbook_the_usual_one_is_told(tmp_path: Path) -> None:
    """Five lines of eighteen said in which order a formatter, a linter and the tests were run, or not all of it. Of
    steps that differ ("push ENV=staging" and "push ENV=production") neither is the other's version."""
    world = World(tmp_path)
    runs = [("mine", "fmt -> lint -> test"), ("below", "fmt -> lint -> test"), ("below", "test -> lint -> fmt")]
    runs += [("mine", "fmt -> lint")]
    runs += [("mine", "build -> test -> push ENV=staging"), ("mine", "build -> test -> push ENV=production")]
    world.knowledge("playbooks.md", "".join(line(f"**Checks of app**: {steps}", source) for source, steps in runs))
    assert {row.partition(": ")[2] for row in shown(world)} == {
        "fmt -> lint -> test (in 2 conversations)",
        "build -> test -> push ENV=staging",
        "build -> test -> push ENV=production",
    }
    hand = "- **Checks of app**: test -> lint -> fmt\n"
    world.knowledge(
        "playbooks.md", "".join(line(f"**Checks of app**: {steps}", source) for source, steps in runs) + hand
    )
    assert hand in str(project_digest(world.paths, 4096, PROJECTS, APP, only=False).text), "the user wrote it"


def test_of_checks_that_differ_in_their_options_the_newest_is_told(tmp_path: Path) -> None:
    """Three lines of one context said how the project is checked, each with another option. What is no check, or looks
    at something else, is no version of it."""
    world = World(tmp_path)
    runs = ["cargo fmt -> cargo test", "cargo fmt --all -> cargo test --all", "cargo fmt -- --check -> cargo test"]
    others = ["npm run lint -> npm test", "npm run lint -> cd web && npm test", "git push -> git tag v1"]
    others += ["git push -f -> git tag v1"]
    world.knowledge("playbooks.md", "".join(line(f"**Checks of app**: {steps}", "mine") for steps in runs + others))
    assert {row.partition(": ")[2] for row in shown(world)} == {runs[-1], *others}


def test_what_a_session_left_in_git_is_told_until_the_next_day_of_work(tmp_path: Path) -> None:
    """Of nine open tasks in the contexts of six projects three asked for commits that had been made minutes after the
    session: an agent looked for changes that nobody had any more. `git status` knows better."""
    world = World(tmp_path)
    left = (
        "Commit `app.py`, `cli.py` on branch main: changed and not committed when the session ended",
        "Commit the conflicts of `git merge origin/main`: worked on, and not committed in the session",
        "Finish `git merge origin/main`: it had conflicts, and no commit followed in the session",
        "Check whether the commit “fix: the port” went through: the session ends before its result",
    )
    other = "Commit to a date for the release"
    world.knowledge("tasks.md", "# Tasks\n\n## Open\n\n" + "".join(line(text, "mine") for text in (*left, other)))
    world.knowledge("facts.md", line("The port is 8080", "mine"))
    assert set(shown(world)) == {*left, other, "The port is 8080"}, "of the same day: nobody knows which was later"
    world.knowledge("facts.md", line("The port is 8080", "mine").replace("01-02", "01-03"))
    assert set(shown(world)) == {other, "The port is 8080"}
    for elsewhere in ("theirs", "below"):
        world.knowledge("facts.md", line("The port is 8080", elsewhere).replace("01-02", "01-03"))
        assert {*left, other} <= set(shown(world)), "work in another folder says nothing of this one"


@pytest.mark.parametrize(
    "task",
    [
        "- Commit `app.py`: changed and not committed when the session ended",
        "- Commit `app.py`: changed and not committed when the session ended [from: mine, 2026-01-02]\n  ask Bob first",
        "- Commit `a.py` when Bob agrees: changed and not committed when the session ended [from: mine, 2026-01-02]",
        "- Check whether the deploy went through: the session ends before its result [from: mine, 2026-01-02]",
        "- Commit `app.py`: changed and not committed when the session ended [from: mine, 2026-01-02]\n"
        "- Commit `app.py`: changed and not committed when the session ended",
    ],
)
def test_what_a_user_or_a_model_wrote_of_a_work_tree_is_told_on(tmp_path: Path, task: str) -> None:
    """Git shows what was changed, and neither a note that the user put below it nor how a deployment went."""
    world = World(tmp_path)
    world.knowledge("tasks.md", f"# Tasks\n\n## Open\n\n{task}\n")
    world.knowledge("facts.md", line("The port is 8080", "mine").replace("01-02", "01-03"))
    told = project_digest(world.paths, 4096, PROJECTS, APP, only=False)
    assert told is not None and task.partition("\n")[0].partition(" [from")[0] in told.text


def test_what_seems_outdated_says_so_and_gives_its_room_to_what_is_sure(tmp_path: Path) -> None:
    """An agent was told the old port as if it still held, with the new one beside it."""
    world = World(tmp_path)
    old, new = (
        line("The service must listen on port 8080", "mine"),
        line("The service must listen on port 9090", "below"),
    )
    sure = "".join(line(f"Release step {n} is plain {'x' * 60}", "mine") for n in "abcdef")
    world.knowledge("decisions.md", "# Decisions\n\n" + old + new + sure)
    whole = project_digest(world.paths, 4096, PROJECTS, APP, only=True)
    assert whole is not None
    assert "port 8080 (perhaps outdated) [from: " in whole.text and "port 9090 [from: " in whole.text
    short = project_digest(world.paths, len(whole.text.encode()) - 20, PROJECTS, APP, only=True)
    assert short is not None and short.dropped
    assert "port 8080" not in short.text and "Release step a" in short.text and "port 9090" in short.text
    workspace = workspace_of(world)
    decide(workspace, waiting(workspace, ("outdated",)), NO)
    kept = project_digest(world.paths, 4096, PROJECTS, APP, only=True)
    assert kept is not None and "perhaps" not in kept.text, "the user said that both hold"


@pytest.mark.parametrize("day", ["2026-02-02", "2026-05-05"])
def test_what_another_project_says_too_is_as_doubtful_as_in_review(tmp_path: Path, day: str) -> None:
    """A context called outdated what `review` had never offered, or what had been answered with no."""
    world = World(tmp_path)
    ports = "The service must listen on port 8080", "The service must listen on port 9090"
    rows = line(ports[0], "mine") + line(ports[1], "below").replace("01-02", "03-02")
    world.knowledge("decisions.md", "# Decisions\n\n" + rows + f"- {ports[0]} [from: theirs, {day}]\n")
    world.knowledge("questions.md", "# Questions\n\n" + line(ports[0], "mine"))  # the same words, of another category
    workspace = workspace_of(world)
    offered = [row.text for row in waiting(workspace, ("outdated",))]
    found = project_digest(world.paths, 4096, PROJECTS, APP, only=True)
    assert found is not None
    assert [text for text in ports if f"{text} (perhaps outdated)" in found.text] == offered
    assert found.text.count("perhaps") == len(offered)
    decide(workspace, waiting(workspace, ("outdated",)), NO)
    found = project_digest(world.paths, 4096, PROJECTS, APP, only=True)
    assert found is not None and "perhaps" not in found.text


def test_another_projects_questions_take_no_room_from_ones_own_facts(tmp_path: Path) -> None:
    """One client's questions are not the other's business."""
    world = World(tmp_path)
    world.knowledge("questions.md", "# Questions\n\n" + "".join(line(f"Q{n} {'x' * 90}?", "theirs") for n in range(90)))
    world.knowledge("facts.md", "# Facts\n\n" + "".join(line(f"mine {n}", "mine") for n in range(20)))
    found = project_digest(world.paths, 4096, PROJECTS, APP, only=False)
    assert found is not None
    assert found.shown["facts"] == 20
    assert "Q89" not in found.text and NOTE not in found.text
    assert len(found.text.encode()) <= 4096


@given(
    st.lists(st.tuples(st.sampled_from(SECTIONS), st.sampled_from([*PROJECTS, "x"]), st.integers(1, 300)), max_size=30),
    st.integers(300, 4096),
)
def test_bytes_are_kept_and_nothing_is_shown_twice(rows: list[tuple[str, str, int]], room: int) -> None:
    bullets: dict[str, list[object]] = {}
    for number, (section, source, length) in enumerate(rows):
        bullets.setdefault(section, []).extend(parse_bullets(line(f"n{number} " + "y" * length, source)))
    found = render_digest(bullets, room, near)  # type: ignore[arg-type]
    again = render_digest(bullets, room, near)  # type: ignore[arg-type]
    assert found == again
    if found is not None:
        assert len(found.text.encode()) <= room
        shown = [row for row in found.text.split("\n") if row.startswith("- ")]
        assert len(shown) == len(set(shown)) == sum(found.shown.values())
        assert found.dropped == len(rows) - len(shown)


def test_a_folder_is_told_from_one_whose_name_begins_alike() -> None:
    assert is_below("/srv/app/web", "/srv/app/")
    assert not is_below("/srv/application", "/srv/app")


def test_a_name_knows_every_folder_that_its_conversations_worked_in() -> None:
    """One of them alone would give one project's lines to the other."""
    entries: dict[str, dict[str, object]] = {
        "1": {"path": "/c/talk", "project": "/old", "at": "2026-01-01"},
        "2": {"path": "/d/talk", "project": "/new/", "at": "2026-01-02"},
        "3": {"path": "/s#1", "name": "goose/1", "project": "/g", "at": "2026-01-01"},
        "4": {"path": "/c/none", "project": 7, "status": "harvested"},
        "5": {"path": "/c/half", "project": "/h", "status": "harvested"},
        "6": {"path": "/d/half", "status": "harvested"},
        "7": {"path": "/c/grown", "project": "/h", "status": "harvested"},
        "8": {"path": "/c/grown", "status": "harvested"},
        "9": {"path": "/d/grown", "status": "harvest-failed"},
    }
    assert projects_of(entries) == {
        "talk": {"/old", "/new"},
        "goose/1": {"/g"},
        "half": {"/h", ""},
        "grown": {"/h"},
    }


def test_a_name_that_several_folders_share_may_be_anothers() -> None:
    known = Projects({"two": {"/a", "/b"}, "within": {"/a", "/a/web"}, "half": {"/a", ""}, "far": {"/b", "/c"}})

    def found(name: str) -> int:
        return nearness(parse_bullets(line("x", name)), known, Here("/a", frozenset({"/a", "/a/web"})))

    assert {name: found(name) for name in (*known, "unknown")} == {
        "two": OTHER,
        "within": OWN,
        "half": NONE,
        "far": OTHER,
        "unknown": NONE,
    }


def two_clients(tmp_path: Path, **more: dict[str, object]) -> World:
    """Client A and client B, each with one line of its own and one that both have said."""
    world = World(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    both = [line("Deploys run at night", "talk-b"), line("deploys run at night.", "talk-a")]
    rows = [line("A's secret fact", "talk-a"), line("B's fact", "talk-b"), *both]
    world.knowledge("facts.md", "# Facts\n\n" + "".join(rows))
    entries: dict[str, dict[str, object]] = {
        name * 64: {"path": f"/x/talk-{name}", "status": "harvested", "at": f"2026-01-0{at}", "items": {}}
        | {"deleted": False, "project": str(tmp_path / name)}
        for at, name in enumerate("ab", start=1)
    }
    write_ledger(world.paths, {**entries, **more})
    regenerate_digest(world.paths, 4096)
    return world


@pytest.mark.parametrize(
    ("wanted", "finisher", "times"),
    [
        ([("/w/shop", "commit:abc")], ("/w/copy", "commit:abc remote:example.com/acme/shop"), 1),
        ([("/w/shop", "commit:abc"), ("/w/copy", "commit:abc remote:example.com/acme/shop")], ("/w/shop", ""), 1),
        ([("/w/shop/api", "")], ("/w/shop", "commit:abc"), 1),
        ([("/w/shop/api", ""), ("/w/shop", "commit:abc")], ("/w/shop", "commit:abc"), 1),
        ([("/w/shop", "commit:abc")], ("", ""), 1),
        ([("/w/shop", "commit:abc"), ("/w/web", "commit:def")], ("/w/shop", "commit:abc"), 0),
        ([("/w/shop", ""), ("/w/web", "")], ("/w/shop", ""), 0),
    ],
)
def test_a_task_of_one_project_is_offered_as_finished_wherever_it_lies(
    world: World, wanted: list[tuple[str, str]], finisher: tuple[str, str], times: int
) -> None:
    """Finished in a clone, in the repository that was made around a folder, or in a chat without a folder, it was never
    offered; only one that another project has too is not."""
    task = "Ship the export as CSV"
    offer = {"offers": [{"kind": "finishes", "old": mark_of_text(task)}]}
    rows: dict[str, dict[str, object]] = {}
    for at, (root, key) in enumerate((*wanted, finisher)):
        place = {"project": root, "project_root": root, "project_key": key} if root else {}
        rows[f"{at}" * 64] = {"path": f"/x/talk-{at}", "status": "harvested", "at": f"2026-01-0{at + 1}", "items": {}}
        rows[f"{at}" * 64] |= {"deleted": False, **place, **(offer if at == len(wanted) else {})}
    write_ledger(world.paths, rows)
    world.knowledge("tasks.md", "## Open\n" + "".join(line(task, f"talk-{at}") for at in range(len(wanted))))
    assert len(waiting(workspace_of(world), ("finished",))) == times


def test_a_damaged_ledger_opens_no_fence(tmp_path: Path) -> None:
    """One client's words would stand in the other's conversation, and nobody would be told."""
    world = two_clients(tmp_path)
    mine = opened(world, "project", tmp_path)
    assert "B's fact" in prefix(mine, str(tmp_path / "b"))
    world.paths.ledger.write_text("{broken")
    for asked, cwd in ((str(tmp_path / "b"), tmp_path), ("", tmp_path / "b")):
        found = context(opened(world, "project", cwd), asked)
        assert found.prefix.text == ""
        assert [row for row in found.warnings if "ledger" in row and "nothing of the digest" in row]
        assert found.to_json()["warnings"] == list(found.warnings)
    shown = digest_show(mine, str(tmp_path / "b"))
    assert (shown.text, shown.injected) == ("", False)
    assert "ledger" in shown.why
    ordered = context(opened(world, "both", tmp_path), str(tmp_path / "b"))
    assert ordered.prefix.text == ""
    assert [row for row in ordered.warnings if "ledger" in row]
    world.paths.digest.unlink()
    silent = context(mine, str(tmp_path / "b"))
    assert silent.warnings == ()


def test_two_conversations_of_one_name_pass_no_fence(tmp_path: Path) -> None:
    """Two folders called alike: the newest harvest would make one's lines the other's."""
    clash = {"path": "/y/talk-a", "status": "harvested", "at": "2026-01-03", "items": {}, "deleted": False}
    world = two_clients(tmp_path, **{"c" * 64: {**clash, "project": str(tmp_path / "b")}})
    text = prefix(opened(world, "project", tmp_path), str(tmp_path / "b"))
    assert "B's fact" in text
    assert "A's secret fact" not in text
    assert prefix(opened(world, "project", tmp_path), str(tmp_path / "a")) == ""


def test_what_two_projects_said_does_not_bring_the_others_name_along(tmp_path: Path) -> None:
    """The provenance of a shared line names a conversation: in the fence that is its own."""
    world = two_clients(tmp_path)
    text = prefix(opened(world, "project", tmp_path), str(tmp_path / "b"))
    assert "Deploys run at night [from: talk-b" in text
    assert "talk-a" not in text
    assert "conversations)" not in text


def test_a_no_in_review_reaches_the_next_context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the user has settled would go on being told as doubtful, from a context that is kept ready."""
    monkeypatch.setattr(ready, "SETTLED_SECONDS", 0)
    later = {"path": "/x/later", "status": "harvested", "at": "2026-01-03", "items": {}, "deleted": False}
    world = two_clients(tmp_path, **{"c" * 64: {**later, "project": str(tmp_path / "b")}})
    ports = {8080: "talk-b", 9090: "later"}
    lines = [line(f"The service must listen on port {port}", name) for port, name in ports.items()]
    world.knowledge("decisions.md", "# Decisions\n\n" + "".join(lines))
    workspace, folder = opened(world, "project", tmp_path), str(tmp_path / "b")
    assert prefix(workspace, folder).count("(perhaps outdated)") == 1
    decide(workspace, waiting(workspace, ("outdated",)), NO)
    assert "port 8080" in prefix(workspace, folder) and "perhaps" not in prefix(workspace, folder)


def opened(world: World, scope: str, cwd: Path) -> Workspace:
    config = world.folder / "config.toml"
    config.write_text(f'[ai_settings.knowledge]\ndigest_scope = "{scope}"\n')
    return open_workspace(str(world.paths.home), config, {"HOME": str(world.folder)}, cwd)


def prefix(workspace: Workspace, project: str = "") -> str:
    found = context(workspace, project)
    return found.prefix.text


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
    assert "fact of one" in text and "fact of two" not in text
    assert prefix(opened(world, "both", tmp_path / "one")) == text
    assert "fact of two" not in prefix(opened(world, "project", tmp_path), str(tmp_path / "one"))
    whole = prefix(opened(world, "global", tmp_path), str(tmp_path / "one"))
    assert whole.index("fact of two") < whole.index("fact of one")
    assert prefix(opened(world, "global", tmp_path)) == whole
    new = tmp_path / "new"
    new.mkdir()
    for scope in ("both", "project"):
        assert prefix(opened(world, scope, new)) == "", "a new project begins with another one's words"
    shown = digest_show(opened(world, "project", tmp_path), str(tmp_path / "two"))
    assert "fact of one" not in shown.text


def test_without_a_digest_file_no_project_has_one(tmp_path: Path) -> None:
    """The file is the switch, for every project."""
    world = world_of_three(tmp_path)
    regenerate_digest(world.paths, 4096)
    mine = opened(world, "both", tmp_path)
    (tmp_path / "app").mkdir()
    assert "my fact" in prefix(mine, str(tmp_path / "app"))
    world.paths.digest.unlink()
    assert prefix(mine, str(tmp_path / "app")) == ""


# --- The projects of a large ledger are remembered; what is remembered is never older than the ledger.


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has to settle for seconds before it is kept."""
    monkeypatch.setattr(ready, "SETTLED_SECONDS", -3600.0)


def at_home(world: World) -> Workspace:
    return replace(workspace_of(world), environment={"XDG_CACHE_HOME": str(world.folder / "cache")})


def entries(number: int, folder: str) -> Entries:
    return {
        f"{one:064x}": {"path": f"/talks/talk-{one}", "status": "harvested", "project": f"{folder}/{one % 3}"}
        for one in range(number)
    }


def told(workspace: Workspace, rows: Entries, seconds: int) -> None:
    """A ledger that was written this many seconds after 1970."""
    write_ledger(workspace.paths, rows)
    os.utime(workspace.paths.ledger, (seconds, seconds))


def asked(workspace: Workspace) -> dict[str, Any]:
    found = projects.known_projects(workspace.paths, workspace.environment)
    return dict(found)


@pytest.mark.usefixtures("at_once")
def test_a_second_look_does_not_read_the_ledger(world: World) -> None:
    """Every prompt waited for it: most of a second, and hundreds of megabytes, with a hundred thousand entries."""
    workspace, rows = at_home(world), entries(20, "/work")
    rows["f" * 64] = {"path": "/talks/talk-0", "status": "harvested"}
    told(workspace, rows, 1000)
    assert asked(workspace) == projects_of(rows)
    with patch.object(projects, "seen_ledger", side_effect=AssertionError):
        assert asked(workspace) == projects_of(rows)


@pytest.mark.usefixtures("at_once")
def test_a_ledger_that_changed_is_read_again_also_with_the_same_time_and_size(world: World) -> None:
    """Or one project is shown the words of another."""
    workspace = at_home(world)
    told(workspace, entries(5, "/work"), 1000)
    asked(workspace)
    told(workspace, entries(5, "/home"), 1000)
    assert asked(workspace) == projects_of(entries(5, "/home"))


def test_what_was_written_just_now_is_not_remembered(world: World) -> None:
    workspace = at_home(world)
    write_ledger(workspace.paths, entries(5, "/work"))
    asked(workspace)
    assert not (cache_folder(workspace.paths.home, workspace.environment) / "projects").exists()


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("spoil", [b"", b"[]", b"{", b'{"ledger": 1}', b"\xff"])
def test_a_damaged_memory_is_made_anew(world: World, spoil: bytes) -> None:
    workspace = at_home(world)
    told(workspace, entries(5, "/work"), 1000)
    asked(workspace)
    cache = cache_folder(workspace.paths.home, workspace.environment) / "projects"
    good = json.loads(cache.read_bytes())
    cache.write_bytes(spoil)
    assert asked(workspace) == projects_of(entries(5, "/work")) and json.loads(cache.read_bytes()) == good
    cache.write_text(json.dumps({**good, "value": {**good["value"], "folders": []}}))
    assert asked(workspace) == projects_of(entries(5, "/work"))


def test_a_key_beside_a_folder_of_no_project_is_no_crash() -> None:
    """As a ledger that was mended by hand may have it."""
    entry = {"path": "/s/a.jsonl", "project": "/tmp", "project_key": "remote:host/app", "status": "harvested"}
    assert projects_of({"a": entry}) == {"a.jsonl": frozenset({projects.UNTOLD})}


def test_a_fact_that_no_file_can_be_called_by_is_no_crash(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.knowledge("facts.md", "# Facts\n\n- ~\0x: a byte that an editor left\n- /src/app.py: starts the shop\n")
    assert [row.bullet.text for row in notes(workspace_of(world), "/src/app.py").bullets] == [
        "/src/app.py: starts the shop"
    ]


def test_the_domains_of_thousands_of_projects_are_found_at_once() -> None:
    """4.6 seconds for 2,000, and four times as long for twice as many."""
    known = Projects()
    known.places = {f"/src/{at % 2}/app{at // 2}": "" for at in range(20_000)}
    begun = time.process_time()
    domains = [projects.domain_in(root, known) for root in known.places]
    assert time.process_time() - begun < 5
    assert domains[:2] == ["app0", "app0-" + domains[1][-6:]] and len(set(domains)) == 20_000
