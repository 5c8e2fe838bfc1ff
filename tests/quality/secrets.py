"""`python -m tests.quality.secrets [SEED [VALUES]]`: how many made-up secrets a harvest keeps from the model and the
disk.

Each value stands in five formats (`tests.quality.planted_secrets`), in turns of long conversations, near the borders of
the parts in which those are summarised. A model behind a real server on loopback repeats what was planted as facts,
decisions and playbooks, as if it had guessed it. Then every request that the server got is read, every file that the
program wrote, what `context` prints and what a search finds.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from core.base.result import KnowledgeError, Ok, attempt
from core.commands.context import context
from core.commands.search import search
from core.llm.generate import connect
from core.llm.wire import ModelSettings
from tests.harvest_world import World, workspace_of
from tests.quality.planted_secrets import RULES, UNSEEN, Planted, leaks, planted

PART_BYTES = 49_152
_WORDS = "the of build runs again and then we looked at files that were there before it was done"


@dataclass
class Echoing:
    """A server in the format of OpenAI that answers with whatever it was given to say, and keeps what it was asked."""

    rows: Sequence[Planted] = ()
    asked: list[str] = field(default_factory=list)

    def answer(self, body: Any) -> str:
        self.asked.append(json.dumps(body, ensure_ascii=False))
        if "response_format" not in body:
            return f"summary {len(self.asked)}"
        says = [" ".join(row.text.split()) for row in self.rows]
        third = len(says) // 3 + 1
        return json.dumps({
            "facts": [{"statement": text} for text in says[:third]],
            "decisions": [{"statement": "we use this", "detail": text} for text in says[third : 2 * third]],
            "playbooks": [{"name": f"step {n}", "steps": text} for n, text in enumerate(says[2 * third :])],
        })  # fmt: skip


def serve(echoing: Echoing) -> ThreadingHTTPServer:
    """The server at work on a port of its own; `shutdown` ends it."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = {"role": "assistant", "content": echoing.answer(body)}
            usage = {"prompt_tokens": 10, "completion_tokens": 10}
            reply = json.dumps({"model": "echo", "choices": [{"message": message}], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(reply)

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    return server


def conversation(rows: Iterable[Planted], draw: random.Random) -> str:
    """A conversation longer than two parts: each text in a turn of its own, one turn longer than a part."""
    words = _WORDS.split()

    def filler(size: int) -> str:
        lines: list[str] = []
        while sum(map(len, lines)) < size:
            lines.append(" ".join(draw.choice(words) for _ in range(12)))
        return "\n".join(lines)

    turns = [f"{filler(200)}\n\n{row.text}\n\n{filler(draw.choice([50, 900, 2500]))}" for row in rows]
    last = turns.pop()
    turns.append(f"{filler(PART_BYTES + draw.randrange(400))}\n{last}\n{filler(300)}")
    roles = ("User", "Assistant")
    return "\n\n".join(f"{roles[number % 2]}: {text}" for number, text in enumerate(turns)) + "\n"


@dataclass
class Outcome:
    """What leaked where, and how many values there were."""

    tried: int = 0
    wire: list[Planted] = field(default_factory=list)
    disk: list[tuple[Planted, str]] = field(default_factory=list)


def harvested(folder: Path, rows: Sequence[Planted], seed: int, kept: Outcome) -> None:
    """Harvest one conversation that holds `rows`, and add what leaked to `kept`."""
    draw = random.Random(seed)
    world = World(folder)
    text = conversation(rows, draw)
    world.converse(text)
    echoing = Echoing(rows)
    server = serve(echoing)
    try:
        settings = ModelSettings("openai", "echo", f"http://127.0.0.1:{server.server_address[1]}/v1")
        model = connect(settings, credentials=lambda provider, variables: "")
        world.limits(provider="openai").run(model)  # type: ignore[arg-type]
    finally:
        server.shutdown()
        server.server_close()
    workspace = workspace_of(world)
    shown = attempt(context, workspace)
    told = [shown.value.prefix.text if isinstance(shown, Ok) else ""]
    found = attempt(search, workspace, "password token value secret", limit=1000)
    told.append("" if isinstance(found, KnowledgeError) else repr(found.value))
    wire = "\n".join(json.dumps(json.loads(one), ensure_ascii=False) + "\n" + _unescaped(one) for one in echoing.asked)
    places = {"shown": "\n".join(told)}
    for path in folder.rglob("*"):
        if path.is_file() and world.paths.conversations not in path.parents and world.paths.trash not in path.parents:
            places[path.name] = path.read_bytes().decode("utf-8", "replace")
    for row in rows:
        kept.tried += 1
        if leaks(row, wire):
            kept.wire.append(row)
        for name, data in places.items():
            if leaks(row, data) or leaks(row, _unescaped(data)):
                kept.disk.append((row, name))
                break


def _unescaped(text: str) -> str:
    return text.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")


def campaign(seed: int, kinds: Any, values: int, each: int = 40) -> Outcome:
    """Every value in every format, `each` to a conversation."""
    kept = Outcome()
    rows = planted(seed, kinds, values)
    random.Random(seed).shuffle(rows)
    for number in range(0, len(rows), each):
        with tempfile.TemporaryDirectory() as folder:
            harvested(Path(folder), rows[number : number + each], seed + number, kept)
    return kept


def main() -> int:
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    values = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    print(f"seed {seed}: {len(RULES)} kinds the rules were written with, {len(UNSEEN)} written after them")
    print(f"{'':24}{'values':>8}{'to the model':>14}{'on the disk':>13}{'masked':>9}")
    worst = 100.0
    for name, kinds in (("the rules' kinds", RULES), ("kinds written later", UNSEEN)):
        kept = campaign(seed, kinds, values)
        leaked = {id(row) for row in kept.wire} | {id(row) for row, _ in kept.disk}
        share = 100 * (1 - len(leaked) / kept.tried)
        worst = min(worst, share)
        print(f"{name:24}{kept.tried:>8}{len(kept.wire):>14}{len(kept.disk):>13}{share:>8.1f}%")
        told = Counter(f"{row.kind} ({row.form})" for row in kept.wire) + Counter(
            f"{row.kind} ({row.form}) in {place}" for row, place in kept.disk
        )
        for words, number in told.most_common(40):
            print(f"    {number} {words}")
    return 0 if worst >= 95 else 1


if __name__ == "__main__":
    sys.exit(main())
