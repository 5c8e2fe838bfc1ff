"""Very long transcripts, line by line. A user with months of work in one session would run out of memory."""

from __future__ import annotations

import hashlib
import io
import json
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pytest

from core.conversations.conversation import Turn
from core.conversations.read import read_conversation, stream_turns
from core.harvest import distil
from tests.corpus import CORPUS as STREAM_CORPUS
from tests.harvest_world import FakeModel, World

NAME = "talk-11111111-1111-4111-8111-111111111111"


def claude(number: int, text: str) -> bytes:
    role = "user" if number % 2 == 0 else "assistant"
    row = {"type": role, "sessionId": "s", "uuid": f"u{number}", "parentUuid": None, "cwd": "/srv/app"}
    return json.dumps({**row, "message": {"role": role, "content": f"{number} {text}"}}).encode() + b"\n"


def stream_codex(number: int, text: str) -> bytes:
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": f"{number} {text}"}]}
    event = {"type": "user_message", "message": f"{number} {text}"}
    rows = ({"type": "response_item", "payload": item}, {"type": "event_msg", "payload": event})
    return b"".join(json.dumps({"timestamp": "2026-01-02T03:04:05Z", **row}).encode() + b"\n" for row in rows)


@pytest.mark.parametrize("kind", ["claude_code", "codex"])
def test_line_by_line_is_the_same_as_at_once(kind: str) -> None:
    """For every real transcript: turns, ranges, title, folder, times, counts and hash."""
    folder = STREAM_CORPUS / "conversations" / kind
    if not folder.is_dir():
        pytest.skip(f"the corpus of real conversations has no {kind} here")
    streamed = 0
    for path in sorted(folder.rglob("*.jsonl")):
        data, turns = path.read_bytes(), list[Turn]()
        found = stream_turns(path.name, lambda data=data: io.BytesIO(data), turns.append)  # type: ignore[misc]
        if found is None:
            assert not turns
            continue
        whole = read_conversation(path.name, data)
        assert replace(found.conversation, turns=tuple(turns)) == whole, path
        assert (found.sha256, found.size) == (hashlib.sha256(data).hexdigest(), len(data))
        streamed += 1
    assert streamed


@pytest.mark.parametrize(("damaged", "fine"), [(2, True), (40, False)])
def test_a_very_long_transcript_with_much_damage_is_no_harvest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: int, fine: bool
) -> None:
    monkeypatch.setattr(distil, "STREAM_BYTES", 1 << 20)
    rows = [claude(at, "word " * 600) for at in range(400)]
    for at in range(damaged):
        rows[3 + 7 * at] = rows[3 + 7 * at].replace(b"word ", b"w\xffrd ", 1)
    world = World(tmp_path).limits(max_source_bytes=64 << 20)
    path = world.converse(b"".join(rows) + b'{"torn', NAME)
    assert path.stat().st_size > distil.STREAM_BYTES
    report = world.run()
    assert (report.harvested, report.failed) == (int(fine), int(not fine))
    if fine:
        assert report.skipped["unknown records"] == 3
    else:
        assert "40 damaged records among 400" in report.errors[0].message and path.exists()


class Made(io.RawIOBase):
    """A file of any size that is never anywhere as a whole."""

    def __init__(self, rows: Iterator[bytes]) -> None:
        self._rows, self._left = rows, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        self._left = self._left or next(self._rows, b"")
        part, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


@pytest.mark.parametrize(("row", "share"), [(claude, 8), (stream_codex, 4)])
def test_memory_does_not_grow_with_the_words(row: object, share: int) -> None:
    """Fifteen megabytes need less than a tenth of that; what is kept of a record does not depend on its length."""
    records = 1500 if row is claude else 750
    words = "word " * 2000

    def opened() -> BinaryIO:
        return io.BufferedReader(Made(row(number, words) for number in range(records)))  # type: ignore[operator]

    count, size = [0], [0]

    def sink(turn: Turn) -> None:
        count[0], size[0] = count[0] + 1, size[0] + len(turn.text)

    tracemalloc.start()
    found = stream_turns("x", opened, sink)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found is not None
    assert found.size > 14_400_000
    assert count[0] == records
    assert peak < 1_500_000, peak


@pytest.mark.parametrize("row", [claude, stream_codex])
def test_the_tail_of_a_long_transcript_is_harvested_as_that_of_a_short_one(
    row: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts: list[list[str]] = []
    for stream_bytes in (1, 1 << 30):
        monkeypatch.setattr(distil, "STREAM_BYTES", stream_bytes)
        world = World(tmp_path / str(stream_bytes)).limits(keep=True)
        make = [row(number, "is said") for number in range(12)]  # type: ignore[operator]
        size = sum(map(len, make))
        world.converse(b"".join(make[:8]), NAME)
        world.run(FakeModel())
        world.converse(b"".join(make), NAME)
        model = FakeModel()
        assert world.run(model).changed == {"grown": 1}
        world.converse(b"".join(make[3:]), NAME)
        for limit, changed in ((size // 3, {}), (size, {"rewritten": 1})):
            report = world.limits(max_source_bytes=limit).run(model)
            assert (report.changed, len(report.errors) + report.too_large) == (changed, int(not changed))
        prompts.append(model.prompts[:1])
    assert prompts[0] == prompts[1]


def tool(number: int, output: str) -> bytes:
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": output}
    row = {"type": "user", "sessionId": "s", "uuid": f"t{number}", "parentUuid": None, "cwd": "/srv/app"}
    return json.dumps({**row, "message": {"role": "user", "content": [result]}}).encode() + b"\n"


@pytest.mark.parametrize("model", [True, False])
def test_a_long_transcript_that_is_new_is_harvested_as_a_short_one(
    model: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        claude(0, "We always use port 8080 for the server, never 9090."),
        claude(1, "Understood."),
        tool(2, "line\n" * 900 + "exit code: 0"),
    ]
    seen = []
    for stream_bytes in (1, 1 << 30):
        monkeypatch.setattr(distil, "STREAM_BYTES", stream_bytes)
        world = World(tmp_path / str(stream_bytes)).limits(keep=True)
        world.converse(b"".join(rows), NAME)
        asked = FakeModel()
        report = world.run(asked if model else None)
        assert (report.harvested, report.errors) == (1, [])
        entry = next(iter(world.entries().values()))
        told = {key: value for key, value in entry.items() if key in ("turns", "turns_sha256", "bytes", "items")}
        seen.append((asked.prompts, world.bullets(), told))
    assert seen[0] == seen[1]
    assert seen[0][1]


def test_a_very_long_transcript_that_is_new_needs_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever raises max_harvest_source_bytes for it must not lose the machine to it."""
    monkeypatch.setattr(distil, "STREAM_BYTES", 1 << 20)
    world = World(tmp_path).limits(keep=True, max_source_bytes=1 << 30)
    words = "word " * 20_000
    path = world.converse(b"".join(claude(at % 2, "short") + tool(at, words) for at in range(120)), NAME)
    size = path.stat().st_size
    tracemalloc.start()
    report = world.run(None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert report.harvested == 1
    assert peak < size / 4 > 2_000_000, peak
