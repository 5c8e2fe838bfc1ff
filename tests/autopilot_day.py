"""A day on which sessions end and nobody waits for a harvest: the home, its models, and what a test does there."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.base.answer import Answer
from core.base.result import KnowledgeError
from core.commands.daily import connect as connect_room
from core.commands.daily.autopilot import Autopilot, read_autopilot, run_by_itself
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.workspace import Workspace, open_workspace
from core.harvest.report import HarvestReport

START = datetime(2026, 11, 20, 8, 0, tzinfo=UTC)
WORDS = "amber birch cedar delta ember fjord grove heath inlet jetty knoll larch marsh notch orchard pine quartz ridge"


class Model:
    """Answers with one fact for each thing that was said in the conversation, in other words each time; counts what it
    was paid for. `down` plays a server that nobody answers at."""

    def __init__(self) -> None:
        self.down = False
        self.calls = self.tokens = 0
        self.lock = threading.Lock()

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        with self.lock:
            if self.down:
                raise KnowledgeError("unreachable", "the model server cannot be reached", hint="start it")
            self.calls += 1
            inside = prompt.rpartition("<conversation>")[2]
            new = inside.rpartition("[What stands above")[2] or inside
            topics = [word.strip(".?") for word in new.split() if word.startswith("topic-")]
            facts = [
                {"statement": f"The {topic} is settled as of round {self.calls}"} for topic in dict.fromkeys(topics)
            ]
            text = json.dumps({"facts": facts})
            sent, said = len(prompt) // 4, len(text) // 4
            self.tokens += sent + said
            return Answer(text, "played", sent, said)


class Day:
    """A user's tools on a simulated clock: sessions that begin, grow and end."""

    def __init__(self, home: Path) -> None:
        self.home, self.now = home, START
        self.said: dict[Path, list[str]] = {}

    def path(self, tool: str, number: int) -> Path:
        return {
            "claude_code": self.home / ".claude" / "projects" / "-src-app" / f"s{number}.jsonl",
            "codex": self.home / ".codex" / "sessions" / "2026" / "11" / "20" / f"rollout-s{number}.jsonl",
            "gemini_cli": self.home / ".gemini" / "tmp" / f"p{number % 7}" / "chats" / f"session-s{number}.json",
        }[tool]

    def say(self, tool: str, number: int, topic: str) -> Path:
        """One more turn and its answer, in the tool's own format."""
        path = self.path(tool, number)
        turns = self.said.setdefault(path, [])
        turns.append(topic)
        path.parent.mkdir(parents=True, exist_ok=True)
        when = self.now.isoformat()
        said = [(role, words) for topic in turns for role, words in _talk(topic)]
        rows: list[Any]
        if tool == "claude_code":
            rows = [
                {"type": role, "uuid": f"{at}", "parentUuid": None, "sessionId": f"s{number}", "cwd": "/src",
                 "timestamp": when, "message": {"role": role, "content": [{"type": "text", "text": words}]}}
                for at, (role, words) in enumerate(said)
            ]  # fmt: skip
        elif tool == "codex":
            rows = [{"timestamp": when, "type": "session_meta", "payload": {"id": f"s{number}", "cwd": "/src"}}]
            rows += [
                {"timestamp": when, "type": "response_item", "payload": {"type": "message", "role": role, "content": [
                    {"type": "input_text" if role == "user" else "output_text", "text": words}]}}
                for role, words in said
            ]  # fmt: skip
        else:
            kinds = {"user": "user", "assistant": "gemini"}
            messages = [
                {"id": f"{at}", "timestamp": when, "type": kinds[role], "content": words}
                for at, (role, words) in enumerate(said)
            ]
            rows = [{"sessionId": f"s{number}", "projectHash": "p", "messages": messages}]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        os.utime(path, (self.now.timestamp(), self.now.timestamp()))
        return path

    def topics(self) -> set[str]:
        return {topic for turns in self.said.values() for topic in turns}


def _talk(topic: str) -> list[tuple[str, str]]:
    return [("user", f"What about {topic}?"), ("assistant", f"We looked at it, and {topic} is settled.")]


@pytest.fixture
def freed(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would have been set free as a process of its own."""
    seen: list[list[str]] = []
    monkeypatch.setattr(connect_room, "set_free", lambda words: not seen.append(words))
    return seen


@pytest.fixture
def day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, freed: list[list[str]]) -> Day:
    home = tmp_path / "person"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("CONFIG", "CACHE", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / f".{name.lower()}"))
    monkeypatch.chdir(home)
    return Day(home)


def settings(day: Day, **values: object) -> Workspace:
    rows: dict[str, object] = {
        "sources": ["home", "claude_code", "codex", "gemini_cli"], "provider": "openai", "model": "played", "jobs": 3,
        "base_url": "http://127.0.0.1:9/v1", "model_context_tokens": 32000, "max_output_tokens": 300,
    }  # fmt: skip
    file = day.home / ".config" / "manual_slop" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    prompt = day.home / ".manual_slop" / "knowledge" / "prompts" / "harvest-conversation.md"
    prompt.parent.mkdir(parents=True, exist_ok=True)
    prompt.write_text("Say what this taught, as JSON.\n")  # a short one: these tests count tokens, not words
    lines = [f"{key} = {json.dumps(value)}" for key, value in (rows | values).items()]
    file.write_text("\n".join(["[ai_settings.knowledge]", *lines, ""]))
    return open_workspace()


def run(day: Day, workspace: Workspace, model: Model, *ended: Path) -> Any:
    names = [str(path) for path in ended]
    return run_by_itself(workspace, HarvestRequest(apply=True), names, harvest, now=lambda: day.now, generate=model)


def by_hand(day: Day, workspace: Workspace, model: Model, **request: Any) -> HarvestReport:
    wanted = HarvestRequest(**{"apply": True, "at_once": True, **request})
    return harvest(workspace, wanted, now=lambda: day.now, generate=model)


def last_run(workspace: Workspace) -> Autopilot:
    state = read_autopilot(workspace.paths)
    assert state is not None
    return state


def facts(day: Day) -> list[str]:
    file = day.home / ".manual_slop" / "knowledge" / "facts.md"
    return [line for line in file.read_text().split("\n") if line.startswith("- ")] if file.exists() else []


def topics_told(day: Day) -> Counter[str]:
    return Counter(word for line in facts(day) for word in line.split() if word.startswith("topic-"))
