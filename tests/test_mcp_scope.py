"""An agent stays in its project: every tool and resource over a real client, two projects whose names begin alike, what
is the user's, and what is of no known project; with every argument that could widen it, with and without writes.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import ListRootsResult, Root

import tests.mcp_tools  # noqa: F401 - describes each tool once
from core import conversation_index
from core.commands.conversations import build
from core.commands.library.ingest import library_ingest
from core.commands.library.use import library_record, library_retrieve
from core.commands.memories import save
from core.commands.moment import worked
from core.commands.settings import trust_allow
from core.commands.workspace import Workspace, open_workspace
from core.knowledge.categories import read_text
from core.mcp_server.server import build_server
from tests.facts_home import claude_session, harvested
from tests.harvest_world import World, says
from tests.test_base_project import repository

OWN, OTHER, USERS, NOBODYS = "gannet", "heron", "plover", "whimbrel"
"""A bird for each whose lines, conversations, memories and documents speak of it: the project's, the other's, the
user's, and those of a conversation of which nobody knows the project."""
HIDDEN = (OTHER, NOBODYS, "shop-secret")
OF_THE_USER = (
    f"Feed the {USERS}", f"The {USERS} memory", f"The {USERS} harbour belongs", f"Every {USERS} of the harbour"
)  # fmt: skip


def talk(bird: str) -> str:
    """The name of a conversation that is over."""
    return f"{bird}-12345678-1234-4234-8234-123456789abc"


def at_home(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the world is the user's home directory."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(world.folder / {"HOME": ""}.get(name, name)))
    monkeypatch.setattr(conversation_index, "SETTLED_NS", 0)


@pytest.fixture
def birds(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A home with all of it."""
    at_home(world, monkeypatch)
    return filled(world)


SEEN: list[World] = []


@pytest.fixture
def seen(_folders: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """The same for tests that write nothing: made once."""
    world = SEEN[0] if SEEN else World(_folders / "birds")
    at_home(world, monkeypatch)
    if not SEEN:
        SEEN.append(filled(world))
    return world


def filled(world: World) -> World:
    """A home with all of it."""
    (world.paths.knowledge).mkdir(parents=True)
    world.knowledge("digest.md", "")
    for name, bird in (("shop", OWN), ("shop-secret", OTHER)):
        folder = world.folder / "src" / name
        (folder / ".git").mkdir(parents=True)
        (folder / "app.py").write_text(f"# {bird}\n")
        (folder / f"{bird}.md").write_text(f"# The {bird} guide\n\nThe {bird} nests on cliffs of the harbour.\n")
        mine = folder / ".manual_slop" / "knowledge"
        (mine / "memories").mkdir(parents=True)
        (mine / "context.md").write_text(f"---\nversion: 1\nupdated: 2026-06-12T09:00:00\n---\nThe {bird} context.\n")
        (mine / "memories/001-m.md").write_text(
            f"---\nid: 1\ncreated: '2026-06-12T09:00:00Z'\n---\nThe {bird} memory.\n"
        )
        trust_allow(workspace(world, f"src/{name}"))
        world.converse(claude_session(str(folder), f"Why does the {bird} harbour crash?"), talk(bird))
        harvested(
            world,
            says(
                facts=[f"The {bird} harbour listens on port 8080", "Everybody wears yellow boots"],
                decisions=[f"The {bird} harbour uses SQLite"],
                questions=[f"Why is the {bird} harbour slow?"],
                playbooks=[{"name": f"Clean the {bird} harbour", "steps": ["sweep", "rinse"]}],
                tasks_open=[f"Paint the {bird} harbour"],
                files=[{"path": f"{folder}/app.py", "note": f"starts the {bird} harbour"}],
            ),
        )
    elsewhere = claude_session("", f"Why does the {NOBODYS} harbour crash?")
    world.converse(elsewhere, talk(NOBODYS))
    harvested(world, says(facts=[f"The {NOBODYS} harbour is deep"], tasks_open=[f"Paint the {NOBODYS} harbour"]))
    world.converse(f"User: how is the {USERS} harbour?\n\nAssistant: calm\n", talk(USERS))
    harvested(world, says(facts=[f"The {USERS} harbour belongs to everybody"]))
    tasks = world.text("tasks.md").replace("## Done", f"- Feed the {USERS} at the harbour\n\n## Done")
    world.knowledge("tasks.md", tasks)
    here = workspace(world, "src/shop-secret")
    save(workspace(world), f"The {USERS} memory of the harbour")
    (world.folder / "papers").mkdir()
    (world.folder / f"papers/{USERS}.md").write_text(
        f"# The {USERS} paper\n\nEvery {USERS} of the harbour is counted.\n"
    )
    paths = [
        str(world.folder / place)
        for place in (f"src/shop/{OWN}.md", f"src/shop-secret/{OTHER}.md", f"papers/{USERS}.md")
    ]
    library_ingest(here, [*paths, str(world.paths.knowledge / "facts.md")])
    asked = library_retrieve(here, "harbour nests", session="s").retrieved
    for one in asked.dossiers:
        library_record(here, "s", [one.chunk.id], "debugging", "miss", notes=f"wrong about the {OTHER}")
    library_retrieve(here, f"why is the {OTHER} blue?")
    build(here)
    (world.folder / f"papers/{USERS}.md").unlink()  # what was taken in is the user's all the same
    (world.folder / f"src/shop-secret/{OTHER}.md").unlink()
    return world


def workspace(world: World, place: str = "", *, allowed: bool = False) -> Workspace:
    """The home as a program sees it that was started in a folder; with `allowed` by the user's word of all projects."""
    named = world.folder / "named.toml"
    named.write_text(f"[ai_settings.knowledge]\nmcp_all_conversations = {str(allowed).lower()}\n")
    environment = dict(os.environ)
    return open_workspace(str(world.paths.home), named, environment, world.folder / place)


def asked(server: Any, calls: list[tuple[str, Mapping[str, Any]]], roots: Any = None, mode: str = "auto") -> list[str]:
    """The answers of one session; a call of `""` reads a resource."""

    async def run() -> list[str]:
        said = []
        async with Client(server, list_roots_callback=roots, mode=mode) as client:
            for tool, given in calls:
                if tool:
                    made = await client.call_tool(tool, dict(given))
                    said.append("".join(getattr(row, "text", "") for row in made.content))
                else:
                    said.append((await client.read_resource(given["uri"])).contents[0].text)
        return said

    return asyncio.run(asyncio.wait_for(run(), 120))


def leaks(world: World, tool: str, given: Mapping[str, Any], said: str, hidden: tuple[str, ...] = HIDDEN) -> list[str]:
    """What an answer tells that it must not; what was asked is no news, nor where that leads."""
    plain = said.lower().replace(str(world.folder / "src/shop-secret").lower(), "")
    echoes = [given, *given.values(), *given.get("domains", ()), *given.get("paths", ())]
    for echo in sorted(map(str, echoes), key=len, reverse=True):
        plain = plain.replace(echo.lower().lstrip("~."), "")
    return [f"{tool} {given}: {said}"] if any(word in plain for word in hidden) else []


WORDS = "harbour"
PLAIN: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search_knowledge", {"query": WORDS, "limit": 50}),
    ("search_knowledge", {"query": "yellow boots", "limit": 50}),
    *(
        ("search_knowledge", {"query": WORDS, "kind": kind, "limit": 50})
        for kind in ("bullet", "note", "memory", "context", "fact")
    ),
    ("search_conversations", {"query": WORDS}),
    ("search_conversations", {}),
    ("recall_memory", {}),
    ("recall_memory", {"query": f"{OTHER} memory"}),
    ("list_memories", {}),
    ("get_facts", {"budget": 12_000}),
    ("get_context", {}),
    ("list_tasks", {}),
    ("retrieve", {"query": "nests on cliffs of the harbour", "limit": 50}),
    ("find", {"query": "plover of the harbour"}),
    ("reflect", {}),
    ("reflect", {"concept": OTHER}),
    ("", {"uri": "knowledge://digest"}),
    ("", {"uri": "knowledge://context"}),
)
"""What a tool is asked with no wish for more."""


def wider(world: World) -> list[tuple[str, dict[str, Any]]]:
    """Every argument that could widen an answer, tool by tool."""
    secret = str(world.folder / "src/shop-secret")
    link = world.folder / "src/shop/link"
    if not link.exists():
        link.symlink_to(secret)
    places = [
        secret,
        f"{secret}/",
        "shop-secret",
        "../shop-secret",
        f"{world.folder}/src/shop/../shop-secret",
        str(link),
        "SHOP-SECRET",
        "all",
        "/",
        "~",
        "~/src",
        "..",
        str(world.folder),
    ]
    tools: tuple[tuple[str, dict[str, Any]], ...] = (
        ("search_knowledge", {"query": WORDS}),
        ("search_conversations", {"query": WORDS}),
        ("read_conversation", {"name": talk(OTHER)}),
        ("recall_memory", {}),
        ("list_memories", {}),
        ("get_facts", {}),
        ("get_context", {}),
        ("get_file_notes", {"path": "app.py"}),
        ("list_tasks", {}),
    )
    calls = [(tool, {**given, "project": place}) for tool, given in tools for place in places]
    file = world.paths.conversations / talk(OTHER)
    for name in (file.name, str(file), OTHER, "talk", talk(NOBODYS)):
        calls.append(("read_conversation", {"name": name}))
        calls.append(("read_conversation", {"name": name, "all_projects": True}))
    calls.append(("search_conversations", {"query": WORDS, "all_projects": True}))
    calls += [("get_facts", {"domains": [name]}) for name in ("shop-secret", "unplaced")]
    calls += [("get_facts", {"domains": ["shop", "shop-secret"]})]
    for path in (f"{secret}/app.py", "../shop-secret/app.py", str(link / "app.py"), "~/src/shop-secret/app.py"):
        calls.append(("get_file_notes", {"path": path}))
    return calls


@pytest.mark.parametrize("allow_writes", [False, True])
def test_no_tool_tells_what_is_another_projects(birds: World, allow_writes: bool) -> None:
    """A server in one project read another's knowledge by eight of eight forms; one in `shop` must not even be told
    that there is a `shop-secret`."""
    server = build_server(workspace(birds, "src/shop"), allow_writes=allow_writes)
    answers = asked(server, list(PLAIN))
    for call, said in zip(PLAIN, answers, strict=True):
        assert not leaks(birds, *call, said)
    told = "".join(answers)
    for words in (
        f"The {OWN} harbour listens", f"The {OWN} context", f"The {OWN} memory", f"Paint the {OWN}",
        f"starts the {OWN}", f"The {OWN} nests", f"Why does the {OWN} harbour crash", *OF_THE_USER,
    ):  # fmt: skip
        assert words in told, f"{words} is told nowhere"
    calls = wider(birds)
    for call, said in zip(calls, asked(server, calls), strict=True):
        assert not leaks(birds, *call, said)
        assert '"notice"' not in said or call[0] != "read_conversation", f"{call}: {said}"


def test_whoever_switched_the_search_of_conversations_off_is_read_by_no_agent(birds: World) -> None:
    """Also by a server that was started before; and no word of them stays in the cache."""
    server = build_server(workspace(birds, "src/shop"))
    calls = [("search_conversations", {"query": WORDS}), ("search_conversations", {}), ("find", {"query": "crash"})]
    calls += [("read_conversation", {"name": talk(OWN)}), ("why", {"path": "app.py"})]
    before = asked(server, calls)
    assert sum(f"Why does the {OWN} harbour crash" in said for said in before) >= 4
    (birds.folder / "named.toml").write_text("[ai_settings.knowledge]\nsearch_conversations = false\n")
    assert not [said for said in asked(server, calls) if f"Why does the {OWN} harbour crash" in said]
    assert not list((birds.folder / "XDG_CACHE_HOME").rglob("conversations/search.db"))


def test_writing_stays_in_the_project_too(birds: World) -> None:
    """With --allow-writes nobody is asked: what an agent may not read it may not write, nor take into the library to
    read it there, nor count."""
    secret, before = birds.folder / "src/shop-secret", library_rows(birds)
    server = build_server(workspace(birds, "src/shop"), allow_writes=True)
    chunk = before["chunk"]
    link = birds.folder / "papers/link.md"
    link.symlink_to(secret / "app.py")
    taken = [
        str(secret / "app.py"),
        str(link),
        str(secret),
        "../shop-secret",
        "x://../../shop-secret/app.py",
        "~/src",
        "~",
        "/",
        str(birds.paths.home),
        str(birds.paths.knowledge / "facts.md"),
        str(birds.paths.conversations),
    ]
    calls: list[tuple[str, dict[str, Any]]] = [("ingest", {"paths": [path]}) for path in taken]
    calls += [
        ("save_memory", {"content": "x", "project": place}) for place in (str(secret), "shop-secret", "all", "..")
    ]
    calls += [
        ("record_usage", {"chunks": [chunk], "outcome": "win"}),
        ("record_usage", {"chunks": [chunk[:8]], "outcome": "win"}),
    ]
    for (tool, given), said in zip(calls, asked(server, calls), strict=True):
        assert '"notice"' not in said, f"{tool} {given}: {said}"
    assert library_rows(birds) == before and len(list((secret / ".manual_slop/knowledge/memories").iterdir())) == 1
    shop = birds.folder / "src/shop"
    (secret / "plan.md").write_text(f"# The {OTHER} plan\n\nThe {OTHER} harbour moves in autumn.\n")
    (shop / "docs").mkdir()
    (shop / "docs/plan.md").symlink_to(secret / "plan.md")
    (shop / "docs/all").symlink_to(secret)
    (shop / "docs/own.md").write_text(f"# The {OWN} plan\n\nThe {OWN} harbour stays.\n")
    (whole,) = asked(server, [("ingest", {"paths": [str(shop / "docs")]})])
    assert library_rows(birds)["counts"][0] == before["counts"][0] + 1, "its own alone, and nothing that a link names"
    assert OTHER not in asked(server, [("retrieve", {"query": "harbour moves"})])[0]
    (shop / "docs/plan.md").unlink()
    (shop / "docs/plan.md").write_text("no link any more\n")
    assert "autumn" not in asked(server, [("retrieve", {"query": f"where the {OTHER} harbour moves"})])[0]
    assert OWN in asked(server, [("retrieve", {"query": f"{OWN} harbour stays"})])[0], whole
    own = json.loads(asked(server, [("save_memory", {"content": "Boil the kettle", "project": "shop"})])[0])
    assert own["path"].startswith(str(birds.folder / "src/shop/.manual_slop"))
    took = json.loads(asked(server, [("ingest", {"paths": [str(birds.folder / "src/shop/app.py")]})])[0])
    assert took["count"] == 1, took


def test_how_things_served_is_told_and_written_of_the_own_project_alone(birds: World) -> None:
    """Any word that another project's line has named that line, and an agent marked it as misleading."""
    chunk = library_rows(birds)["chunk"]
    facts = birds.text("facts.md").split("\n")
    line = next(number for number, row in enumerate(facts, start=1) if f"The {OTHER} harbour listens" in row)
    foreign = [
        f"{OTHER} harbour", f"facts.md:{line}", "shop-secret:fact:001", chunk, f"{talk(OTHER)}:1", f"{talk(NOBODYS)}:1",
        f"The {OTHER} context", f"starts the {OTHER} harbour", f"Paint the {NOBODYS} harb",
    ]  # fmt: skip
    several = ["harbour", "starts the", "The nearest harbour to paint is where the boots are", *NOTES_AND_LISTS]
    server = build_server(workspace(birds, "src/shop"))
    before = uses(birds)
    for what, outcome in (*product(foreign, ("", "misleading")), *product(several, ("",))):
        [said] = asked(server, [("worked", {"what": [what], "outcome": outcome, "notes": "wrong"})])
        told = said.lower().replace(what.lower(), "").replace(what.lower().rpartition(":")[0] or "-", "")
        assert not [word for word in HIDDEN if word in told], f"{what}: {said}"
        if what in foreign:
            assert "written down" not in said and ("how it served" not in said or "not used yet" in said), said
    assert uses(birds) == before
    own = [f"The {OWN} harbour listens", f"starts the {OWN}", f"{talk(OWN)}:1", "shop:fact:001", f"Feed the {USERS}"]
    for what in own:
        [said] = asked(server, [("worked", {"what": what, "outcome": "win"})])  # one text stands for a list of one
        assert "written down for" in said, f"{what}: {said}"
    assert uses(birds) == before + len(own)
    place = workspace(birds).cache / "conversations"
    shutil.rmtree(place)
    place.write_text("no index can be kept here, so no folder of a conversation is known before it is read")
    birds.converse(claude_session(str(birds.folder / "src/shop-secret"), "It is new"), late := f"late-{talk(OTHER)}")
    [said] = asked(server, [("worked", {"what": [f"{late[:9]}:1"]})])
    assert "there is no conversation of that name" in said and late not in said
    (birds.folder / "named.toml").write_text("[ai_settings.knowledge]\nsearch_conversations = false\n")
    line_told, turn_told = asked(server, [("worked", {"what": [what]}) for what in (own[0], own[2])])
    assert "helped 2" in line_told and "helped" not in turn_told


def test_why_a_shared_line_misled_is_told_where_it_did(birds: World) -> None:
    """Two projects share the line; what was said of it in the one stood in the other."""
    line = "Everybody wears yellow boots"
    said = {"what": [line], "outcome": "misleading", "notes": f"the {OTHER} crew has red ones", "task": "debugging"}
    asked(build_server(workspace(birds, "src/shop-secret")), [("worked", said)] * 3)
    there, here = (
        asked(build_server(workspace(birds, f"src/{name}")), [("worked", {"what": [line]})])[0]
        for name in ("shop-secret", "shop")
    )
    assert "red ones" in there and "misled 3" in there
    assert "red ones" not in here and "misled 3" in here
    question = {"query": "an error: who wears yellow boots, everybody?"}
    there, here = (
        asked(build_server(workspace(birds, f"src/{name}")), [("find", question)])[0]
        for name in ("shop-secret", "shop")
    )
    assert "red ones" in there and "misled 3" in here and "red ones" not in here


def test_how_a_line_of_a_long_note_served_is_told_without_reading_the_note_for_each_line(
    birds: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a note of 4,000 lines an agent waited for six seconds."""
    reads: list[Path] = []
    monkeypatch.setattr(worked, "read_text", lambda path: (reads.append(path), read_text(path))[1])
    [note] = [path for path in birds.paths.knowledge.glob("files/*.md") if f"the {OWN} harbour" in path.read_text()]
    with note.open("a") as opened:
        opened.writelines(f"- the {OWN} starts in step {number}.\n" for number in range(300))
    call = ("worked", {"what": [f"the {OWN} starts in step 299."], "outcome": "win"})
    [said] = asked(build_server(workspace(birds, "src/shop")), [call])
    assert "written down for" in said and note in reads and len(reads) == len(set(reads))


NOTES_AND_LISTS = tuple(
    f"{file}.md:{number}"
    for file in ("facts", "decisions", "questions", "playbooks", "tasks")
    for number in (0, 3, 4, 5, 99)
)


def uses(world: World) -> int:
    """How many uses are written down, of whatever."""
    import sqlite3

    with sqlite3.connect(world.paths.experience) as database:
        return int(database.execute("SELECT count(*) FROM usage_trace").fetchone()[0])


def library_rows(world: World) -> dict[str, Any]:
    """How much there is in the library, and a chunk of each project."""
    import sqlite3

    with sqlite3.connect(world.paths.library) as database:
        database.execute("ATTACH DATABASE ? AS experience", (str(world.paths.experience),))
        count = [database.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ("document", "usage_trace")]
        chunk, own = (
            database.execute(f"SELECT id FROM chunk WHERE content LIKE '%{bird} nests%'").fetchone()[0]
            for bird in (OTHER, OWN)
        )
    return {"counts": count, "chunk": chunk, "own": own}


def test_a_part_of_a_document_is_read_by_its_id_where_it_may_be_told(seen: World) -> None:
    """An id of a session looks like it, and neither way leads into another project."""
    rows = library_rows(seen)
    calls = [("read", {"name": rows[name]}) for name in ("own", "chunk")]
    own, other = asked(build_server(workspace(seen, "src/shop")), calls)
    assert f"The {OWN} nests on cliffs" in own
    assert OTHER not in other and "there is no conversation of that name" in other


@pytest.mark.parametrize("place", ["", "/"])
def test_a_server_in_no_project_knows_what_is_the_users(seen: World, place: str) -> None:
    """One that was started in `~` or `/` told all projects."""
    calls = [*PLAIN, *wider(seen)]
    answers = asked(build_server(workspace(seen, place)), calls)
    for call, said in zip(calls, answers, strict=True):
        assert not leaks(seen, *call, said, (*HIDDEN, OWN))
    told = "".join(answers[: len(PLAIN)])
    for words in OF_THE_USER:
        assert words in told, f"{words} is told nowhere"


def test_find_in_no_project_looks_everywhere_only_where_the_user_allowed_it(seen: World) -> None:
    """It said "not indexed yet" to an agent whose server was started in the user's home directory."""
    words = ("find", {"query": f"{OWN} {NOBODYS} harbour"})
    [refused] = asked(build_server(workspace(seen)), [words])
    [told] = asked(build_server(workspace(seen, allowed=True)), [words])
    assert "not started in a project" in refused and "mcp_all_conversations" in refused
    assert "not indexed" not in refused and OWN not in refused
    assert OWN in told and NOBODYS in told


def test_an_agent_is_told_why_an_address_was_not_taken_in(seen: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: [(2, 1, 6, "", ("127.0.0.1", 443))])
    server = build_server(workspace(seen, "src/shop"), allow_writes=True)
    [said] = asked(server, [("ingest", {"paths": ["https://docs.example.org/guide"]})])
    assert '"count":0' in said.replace(" ", "") and "this address is not fetched" in said


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_server_in_no_project_asks_the_client_for_its_folders(seen: World, mode: str) -> None:
    """An editor starts one server for the user in their home directory, and knows which folder is open."""

    async def roots(_context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=one.as_uri()) for one in (seen.folder, seen.folder / "src/shop")])

    calls: list[tuple[str, dict[str, Any]]] = [
        ("list_tasks", {}),
        ("search_knowledge", {"query": WORDS}),
        ("search_conversations", {"query": WORDS}),
        ("", {"uri": "knowledge://context"}),
        ("get_facts", {"project": "shop-secret"}),
    ]
    *told, refused = asked(build_server(workspace(seen)), calls, roots, mode)
    assert all(OWN in said for said in told) and not [word for word in HIDDEN if word in "".join(told)]
    assert "no project of that name is known" in refused


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_prompt_is_of_the_open_folder_and_says_what_is_wrong(
    seen: World, mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A hand-off was refused until a resource had been read, and of any mistake the user read "Internal server
    error"."""

    async def roots(_context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=(seen.folder / "src/shop").as_uri())])

    async def run() -> list[str]:
        said = []
        async with Client(build_server(workspace(seen)), list_roots_callback=roots, mode=mode) as client:
            for name, given in (
                ("handoff", {"session": f"{talk(OWN)}:1"}),
                ("handoff", {"session": talk(OTHER)}),
                ("handoff", None),
                ("nothing", None),
            ):
                try:
                    made = await client.get_prompt(name, given)
                    said.append("".join(getattr(row.content, "text", "") for row in made.messages))
                except MCPError as refused:
                    said.append(str(refused))
        return said

    told, *refused = asyncio.run(asyncio.wait_for(run(), 120))
    assert OWN in told and not [word for word in HIDDEN if word in told]
    for said, why in zip(
        refused, ("no conversation of that name", "arguments: {'session'}", "prompt: nothing"), strict=True
    ):
        assert why in said, said
    assert not caplog.records, "a mistake is no traceback"


def test_more_is_told_where_the_user_allowed_it(seen: World) -> None:
    """One setting, and then only for whoever asks."""
    server = build_server(workspace(seen, "src/shop", allowed=True))
    secret = {"project": str(seen.folder / "src/shop-secret")}
    assert not [word for word in HIDDEN if word in "".join(asked(server, [PLAIN[0], ("list_tasks", {})]))]
    calls = [
        (tool, given | secret)
        for tool, given in (
            ("search_knowledge", {"query": WORDS}),
            ("search_conversations", {}),
            ("recall_memory", {}),
            ("list_memories", {}),
            ("get_facts", {}),
            ("get_context", {}),
            ("get_file_notes", {"path": "app.py"}),
            ("list_tasks", {}),
        )
    ]
    assert all(OTHER in said for said in asked(server, calls))
    everything = asked(server, [("search_knowledge", {"query": WORDS, "project": "all", "limit": 50})])[0]
    assert all(bird in everything for bird in (OWN, OTHER, USERS, NOBODYS))
    facts = asked(server, [("get_facts", {"project": "all"})])[0]
    assert all(bird in facts for bird in (OWN, OTHER, USERS, NOBODYS))


def test_an_empty_answer_says_why_to_an_agent_too(birds: World) -> None:
    """Not one that names other projects: there is nothing, nothing yet, or no such source."""
    (birds.folder / "src/new/.git").mkdir(parents=True)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search_knowledge", {"query": "zeppelin"}),
        ("search_conversations", {"query": "zeppelin"}),
        ("search_conversations", {"query": WORDS, "source": "nobody"}),
        ("search_knowledge", {"query": f'"{OWN} the harbour"'}),
        ("search_knowledge", {"query": f"{OWN} saxophone waterfall rainbow"}),
    ]
    known, spoken, source, phrase, weak = asked(build_server(workspace(birds, "src/shop")), calls)
    assert "what is known here was searched, and nothing says this" in known
    assert "1 conversation of this project was searched, and none says this" in spoken
    assert "there is no source 'nobody'" in source and "claude_code, codex" in source
    assert f'nothing says \\"{OWN} the harbour\\" as it stands' in phrase
    assert "weak: 1 of 4 words" in weak and "all hits are weak" in weak
    _, spoken, *_ = asked(build_server(workspace(birds, "src/new")), calls)
    assert "no conversation of this project has been indexed" in spoken


def test_a_server_as_a_client_starts_it(birds: World) -> None:
    """The same of a process of its own, over standard input and output."""
    import sys

    root = Path(__file__).resolve().parents[1]
    environment = {
        "PYTHONPATH": str(root),
        "PATH": "/usr/bin:/bin",
        "HOME": str(birds.folder),
        "XDG_CACHE_HOME": str(birds.folder / "cache"),
    }
    given = ["-m", "core", "mcp", "--home", str(birds.paths.home), "--allow-writes"]
    server = StdioServerParameters(
        command=sys.executable, args=given, cwd=str(birds.folder / "src/shop"), env=environment
    )
    calls = [PLAIN[0], ("list_tasks", {"project": "all"}), ("get_context", {}), ("save_memory", {"content": "Kettle"})]
    *answers, saved = asked(server, calls)
    told = "".join(answers)
    assert OWN in told and not [word for word in HIDDEN if word in told]
    assert "Saved memory" in saved, "as --allow-writes allows"


def check_apart(world: World, other: Path) -> None:
    """Notes and talks of `src/shop` are told there, those of `other` in no way."""
    shop = world.folder / "src" / "shop"
    for folder, bird in ((shop, OWN), (other, OTHER)):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "app.py").write_text(f"# {bird}\n")
        world.converse(claude_session(str(folder), f"Why does the {bird} harbour crash?"), talk(bird))
        harvested(world, says(files=[{"path": f"{folder}/app.py", "note": f"starts the {bird} harbour"}]))
    own: list[tuple[str, dict[str, Any]]] = [
        ("search_conversations", {"query": WORDS}),
        ("search_knowledge", {"query": WORDS}),
        ("get_file_notes", {"path": "app.py"}),
    ]
    others: list[tuple[str, dict[str, Any]]] = [
        ("read_conversation", {"name": talk(OTHER)}),
        ("get_file_notes", {"path": os.path.relpath(other / "app.py", shop)}),
        ("search_conversations", {"query": WORDS, "project": str(other)}),
    ]
    calls = own + others
    for call, said in zip(calls, asked(build_server(workspace(world, "src/shop")), calls), strict=True):
        assert not leaks(world, *call, said) and (call in others or OWN in said)


def test_a_plain_folder_whose_name_begins_alike_is_no_part_of_the_project(world: World) -> None:
    """Folders without a repository are told apart by their paths alone, whole names compared."""
    check_apart(world, world.folder / "src" / "shop-secret")


def test_a_repository_in_the_projects_folder_is_another_project(world: World) -> None:
    """A customer's repository that lies in one's own has conversations and notes of its own."""
    check_apart(world, repository(repository(world.folder / "src" / "shop") / "customer", commit="another"))


def test_what_another_project_said_about_a_file_of_this_one_is_not_told(world: World) -> None:
    """A note on a file outside of a conversation's own project becomes a fact that names it."""
    for name, bird in (("shop", OWN), ("shop-secret", OTHER)):
        folder = repository(world.folder / "src" / name, commit=name)
        (folder / "app.py").write_text(f"# {bird}\n")
        about = [world.folder / "src" / "shop" / "app.py", folder / "app.py"]
        world.converse(claude_session(str(folder), f"Why does the {bird} harbour crash?"), talk(bird))
        notes = [{"path": str(path), "note": f"starts the {bird} harbour"} for path in dict.fromkeys(about)]
        harvested(world, says(files=notes))
    assert f"shop/app.py: starts the {OTHER} harbour" in world.text("facts.md")
    call: tuple[str, dict[str, Any]] = ("get_file_notes", {"path": "app.py"})
    (said,) = asked(build_server(workspace(world, "src/shop")), [call])
    assert OWN in said and not leaks(world, *call, said)
