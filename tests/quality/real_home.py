"""A home as its user has it, in a folder that goes again: real sessions, harvested by the rules and indexed, and asked
from outside, over the command line and by a client of the Model Context Protocol.

Sessions are copied from `../shared/corpus/conversations` under the same names, with the time at which they ended (files
of a clone are all as old as the clone), without the `.metadata.json` beside some of them, which no user has. The
folders that they were held in are not on this computer. That is no hindrance: whose a conversation is, the program
tells by the folder that the transcript names (`core/base/project.py` asks for names alone, and for a `.git` above
them), and a history that lies in its project (aider, SpecStory) belongs to the folder that it lies in. An agent works
in that folder, so its server is made as if it had been started there; an argument `project` with the folder's path is
refused for one that is not there, and with its name tells no more. A folder of Windows is no path elsewhere: on Linux
and macOS such a session can be asked for by nobody but the person.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from mcp import Client

from core.base.markdown import parse_bullets, sanitise_name
from core.commands.workspace import open_workspace
from core.conversations.conversation import Conversation
from core.conversations.read import read_all
from core.knowledge.projects import cited_name
from core.mcp_server.server import build_server
from core.search.query import WEAK
from core.search.words import folded
from tests.corpus import CORPUS

ROOT = Path(__file__).resolve().parents[2]
CONVERSATIONS = CORPUS / "conversations"
TOOLS = ("claude_code", "codex", "specstory", "aider", "cline", "opencode", "copilot_cli", "gemini_cli")
"""The folders of the corpus with whole sessions of coding tools; `format_fixtures` are reduced."""
UNTIMED = datetime(2025, 6, 1, tzinfo=UTC)
"""When a session ended that does not tell."""
SAME_BEGINNING = 60
"""A fact of the index and the bullet that it was made from begin with so many characters alike."""
SECONDS = 600
_FROM = re.compile(r"\[from: (?P<name>.*?)(?:, \d{4}(?:-\d\d)*)?\]")


class Hit(NamedTuple):
    """One hit as its reader gets it. `sessions` are the conversations that it is from (`RealHome.talks`): itself, or
    those of its provenance and of what confirms it. `turn` is counted from 1, 0 for what is no conversation. `weak`:
    the answer itself says that it has less than half of the words."""

    kind: str
    sessions: frozenset[str]
    turn: int
    text: str
    weak: bool


class Answer(NamedTuple):
    """An answer: its hits, best first, its length in characters as it was printed or sent, the seconds that it took (of
    a command those of the whole process), and what a refused call was told."""

    hits: tuple[Hit, ...]
    characters: int
    seconds: float
    refused: str = ""


def real_sessions() -> list[str]:
    """The sessions of the corpus, as paths below `conversations`."""
    found = [path for tool in TOOLS for path in (CONVERSATIONS / tool).rglob("*") if path.is_file()]
    return sorted(str(path.relative_to(CONVERSATIONS)) for path in found if not path.name.endswith(".metadata.json"))


def repository_of(session: str) -> str:
    """The repository (`owner__name`) that a session of the corpus was held in; sessions of several tools may share
    it."""
    return session.split("/")[1] if session.count("/") > 1 else ""


class RealHome:
    """A home below a folder that is empty yet. `talks` are the conversations that were put into it, by their paths as
    `put` was given them; those of an export have `#` and their id behind its path."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.talks = folder, dict[str, Conversation]()
        self.home, self._sessions = folder / "user" / ".manual_slop", folder / "sessions"
        person = folder / "user"
        person.mkdir(parents=True)
        self._environment = {
            "PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(ROOT), "HOME": str(person), "TZ": "UTC",
            "LANG": "C.UTF-8", "GIT_CEILING_DIRECTORIES": str(folder), "GIT_CONFIG_GLOBAL": os.devnull,
        }  # fmt: skip
        for name in ("CACHE", "CONFIG", "DATA", "STATE"):
            self._environment[f"XDG_{name}_HOME"] = str(person / name.lower())

    def put(self, session: str, data: bytes) -> None:
        """Leave a conversation where its tool would have left it."""
        path = self._sessions / session
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        found = read_all(path.name, data)
        self.talks |= {f"{session}#{talk.id}" if len(found) > 1 else session: talk for talk in found}
        times = [datetime.fromisoformat(talk.ended or talk.started) for talk in found if talk.ended or talk.started]
        at = max((one if one.tzinfo else one.replace(tzinfo=UTC) for one in times), default=UNTIMED).timestamp()
        os.utime(path, (at, at))

    def put_real(self, sessions: Iterable[str]) -> None:
        """Copy sessions of the corpus."""
        for session in sessions:
            self.put(session, (CONVERSATIONS / session).read_bytes())

    def harvest(self) -> None:
        """Harvest all of them by the rules, and read them for the search."""
        self.command("harvest", "--apply", "--quiet", "--source", str(self._sessions))
        self.command("search", "--build", "--quiet")

    def command(self, *words: str, cwd: Path | None = None) -> tuple[str, float]:
        """What a command prints, and its seconds. It must not fail."""
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "core", *words], cwd=cwd or self.folder, env=self._environment, timeout=SECONDS,
            capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"knowledge {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout, time.perf_counter() - began

    def search(self, question: str, *words: str, cwd: Path | None = None) -> Answer:
        """The answer of `knowledge search QUESTION --json`."""
        text, seconds = self.command("search", question, "--json", *words, cwd=cwd)
        return Answer(tuple(map(self._hit, json.loads(text))), len(text), seconds)

    def ask(self, folder: str, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Answer]:
        """The answers of tools to an agent that works in a folder, in one session of a client. A path of another system
        is none here, and "" none either: such an agent works in no project."""
        place = Path(folder if os.path.isabs(folder) else self.folder.anchor)
        workspace = open_workspace(str(self.home), None, self._environment, place)
        server = build_server(workspace)

        async def run() -> list[Answer]:
            answers = []
            async with Client(server) as client:
                for tool, given in calls:
                    began = time.perf_counter()
                    result = await client.call_tool(tool, dict(given))
                    seconds = time.perf_counter() - began
                    text = "".join(getattr(row, "text", "") for row in result.content)
                    hits = () if result.is_error else tuple(map(self._hit, json.loads(text)["hits"]))
                    answers.append(Answer(hits, len(text), seconds, text if result.is_error else ""))
            return answers

        return asyncio.run(asyncio.wait_for(run(), SECONDS))

    def same_session(self, session: str) -> dict[str, Conversation]:
        """The conversations of a file, with the other snapshots of its session."""
        own = {place: talk for place, talk in self.talks.items() if place.partition("#")[0] == session}
        ids = {(talk.format, talk.id) for talk in own.values() if talk.id != os.path.basename(session)}
        return own | {place: talk for place, talk in self.talks.items() if (talk.format, talk.id) in ids}

    @cached_property
    def folders(self) -> dict[str, str]:
        """The folder in which each harvested conversation was held, "" where nobody knows."""
        return {self._place(entry): entry.get("project", "") for entry in self._entries}

    @cached_property
    def _names(self) -> dict[str, str]:
        """How answers call a conversation -> which it is."""
        return {sanitise_name(cited_name(entry["name"])): self._place(entry) for entry in self._entries}

    @cached_property
    def _entries(self) -> list[dict[str, Any]]:
        loaded = json.loads((self.home / "knowledge" / "ledger.json").read_bytes())
        return [entry for entry in loaded["entries"].values() if "name" in entry]

    def _place(self, entry: Mapping[str, Any]) -> str:
        return str(entry["path"]).removeprefix(f"{self._sessions}/")

    @cached_property
    def _bullets(self) -> dict[str, frozenset[str]]:
        """How a bullet begins -> the conversations that it is from. A fact of the index does not tell its own."""
        found: dict[str, frozenset[str]] = {}
        for path in sorted((self.home / "knowledge").glob("*.md")):
            for bullet in parse_bullets(path.read_text(encoding="utf-8")):
                begins = folded(bullet.text)[:SAME_BEGINNING]
                found[begins] = found.get(begins, frozenset()) | self._cited(str(bullet.provenance or ""))
        return found

    def _hit(self, row: Mapping[str, Any]) -> Hit:
        """A hit of any answer: of a command or of a tool."""
        kind, text = row.get("kind", "conversation"), row.get("text") or ""
        sessions = self._cited(" ".join([row.get("provenance") or "", *row.get("confirmations", ())]))
        if kind == "conversation":
            name = sanitise_name(row.get("name") or row["key"])
            sessions = frozenset({self._names.get(name, name.removeprefix("files/"))})
        elif kind == "fact":
            sessions |= self._bullets.get(folded(text)[:SAME_BEGINNING], frozenset())
        return Hit(kind, sessions, row.get("turn") or 0, text, any(why.startswith(WEAK) for why in row["why"]))

    def _cited(self, provenances: str) -> frozenset[str]:
        """The conversations that provenances name."""
        return frozenset(self._names.get(found["name"], found["name"]) for found in _FROM.finditer(provenances))
