"""The archive: bytes and seconds a session, and what it costs to look at it once their tools have deleted them.

Real sessions of the corpus beside the project, copied until there are enough of them: each is packed by itself, so that
copies cost what others of their size would. `python -m tests.bench.bench_archive 10000` writes 4 GB below $TMPDIR.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cli_call import call

CORPUS = Path(__file__).resolve().parents[2].parent / "shared/corpus/conversations"
SESSIONS = 300


def timed(what: str, work: Callable[[], Any]) -> Any:
    """The result, with the seconds printed."""
    started = time.perf_counter()
    done = work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{what}: {time.perf_counter() - started:.1f} s (peak {peak} MB)", flush=True)
    return done


def do(*words: str) -> Any:
    """A command's document."""
    code, out, err = call(*words, "--json")
    assert code == 0, (words, err)
    return json.loads(out)


def main(number: int) -> None:
    """Make the sessions, keep them, delete them, look."""
    found = [path for tool in ("claude_code", "codex") for path in sorted((CORPUS / tool).rglob("*.jsonl"))]
    contents = [path.read_bytes() for path in found]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        os.environ |= {"HOME": folder, "XDG_CACHE_HOME": f"{folder}/cache", "XDG_CONFIG_HOME": f"{folder}/config"}
        settings = home / "config/manual_slop/config.toml"
        settings.parent.mkdir(parents=True)
        wanted = 'archive = "all"\nsources = ["claude_code"]\nfact_index = false\n'
        settings.write_text(f"[ai_settings.knowledge]\n{wanted}")
        old, size = time.time() - 25 * 86_400, 0
        for at in range(number):
            path = home / f".claude/projects/p{at % 40}/session-{at:06}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            data = contents[at % len(contents)] + b'{"type":"mark","n":%d}\n' % at
            path.write_bytes(data)
            os.utime(path, (old + at, old + at))
            size += len(data)
        print(f"{number} sessions, {size / number / 1e3:.0f} KB each")
        timed("keeping all of them", lambda: do("harvest", "--apply", "--limit", "1"))
        report = do("archive")
        left = number - len(report["conversations"])
        ledger = (home / ".manual_slop/knowledge/ledger.json").stat().st_size
        print(
            f"{report['bytes'] / number / 1e3:.1f} KB a session, {100 * report['bytes'] / size:.1f}% of what they had"
        )
        print(f"not kept: {left}; the ledger has {ledger / number:.0f} bytes for each")
        timed("a run that finds nothing new", lambda: do("harvest", "--apply", "--limit", "1"))
        for path in (home / ".claude/projects").rglob("*.jsonl"):
            path.unlink()
        timed("a dry run, once their tool has deleted them", lambda: do("harvest"))
        timed("knowledge archive", lambda: do("archive"))
        timed("knowledge status", lambda: do("status"))
        built = timed("the index of conversations", lambda: do("search", "--build"))
        print({key: built[key] for key in ("conversations", "turns", "unread") if key in built})
        timed("a search", lambda: do("search", "exit code of the test run"))
        timed("the doctor", lambda: call("doctor"))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SESSIONS)
