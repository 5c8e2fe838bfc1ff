"""How much memory a harvest of one very long file needs, beside the size of the file.

`python -m tests.bench.bench_memory 500` measures with 500 MB in place of 50; the files are made below $TMPDIR and
removed again.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench import Row, printed
from tests.export_makers import chat

ROOT = Path(__file__).resolve().parents[2]
MEGABYTES = 50
# At 50 MB the modules of a harvest (about 20 MB) are most of it; an export adds what it holds packed.
LIMITS = {"claude_code": 0.6, "codex": 1.2, "chatgpt": 0.9}
_AT = "2026-01-02T03:04:05.000Z"
_WORDS = [f"w{number:04}" for number in range(4000)]


class Spent(NamedTuple):
    """What one command took: bytes of memory at its peak, and seconds."""

    memory: int
    seconds: float


def figures(megabytes: int = MEGABYTES) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="knowledge-bench-") as place:
        folder = Path(place)
        (folder / "config.toml").write_text(
            f'[ai_settings.knowledge]\nmax_harvest_source_bytes = {1 << 30}\nprovider = "offline"\n'
        )
        empty = folder / "empty.md"
        empty.write_text("User: hello\n")
        base = harvest(folder, "base", empty, apply=True).memory
        for kind, make in MAKERS.items():
            path = folder / (kind + (".json" if kind == "chatgpt" else ".jsonl"))
            with path.open("wb") as file:
                make(file.write, megabytes << 20)
            size = path.stat().st_size
            for apply in (False, True):
                spent = harvest(folder, kind, path, apply=apply)
                what = "harvest" if apply else "dry run"
                rate = size / spent.seconds / 1e6
                told = f"{spent.memory / 1e6:.0f} MB of memory, {spent.seconds:.1f} s, {rate:.0f} MB/s"
                print(f"  {what} of {size / 1e6:.0f} MB of {kind}: {told}", file=sys.stderr)
                yield f"memory of a {what} of {kind} / its file", (spent.memory - base) / size, LIMITS[kind]
            path.unlink()


def harvest(folder: Path, home: str, path: Path, *, apply: bool) -> Spent:
    """A new process, as a user starts it."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache" / home), "HOME": str(folder)}
    words = ["-m", "core", "harvest", "--home", str(folder / home), "--config", str(folder / "config.toml")]
    words += ["--source", str(path), *(["--apply"] if apply else [])]
    started = time.perf_counter()
    with (folder / "told").open("wb") as told:
        child = subprocess.Popen([sys.executable, *words], cwd=ROOT, env=environment, stdout=told, stderr=told)
        _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, (folder / "told").read_text()
    unit = 1 if sys.platform == "darwin" else 1024
    return Spent(used.ru_maxrss * unit, time.perf_counter() - started)


# --- very long files: a little is said, and tools answer at length, as in real ones ----------------------------------


def _text(letters: random.Random, characters: int) -> str:
    return " ".join(letters.choices(_WORDS, k=characters // 6))


def make_claude(write: Callable[[bytes], Any], size: int) -> None:
    """The answer of a tool stands twice in a line, as the tool writes it."""
    letters, done = random.Random(1), 0
    for number in count():
        if done >= size:
            return
        head = {"parentUuid": None, "sessionId": "s", "cwd": "/srv/app", "timestamp": _AT, "isSidechain": False}
        output = _text(letters, 8000)
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": f"make {number}"}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": output}
        said = [{"type": "text", "text": f"We decided to use port {number} for service {number}."}, call]
        rows: list[dict[str, Any]] = [
            {"type": "user", "message": {"role": "user", "content": f"And service {number}? {_text(letters, 300)}"}},
            {"type": "assistant", "message": {"id": f"m{number}", "role": "assistant", "content": said}},
            {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": {"stdout": output}},
        ]
        for at, row in enumerate(rows):
            line = json.dumps(head | {"uuid": f"u{number}-{at}"} | row).encode() + b"\n"
            done += len(line)
            write(line)


def make_codex(write: Callable[[bytes], Any], size: int) -> None:
    """Each utterance twice, as item and as event; the answer of a tool once."""
    letters, done = random.Random(1), 0
    write(json.dumps({"timestamp": _AT, "type": "session_meta", "payload": {"id": "s", "cwd": "/srv/app"}}).encode())
    write(b"\n")
    for number in count():
        if done >= size:
            return
        asked = f"And service {number}? {_text(letters, 300)}"
        said = f"We decided to use port {number} for service {number}."
        spoken = [{"type": "output_text", "text": said}]
        given = {"type": "function_call", "name": "shell", "arguments": json.dumps({"command": f"make {number}"})}
        rows: list[tuple[str, dict[str, Any]]] = [
            ("response_item", {"type": "message", "role": "user", "content": [{"text": asked}]}),
            ("event_msg", {"type": "user_message", "message": asked}),
            ("response_item", {"type": "message", "role": "assistant", "content": spoken}),
            ("event_msg", {"type": "agent_message", "message": said}),
            ("response_item", given),
            ("response_item", {"type": "function_call_output", "output": _text(letters, 8000)}),
        ]
        for kind, payload in rows:
            line = json.dumps({"timestamp": _AT, "type": kind, "payload": payload}).encode() + b"\n"
            done += len(line)
            write(line)


def make_chatgpt(write: Callable[[bytes], Any], size: int) -> None:
    """Many conversations of some forty turns."""
    letters, done = random.Random(1), 0
    write(b"[")
    for number in count():
        if done >= size:
            break
        words = [f"Turn {at}. {_text(letters, 2000)}" for at in range(40)]
        words[1] = f"We decided to use port {number} for service {number}."
        data = (b"," if number else b"") + json.dumps(chat(f"id-{number:08}", f"Talk {number}", *words)).encode()
        done += len(data)
        write(data)
    write(b"]")


MAKERS: dict[str, Callable[[Callable[[bytes], Any], int], None]] = {
    "claude_code": make_claude,
    "codex": make_codex,
    "chatgpt": make_chatgpt,
}


if __name__ == "__main__":
    printed(figures(int(sys.argv[1]) if sys.argv[1:] else MEGABYTES))
