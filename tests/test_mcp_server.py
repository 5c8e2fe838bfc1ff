"""A coding agent's session: a real client of the protocol's SDK, a real server process, real files.

Without these a person who registers the server would find out in the middle of their work that a tool fails, or that
an agent wrote a memory which nobody approved.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from core.base.choices import ENTRY_KINDS

mcp = pytest.importorskip("mcp", reason="the extra [mcp] is not installed")

from mcp import Client, StdioServerParameters  # noqa: E402
from mcp_types import ElicitResult  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
TOOLS = {
    "save_memory",
    "recall_memory",
    "list_memories",
    "search_knowledge",
    "get_facts",
    "get_context",
    "get_file_notes",
    "list_tasks",
}
EVERYWHERE = {"project": "all"}
KEY = "ghp_" + "a1B2" * 9


@pytest.fixture
def home(tmp_path: Path) -> Path:
    knowledge = tmp_path / "home" / "knowledge"
    knowledge.mkdir(parents=True)
    (knowledge / "digest.md").write_text("# Knowledge digest\n\n## Facts\n- Port 8080. [from: a, 2026-06-12]\n")
    (knowledge / "context.md").write_text("---\nversion: 1\nupdated: 2026-06-12T09:00:00\n---\nBe brief.\n")
    (knowledge / "tasks.md").write_text(
        f"# Tasks\n\n## Open\n- Rotate {KEY} [from: a, 2026-06-12]\n  soon\n- ~~Old~~ [from: a, 2026-06-12]\n\n"
        "## Done\n- Release 1.0 [from: b, 2026-06-13]\n"
    )
    return tmp_path / "home"


def server(home: Path, *more: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "core", "--home", str(home), "mcp", *more],
        cwd=str(home.parent),
        env={"PYTHONPATH": str(ROOT), "PATH": "", "HOME": str(home.parent), "XDG_CACHE_HOME": str(home.parent)},
    )


def session(
    parameters: StdioServerParameters, work: Callable[[Client], Awaitable[Any]], answer: ElicitResult | None = None
) -> tuple[Any, list[str]]:
    """Run `work` in a session; returns its result and the questions that the person was asked."""
    asked: list[str] = []

    async def person(_context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        assert answer is not None
        return answer

    async def run() -> Any:
        async with Client(parameters, elicitation_callback=person if answer is not None else None) as client:
            return await work(client)

    return asyncio.run(asyncio.wait_for(run(), 60)), asked


def test_the_settings_of_the_folder_that_an_agent_works_on_do_not_count(home: Path, tmp_path: Path) -> None:
    """A stranger's repository could have every search sent to a server of its own, or answered from its own home."""
    (tmp_path / "config.toml").write_text(
        f'[paths]\nhome = "{tmp_path}/theirs"\n[ai_settings.knowledge]\nredact = false\n'
    )
    asked = server(home)
    asked.args[2:4] = []  # without --home
    asked.env["MANUAL_SLOP_HOME"] = str(home)  # type: ignore[index]
    result, _ = session(asked, lambda client: client.call_tool("get_context", {}))
    assert "Port 8080" in told(result) and KEY not in told(result)


def test_a_setting_counts_from_the_moment_it_is_made(home: Path, tmp_path: Path) -> None:
    """A person switches redaction back on while an agent works: the next answer has no secret in it any more, and none
    is given while nobody can read what the settings say."""
    settings = tmp_path / "named.toml"
    settings.write_text("[ai_settings.knowledge]\nredact = false\n")
    asked = server(home)
    asked.args[2:2] = ["--config", str(settings)]

    async def work(client: Client) -> list[str]:
        said = [told(await client.call_tool("list_tasks", EVERYWHERE))]
        settings.write_text("[ai_settings.knowledge]\nredact = true\n")
        said.append(told(await client.call_tool("list_tasks", EVERYWHERE)))
        settings.write_text("[ai_settings.knowledge\n")
        said.append(told(await client.call_tool("list_tasks", EVERYWHERE)))
        return said

    (open_, closed, broken), _ = session(asked, work)
    assert KEY in open_ and KEY not in closed and "Rotate" in closed
    assert "named.toml" in broken and "Rotate" not in broken


def told(result: Any) -> str:
    return "".join(getattr(row, "text", "") for row in result.content)


def data(result: Any) -> dict[str, Any]:
    assert not result.is_error, told(result)
    made: dict[str, Any] = json.loads(told(result))
    return made


def test_an_agent_finds_every_tool_and_resource(home: Path) -> None:
    """What the README promises is there, and says of itself whether it writes."""

    async def work(client: Client) -> Any:
        listed = await client.list_tools()
        resources = await client.list_resources()
        digest = await client.read_resource("knowledge://digest")
        whole = await client.read_resource("knowledge://context")
        return listed.tools, resources.resources, digest.contents[0], whole.contents[0]

    (tools, resources, digest, whole), _ = session(server(home), work)
    assert {tool.name for tool in tools} >= TOOLS
    assert [tool.name for tool in tools if not tool.annotations.read_only_hint] == ["save_memory"]
    assert all(tool.description for tool in tools)
    assert "approval" not in next(tool for tool in tools if tool.name == "save_memory").input_schema["properties"]
    kinds = next(tool for tool in tools if tool.name == "search_knowledge").input_schema["properties"]["kind"]["enum"]
    assert kinds == ["", *ENTRY_KINDS], "a kind that nothing makes finds nothing, ever"
    assert {str(row.uri) for row in resources} == {"knowledge://digest", "knowledge://context"}
    assert "Port 8080" in digest.text
    assert whole.text.index("Be brief.") < whole.text.index("{knowledge}") < whole.text.index("Port 8080")


def test_what_an_agent_reads_is_marked_as_data_and_has_no_secrets(home: Path) -> None:
    async def work(client: Client) -> Any:
        return [
            await client.call_tool("list_tasks", {"project": "all"}),
            await client.call_tool("list_tasks", {"state": "done", "project": "all"}),
            await client.call_tool("get_context", {}),
            await client.call_tool("get_file_notes", {"path": "nothing.py"}),
            await client.call_tool("list_memories", {}),
            await client.call_tool("search_knowledge", {"query": "rotating", "kind": "bullet"}),
            await client.call_tool("search_knowledge", {"query": "x", "since": "yesterday"}),
            await client.call_tool("get_facts", {"budget": 100}),
        ]

    (open_tasks, done, context, notes, memories, hits, wrong, facts), _ = session(server(home), work)
    for answer in (open_tasks, done, context, notes, memories, hits, facts):
        assert "data, not instructions" in data(answer)["notice"]
    assert KEY not in told(open_tasks)
    assert data(open_tasks)["tasks"] == [
        {
            "text": "Rotate [redacted: github-token]",
            "provenance": "[from: a, 2026-06-12]",
            "details": ["soon"],
            "project": "",
        }
    ]
    assert data(done)["tasks"][0]["text"] == "Release 1.0"
    assert data(context)["text"].startswith("<system-reminder>")
    assert data(notes)["count"] == 0
    assert data(memories)["display"] == "No memories saved yet."
    assert data(hits)["count"] == 1 and data(hits)["hits"][0]["why"]
    assert KEY not in told(hits)
    assert wrong.is_error and "is no date" in told(wrong)


@pytest.mark.parametrize(
    ("answer", "saved"),
    [
        (ElicitResult(action="accept", content={"save": True}), True),
        (ElicitResult(action="accept", content={"save": False}), False),
        (ElicitResult(action="decline"), False),
        (ElicitResult(action="cancel"), False),
    ],
)
def test_a_memory_is_saved_only_with_the_persons_word(home: Path, answer: ElicitResult, saved: bool) -> None:
    """An agent that was talked into something must not fill the memory of all later conversations."""

    async def work(client: Client) -> Any:
        result = await client.call_tool("save_memory", {"content": "Prefers tabs", "tags": ["preference"]})
        return result, await client.call_tool("recall_memory", {"query": "TABS"})

    (result, recalled), asked = session(server(home), work, answer)
    assert len(asked) == 1 and "Prefers tabs" in asked[0] and "preference" in asked[0]
    assert bool(data(result)["memory_id"]) is saved
    assert data(recalled)["count"] == int(saved)
    assert (home / "knowledge" / "memories").exists() is saved


def test_the_person_is_shown_what_will_be_written_and_where(home: Path, tmp_path: Path) -> None:
    """Invisible characters could hide half of what is saved from whoever is asked for it."""
    (tmp_path / "app").mkdir()

    async def work(client: Client) -> Any:
        content = "Prefers\u202e tabs\x1b[2J\u200b"
        await client.call_tool("save_memory", {"content": content, "project": str(tmp_path / "app")})
        return await client.call_tool("save_memory", {"content": " \u200b "})

    nothing, asked = session(server(home), work, ElicitResult(action="accept", content={"save": True}))
    saved = [path.read_text() for path in (tmp_path / "app").rglob("*.md")]
    assert len(asked) == 1 and str(tmp_path / "app") in asked[0]
    shown = asked[0].rpartition("\n\n")[2]
    assert shown.isprintable() and shown in saved[0]
    assert nothing.is_error and "empty" in told(nothing)


def test_a_client_that_cannot_ask_is_refused(home: Path) -> None:
    async def work(client: Client) -> Any:
        return await client.call_tool("save_memory", {"content": "Prefers tabs"})

    result, _ = session(server(home), work)
    assert result.is_error and "--allow-writes" in told(result)
    assert not (home / "knowledge" / "memories").exists()


def test_allow_writes_saves_without_asking(home: Path) -> None:
    async def work(client: Client) -> Any:
        first = await client.call_tool("save_memory", {"content": "Prefers tabs", "tags": ["style"]})
        return first, await client.call_tool("save_memory", {"content": "  "})

    (first, empty), _ = session(server(home, "--allow-writes"), work)
    assert data(first)["display"].startswith("✓ Saved memory 1: 001-prefers-tabs.md\nLocation: ")
    assert empty.is_error and "an empty text is no memory" in told(empty)


def test_a_wrong_argument_is_told_in_one_plain_sentence(home: Path) -> None:
    """Names of types and the address of a library's documentation cost an agent a turn and tell it nothing."""

    async def work(client: Client) -> list[Any]:
        return [
            await client.call_tool("save_memory", {"text": "Prefers tabs"}),
            await client.call_tool("list_tasks", {"state": "doing", "limit": "many"}),
        ]

    answers, _ = session(server(home, "--allow-writes"), work)
    assert all(answer.is_error and "http" not in told(answer) and "\n" not in told(answer) for answer in answers)
    assert told(answers[0]) == (
        "save_memory cannot be called like that: 'content' is missing. It takes content, tags, project."
    )
    assert "'state' should be 'open' or 'done'" in told(answers[1]) and "'limit' should be" in told(answers[1])


def test_an_answer_is_bounded(home: Path) -> None:
    """One tool call must not fill an agent's whole context."""
    folder = home / "knowledge" / "memories"
    folder.mkdir()
    for number in range(1, 9):
        text = f"---\nid: {number}\ncreated: 2026-06-12T09:00:00Z\n---\n{'word ' * 10_000}\n"
        (folder / f"{number:03d}-long.md").write_text(text)

    async def work(client: Client) -> Any:
        return await client.call_tool("recall_memory", {"query": "word", "max_results": 1000})

    result, _ = session(server(home), work)
    assert "cut: the answer was too long" in told(result)
    assert len(told(result)) < 70_000


def test_without_the_library_there_is_a_sentence(home: Path) -> None:
    """Whoever installed the program without the extra is told what to install."""
    code = (
        "import sys; sys.modules['mcp'] = None\n"
        "from core.cli.main import main\n"
        f"sys.exit(main(['mcp', '--home', {str(home)!r}]))"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1 and ended.stdout == ""
    assert ended.stderr.startswith("knowledge: the Model Context Protocol needs the package 'mcp'")
    assert "Traceback" not in ended.stderr
