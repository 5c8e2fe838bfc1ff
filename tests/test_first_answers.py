"""What a client of the MCP server is told before the protocol's library is loaded, and what then comes from it."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra [mcp] is not installed")

from mcp import Client, StdioServerParameters

from core.cli import first_answers, kept_context
from core.cli.first_answers import FirstAnswers
from tests.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[1]
HELLO: dict[str, Any] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "a client", "version": "1"},
}
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="answers are kept on Linux only")


def asks(number: object, method: str, **params: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, **({"params": params} if params else {})}


OPENED = asks(0, "initialize", **HELLO)
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LISTED = asks(1, "tools/list")


# --- a client, a stand-in for the library, and what stands between them ----------------------------------------------


class Between:
    """Both ends of one session: what the client says and gets, what the library reads and writes."""

    def __init__(self, place: Path) -> None:
        (in_read, self.to_us), (self.from_us, out_write) = os.pipe(), os.pipe()
        for pipe in (self.to_us, self.from_us):  # nobody reads at the other end while a test writes
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 1 << 19)
        self.given = FirstAnswers(str(place), ["asked"], in_read, out_write)

    def say(self, *lines: object) -> None:
        for line in lines:
            os.write(self.to_us, (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n")

    def read_all(self) -> list[bytes]:
        """What the library reads until the client has gone."""
        os.close(self.to_us)
        data = b""
        while part := self.given.next_lines(100):
            data += part
        return data.splitlines()

    def answer(self, *rows: object) -> None:
        for row in rows:
            self.given.write(json.dumps(row).encode() + b"\n")

    def got(self) -> list[Any]:
        """What came to the client so far."""
        os.set_blocking(self.from_us, False)
        try:
            return [json.loads(line) for line in os.read(self.from_us, 1 << 20).splitlines()]
        except BlockingIOError:
            return []


def result(number: object, **fields: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": fields}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where answers are kept; one file stands for all that they are made by, and it has settled."""
    code = tmp_path / "code.py"
    code.write_text("one")
    os.utime(code, (1, 1))
    monkeypatch.setattr(first_answers, "_made_by", lambda: [str(code)])
    monkeypatch.setattr(kept_context, "SETTLED_SECONDS", -60.0)
    return tmp_path / "kept" / "slot"


HI, ONE = result(0, says="hello"), result(1, tools=["one"])


def told(place: Path, *lines: object) -> tuple[Between, list[bytes]]:
    """A session in which the client says these lines and goes; what the library has read of them."""
    between = Between(place)
    between.say(*lines)
    between.given.begin()
    return between, between.read_all()


@pytest.fixture
def learnt(place: Path) -> Path:
    """Where one session has kept two answers."""
    first, read = told(place, OPENED, READY, LISTED)
    assert len(read) == 3
    first.answer(HI, ONE)
    assert first.got() == [HI, ONE]
    return place


def test_the_same_opening_is_answered_at_once_and_once(learnt: Path) -> None:
    second = Between(learnt)
    named = {**HELLO, "clientInfo": {"name": "another", "version": "2"}}
    second.say(asks("a", "initialize", **named), READY, asks("b", "tools/list"))
    second.given.begin()
    lines = []
    while len(lines) < 2:
        lines += second.got()
    assert lines == [{**HI, "id": "a"}, {**ONE, "id": "b"}]
    read = [json.loads(line).get("method") for line in second.read_all()]
    assert read == ["initialize", "notifications/initialized", "tools/list"]
    ours = {"jsonrpc": "2.0", "id": "b", "method": "elicitation/create"}
    note = {"jsonrpc": "2.0", "method": "notifications/message"}
    second.answer(note, ours, {**HI, "id": "a"}, {**ONE, "id": "b"}, result("c", text="a call"))
    assert second.got() == [note, ours, result("c", text="a call")]


def test_an_answer_that_is_another_by_now_is_given_no_second_time(learnt: Path) -> None:
    told(learnt, OPENED)[0].answer(result(0, says="something else"))
    assert told(learnt, OPENED)[0].got() == [result(0, says="something else")]


@pytest.mark.parametrize(
    "before",
    [
        [b"{broken"],
        [b""],
        [json.dumps([OPENED, LISTED]).encode()],  # a batch
        [LISTED],  # before it is opened
        [READY],
        [asks(None, "initialize", **HELLO)],
        [asks(True, "initialize", **HELLO)],
        [{**OPENED, "method": ["initialize"]}],
        [{**OPENED, "method": {}}],
        [asks(0, "initialize", **{**HELLO, "protocolVersion": "2024-11-05"})],
        [asks(0, "initialize", **{**HELLO, "clientInfo": {"name": 1, "version": "1"}})],
        [json.dumps(OPENED).replace('"id": 0', '"id": 0, "id": 0').encode()],
        [json.dumps(OPENED).replace(", ", ",\r ").encode()],
        [json.dumps(OPENED).encode("utf-16-le")],
        [json.dumps(OPENED).encode() + b" " * (1 << 16)],
        [{**OPENED, "more": 1}],
        [asks(0, "tools/call", name="get_context")],
    ],
    ids=lambda lines: f"{lines[0]}"[:60],
)
def test_whatever_is_unusual_waits_for_the_library_with_all_that_follows(learnt: Path, before: list[object]) -> None:
    second, read = told(learnt, *before, asks(5, "initialize", **HELLO), asks(6, "tools/list"))
    assert second.got() == []
    assert json.loads(read[-2])["id"] == 5 and json.loads(read[-1])["id"] == 6
    second.answer({**HI, "id": 5}, {**ONE, "id": 6})
    assert second.got() == [{**HI, "id": 5}, {**ONE, "id": 6}]


@pytest.mark.parametrize(
    "between",
    [
        asks(1, "tools/call", name="get_context"),
        asks(0, "ping"),  # a number that was given already
        asks(1, "prompts/list", cursor="x"),  # never asked before
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}},
        OPENED,
    ],
    ids=str,
)
def test_nothing_overtakes_a_line_that_waits_for_the_library(learnt: Path, between: object) -> None:
    second, read = told(learnt, OPENED, between, asks(9, "tools/list"))
    assert len(read) == 3 and second.got() == [HI]
    second.answer(HI, {**ONE, "id": 9})
    assert second.got() == [{**ONE, "id": 9}]


@pytest.mark.parametrize("damage", ["file", "text", "answer", "half a character", "mode", "link"])
def test_kept_answers_that_cannot_be_trusted_are_not_used(learnt: Path, tmp_path: Path, damage: str) -> None:
    """A file of the program changed, or what is kept is damaged or somebody else could have written it."""
    place = learnt
    if damage == "file":
        (tmp_path / "code.py").write_text("two")
    elif damage == "text":
        place.write_bytes(place.read_bytes()[:-9])
    elif damage in ("answer", "half a character"):
        kept, text = json.loads(place.read_bytes()), "{" if damage == "answer" else '{"says":"\\ud800"}'
        kept["openings"] = {name: dict.fromkeys(rows, text) for name, rows in kept["openings"].items()}
        place.write_text(json.dumps(kept))
    elif damage == "mode":
        place.chmod(0o666)
    else:
        place.rename(tmp_path / "elsewhere")
        place.symlink_to(tmp_path / "elsewhere")
    second, _ = told(place, OPENED)
    assert second.got() == []
    second.answer(HI)
    assert second.got() == [HI]


def test_requests_that_are_named_anew_each_time_do_not_pile_up(learnt: Path) -> None:
    """What is kept is read at every start: a client that numbers its requests would make each slower than the last."""
    for session in range(3):
        asked = [asks(n, "tools/list", _meta={"progressToken": f"{session}-{n}"}) for n in range(1, 11)]
        told(learnt, OPENED, *asked)[0].answer(HI, *({**ONE, "id": n} for n in range(1, 11)))
    (kept,) = json.loads(learnt.read_bytes())["openings"].values()
    assert len(kept) == first_answers.REQUESTS
    assert told(learnt, OPENED, LISTED)[0].got()[0] == HI


def test_an_error_is_told_and_not_kept(place: Path) -> None:
    wrong = {"jsonrpc": "2.0", "id": 0, "error": {"code": -32602, "message": "no"}}
    for _ in range(2):
        session, _ = told(place, OPENED)
        assert session.got() == []
        session.answer(wrong)
        assert session.got() == [wrong]


def test_a_client_that_has_gone_does_not_keep_the_library_waiting(learnt: Path) -> None:
    second = Between(learnt)
    os.close(second.from_us)
    second.say(OPENED, LISTED)
    second.given.begin()
    assert len(second.read_all()) == 2
    with pytest.raises(OSError):
        second.answer(HI)


def test_a_long_line_comes_whole_from_both_sides(learnt: Path) -> None:
    long = asks(7, "tools/call", text="x" * 60_000)
    second, read = told(learnt, OPENED, long)
    assert json.loads(read[1]) == long
    second.answer(HI)
    second.got()
    second.given.write(b'{"jsonrpc":"2.0","id":7,')
    assert second.got() == []
    second.given.write(b'"result":{"text":"' + b"y" * 60_000 + b'"}}\n')
    assert second.got() == [result(7, text="y" * 60_000)]


# --- the real program ------------------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home/knowledge").mkdir(parents=True)
    (tmp_path / "home/knowledge/facts.md").write_text("# Facts\n\n- The server listens on port 8080\n")
    return tmp_path / "home"


def environment(home: Path) -> dict[str, str]:
    folder = str(home.parent)
    return {"PYTHONPATH": str(ROOT), "HOME": folder, "XDG_CACHE_HOME": folder, "XDG_CONFIG_HOME": folder, "PATH": ""}


def served(home: Path, *lines: dict[str, Any]) -> tuple[int, dict[Any, Any], str]:
    """One process that is told these lines and left when all requests have their answers: exit status, answers by id,
    what it says beside."""
    with subprocess.Popen(
        [sys.executable, "-m", "core", "mcp", "--home", str(home)], env=environment(home), cwd=home.parent,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdin.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        process.stdin.flush()
        rows: list[Any] = []
        while len(rows) < sum("id" in line for line in lines) and (line := process.stdout.readline()):
            rows.append(json.loads(line))
        process.stdin.close()
        rows += map(json.loads, process.stdout)
        told = process.stderr.read().decode()
    assert len({row.get("id") for row in rows}) == len(rows), "one answer for each request"
    return process.returncode, {row.get("id"): row for row in rows}, told


def planted(home: Path) -> None:
    """Change what is kept, so that whoever gets it can be told."""
    (place,) = (home.parent / "manual_slop/knowledge/start").iterdir()
    place.write_bytes(place.read_bytes().replace(b'\\"title\\":\\"Knowledge\\"', b'\\"title\\":\\"Kept\\"'))


def title_of(answers: dict[Any, Any]) -> str:
    return str(answers[0]["result"]["serverInfo"]["title"])


def test_a_second_start_says_what_the_first_said_and_heals_what_is_wrong(home: Path) -> None:
    lines = (OPENED, READY, LISTED, asks(2, "resources/list"), asks(3, "prompts/list"), asks(4, "tools/nothing"))
    first = served(home, *lines)
    assert first[0] == 0 and first[1].keys() == {0, 1, 2, 3, 4} and "Traceback" not in first[2]
    planted(home)
    code, answers, told = served(home, *lines)
    assert title_of(answers) == "Kept"  # it was answered before anybody could look it up
    answers[0]["result"]["serverInfo"]["title"] = "Knowledge"
    assert (code, answers, told) == first
    assert served(home, *lines) == first
    # other settings are not answered out of the cache
    planted(home)
    settings = home.parent / "manual_slop/config.toml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text("[ai_settings.knowledge]\njobs = 3\n")
    assert title_of(served(home, OPENED)[1]) == "Knowledge"
    settings.write_text("[ai_settings.knowledge]\njobs = 'many'\n")
    code, answers, told = served(home, OPENED)
    assert code == 1 and not answers and "jobs" in told


def test_a_real_client_gets_its_tools_from_what_is_kept_and_its_calls_from_the_library(home: Path) -> None:
    asked = StdioServerParameters(
        command=sys.executable, args=["-m", "core", "mcp", "--home", str(home)], cwd=str(home.parent),
        env=environment(home),
    )  # fmt: skip

    async def whole() -> tuple[str | None, list[str], str]:
        async with Client(asked) as client:
            tools = await client.list_tools()
            told = await client.call_tool("search_knowledge", {"query": "port"})
            named = client.server_info.title if client.server_info else None
            return named, [tool.name for tool in tools.tools], str(told.structured_content["hits"][0]["text"])

    first = asyncio.run(asyncio.wait_for(whole(), PATIENCE_SECONDS))
    assert first[0] == "Knowledge" and "search_knowledge" in first[1] and "port 8080" in first[2]
    planted(home)
    assert asyncio.run(asyncio.wait_for(whole(), PATIENCE_SECONDS)) == ("Kept", *first[1:])
