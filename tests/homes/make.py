"""Makes homes with an earlier program, through its command line, and keeps them in `data/`:

    python -m tests.homes.make CHECKOUT [NAME …]

`CHECKOUT` is a folder with the source of that program, at its last commit before the store changed (8061c6e1);
`--library CHECKOUT` one of the last program whose library had version 0002 (ba470e22~1), for the home with an old
library. Everything in the homes is made up. Each command runs in a process of its own, whose clock stands where the
home's does; the model is a small program that says back what a conversation tells it to say.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__" and sys.argv[1:2] == ["--inside"]:
    sys.path.remove(os.path.dirname(os.path.abspath(__file__)))  # the program's own modules come first
else:
    from tests.homes import DATA, folder_in, pack

NOBODY = 999999999
"""The number of a process that is not there."""
START = datetime.datetime(2024, 11, 4, 9, 0, tzinfo=datetime.UTC)
MODEL = r"""
import json, os, re, sys
prompt = sys.stdin.read()
here = os.path.dirname(os.path.abspath(__file__))
known = {text.strip(): (name, kind) for name, kind, text in re.findall(r"^(k\d+) \(([^)]*)\): (.*)$", prompt, re.M)}
rows = {}
for kind, said in re.findall(r"say (\w+): ([^\n\"\\]+)", prompt):
    said, _, old = said.strip().partition(" << ")
    said, _, confirmed = said.partition(" ++ ")
    row = {"statement": said, "detail": "", "quote": said}
    if kind == "files":
        path, _, note = said.partition(" :: ")
        row = {"path": os.path.join(here, "code", path), "note": note, "quote": note}
    elif kind == "playbooks":
        name, _, steps = said.partition(" :: ")
        row = {"name": name, "steps": steps.split("; "), "quote": steps.split("; ")[0]}
    elif kind == "held":
        kind, row["quote"] = "facts", "words that nobody ever said in any talk"
    if kind in ("facts", "questions"):
        row |= {"confidence": 0.8, "tags": ["made", "up"]}
    if kind == "decisions":
        row["detail"] = "it was the shorter way"
    if old in known:
        name, about = known[old]
        row["answers" if "question" in about else "finishes" if kind == "tasks_done" else "supersedes"] = name
    if confirmed in known:
        row["confirms"] = known[confirmed][0]
    rows.setdefault(kind, []).append(row)
print(json.dumps(rows))
"""


# --- a command of the earlier program, at another time ----------------------------------------------------------------


def inside(moment: str, kill: str, words: Sequence[str]) -> int:
    """Run one command of the program on the path as if it were `moment`. `kill` ends the process right after the first
    change of the disk that it describes: `write facts.md`, the operation and the end of the path."""
    real, offset = datetime.datetime, datetime.datetime.fromisoformat(moment).timestamp() - time.time()
    now, now_ns = time.time, time.time_ns
    time.time = lambda: now() + offset
    time.time_ns = lambda: now_ns() + int(offset * 10**9)

    class Like(type(real)):  # type: ignore[misc]
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, real)

    class Shifted(real, metaclass=Like):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Any:
            return real.fromtimestamp(time.time(), tz)

    datetime.datetime = Shifted  # type: ignore[misc]
    from core.base import disk
    from core.cli.main import main

    perform, (wanted, _, ending) = disk.perform, kill.partition(" ")

    def watched(name: str, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        found = perform(name, call, *arguments, **named)
        if name == wanted:
            last = [part for part in arguments if isinstance(part, str | Path)][-1:]
            path = last[0] if last else os.readlink(f"/proc/self/fd/{arguments[0]}")
            if str(path).endswith(ending):
                os._exit(137)
        return found

    if kill:
        disk.perform = watched
    return main(list(words))


@dataclass
class Person:
    """Who has the home: where it lies, the clock, and the program."""

    folder: Path
    program: Path
    now: datetime.datetime = START
    talks: int = 0

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def knowledge(self) -> Path:
        return self.home / "knowledge"

    def settings(self) -> None:
        """The user's settings: the model is the small program, one call after the other."""
        command = ["python3", str(self.folder / "model.py")]
        own = {"provider": "command", "command": command, "jobs": 1, "file_roots": [str(self.folder)]}
        lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in own.items())
        (self.folder / "config.toml").write_text(f"[ai_settings.knowledge]\n{lines}")
        (self.folder / "model.py").write_text(MODEL)

    def run(self, *words: str, kill: str = "", status: int = 0, program: Path | None = None) -> str:
        """`knowledge WORDS` of the program; what it prints. Some seconds go by."""
        self.now += datetime.timedelta(seconds=7)
        places = ["--home", str(self.home), "--config", str(self.folder / "config.toml")]
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.folder), "PYTHONPATH": str(program or self.program),
            "TZ": "UTC",
            "XDG_CACHE_HOME": str(self.folder / "cache"), "XDG_CONFIG_HOME": str(self.folder / "settings"),
            "XDG_DATA_HOME": str(self.folder / "share"), "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8",
        }  # fmt: skip
        line = [sys.executable, os.path.abspath(__file__), "--inside", self.now.isoformat(), kill, *words, *places]
        done = subprocess.run(line, capture_output=True, text=True, env=environment, cwd=self.folder)
        wanted = 137 if kill else status
        if done.returncode != wanted:
            raise SystemExit(f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def talk(self, project: str, *said: str, days: float = 0) -> Path:
        """A conversation of today about a project; each of `said` is a turn of the user's."""
        self.now += datetime.timedelta(days=days)
        self.talks += 1
        at = self.now.isoformat().replace("+00:00", "Z")
        about = {"cwd": f"/srv/{project}", "gitBranch": "main", "sessionId": f"s{self.talks}", "timestamp": at}
        rows = []
        for number, text in enumerate(said):
            for role, words in (("user", text), ("assistant", f"Noted as {number + 1} of talk {self.talks}.")):
                message = {"role": role, "content": words}
                row = {"type": role, "parentUuid": None, "uuid": f"{self.talks}-{number}-{role}", "message": message}
                rows.append(json.dumps(about | row) + "\n")
        path = (
            self.home / "conversations" / f"talk-{uuid.UUID(int=random.Random(self.talks).getrandbits(128), version=4)}"
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(rows))
        os.utime(path, (self.now.timestamp(), self.now.timestamp()))
        return path

    def harvest(self, **named: Any) -> str:
        self.now += datetime.timedelta(minutes=30)
        return self.run("harvest", "--apply", **named)

    def json(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json"))

    def write(self, name: str, text: str) -> None:
        """As an editor does it, or git."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (self.now.timestamp(), self.now.timestamp()))


# --- what is in them --------------------------------------------------------------------------------------------------


def taught(person: Person) -> None:
    """Two harvests with a row for every kind of thing."""
    person.settings()
    person.write("code/cart.py", "TOTAL = 0\n")
    person.write("code/queue.py", "LIMIT = 64\n")
    person.write("home/knowledge/context.md", "Answer in short sentences.\n")
    person.talk(
        "shop",
        "say facts: The shop listens on port 8080",
        "say decisions: Carts are kept in SQLite",
        "say questions: Who renews the certificate of the shop?",
        "say playbooks: Release the shop :: make test; make build; make upload",
        "say tasks_open: Write the refund page",
        "say tasks_done: Move the carts to SQLite",
        "say files: cart.py :: the total is kept in cents",
        "say held: The shop earns money at night",
        "say held: The shop sleeps on Sundays",
    )
    person.talk("radio", "say facts: The radio buffers 64 frames", "say files: queue.py :: 64 frames is the limit")
    person.harvest()


def each_kind(person: Person) -> None:
    """Each kind of thing, and each state in which it may rest."""
    taught(person)
    person.run("quarantine", "accept", "money at night")
    person.run("quarantine", "drop", "sleeps on Sundays")
    for number in range(3):  # one statement of several conversations
        person.talk("shop", "say facts: The shop listens on port 8080", f"say facts: Shelf {number} holds tea", days=2)
        person.harvest()
    person.talk(
        "shop",
        "say facts: The shop listens on port 9090 << The shop listens on port 8080",
        "say tasks_done: The refund page is written << Write the refund page",
        "say facts: Anna renews the certificate << Who renews the certificate of the shop?",
        days=30,
    )
    person.talk("blog", "say facts: The blog is built with make", "say held: The blog has a thousand readers", days=1)
    person.harvest()
    person.run("add", "facts", "Tea is in the left shelf")
    person.run("add", "facts", "Coffee is in the right shelf")
    person.run("add", "tasks", "Buy tea")
    person.run("add", "tasks", "Buy coffee")
    person.run("add", "decisions", "No meeting on Fridays")
    person.run("edit", "facts", "Coffee is in the right shelf", "Coffee is in the left shelf")
    person.run("done", "Buy tea")
    person.run("rm", "facts", "Shelf 0 holds tea")
    person.run("rm", "--strike", "facts", "Shelf 1 holds tea")
    person.run("supersede", "dismiss", "Write the refund page")
    person.run("add", "facts", "A line that was taken back")
    person.run("undo", person.json("undo")[0]["run"])
    talk = person.talk("radio", "say facts: A run that was undone", "say facts: And all its lines", days=3)
    person.harvest()
    person.run("undo", person.json("undo")[0]["run"])
    talk.unlink()
    facts = person.knowledge / "facts.md"
    text = facts.read_text()
    person.write("home/knowledge/facts.md", "\n".join(row for row in text.split("\n") if "Shelf 2" not in row))
    person.talk("radio", "say facts: The radio plays at 48 kHz", days=1)
    person.harvest()  # tells of the line that is missing
    person.write("home/knowledge/facts.md", facts.read_text() + "- A line of mine\n  with more below\n")
    person.run("save", "Prefer tabs in Makefiles", "--tag", "preference")
    person.run("save", "The staging host is called tin", "--tag", "host")
    person.run("save", "An old habit")
    person.run("memories", "archive", "3")
    yaml = {fact["fact"]: fact["id"] for fact in person.json("facts", "list")}
    person.run("facts", "merge", yaml["The radio buffers 64 frames"], yaml["The radio plays at 48 kHz"])
    library(person)
    person.now += datetime.timedelta(days=200)  # some facts are old by now
    person.run("facts", "sync")
    person.write("home/conversations/talk-in-use", "User: this talk is being written\n")
    text = facts.read_text()
    gone = next(row for row in text.split("\n") if "The radio plays at 48 kHz" in row)
    person.write("home/knowledge/facts.md", text.replace(f"{gone}\n", ""))  # missing, and nobody has told yet


GUIDE = "# Locks\n\nA semaphore is a counter that several tasks share. A lock is for one of them.\n"
ASYNC = "# Async deadlocks\n\nCalling await inside a sync callback hangs. Use create_task instead.\n"


def library(person: Person, program: Path | None = None) -> None:
    """Documents, how they were used, and what followed from that."""
    person.write("papers/locks.md", GUIDE)
    person.write("papers/async.md", ASYNC)
    person.run("library", "ingest", str(person.folder / "papers"), "--provider", "offline", program=program)
    for number in range(4):
        asked = person.run("library", "retrieve", f"why does my callback hang {number}", "--json", program=program)
        best = json.loads(asked)[0]
        words = ("--chunk", best["key"], "--outcome", "win", "--notes", "create_task it was")
        person.run("library", "record", *words, "--query", "why does my callback hang", program=program)
    person.run("library", "consolidate", "--rules", program=program)


def two_years(person: Person) -> None:
    """Some hundreds of conversations of four projects over 24 months; read by rules at first, then by a model."""
    rng = random.Random(7)
    things = ("cache", "index", "queue", "parser", "mailer", "login", "backup", "scheduler", "gallery", "invoice")
    verbs = ("holds", "waits for", "drops", "keeps", "retries after", "logs", "rounds to", "sends", "reads", "checks")
    units = ("rows", "seconds", "files", "frames", "cents", "users", "pages", "bytes", "days", "jobs")
    person.settings()
    for month in range(24):
        project = ("shop", "blog", "radio", "press")[month % 4]
        for number in range(14):
            thing, verb, unit = rng.choice(things), rng.choice(verbs), rng.choice(units)
            size = month * 14 + number + 11
            here = ("shop", "blog", "radio", "press")[rng.randrange(4)] if number % 3 else project
            said = [f"say facts: The {thing} of the {here} {verb} {size} {unit}"]
            if number % 3 == 0:
                said.append(f"say decisions: The {thing} of the {here} stays at {size} {unit}")
            if number % 4 == 0:
                said.append(f"say tasks_open: Teach the {thing} to count {size} {unit}")
            if number % 7 == 0:
                said.append(f"say questions: Why has the {thing} of the {here} {size} {unit}?")
            if number % 7 == 3:
                said.append("say facts: Dates are written as in ISO 8601")  # said again and again
            if number % 14 == 5:
                said.append(f"say playbooks: Mend the {thing} {size} :: stop the {thing}; mend it; start the {thing}")
            if number % 14 == 9:
                said.append(f"say held: Somebody counted {size} {unit} in the {thing}")
            person.talk(here, *said, days=2)
        if month < 4:
            person.run("harvest", "--apply", "--provider", "offline")
        else:
            person.harvest()
        person.run("add", "facts", f"By hand in month {month + 1}")
        if month % 3 == 1:
            person.run("edit", "facts", f"By hand in month {month}", f"Changed by hand in month {month}")
            person.run("rm", "facts", f"By hand in month {month + 1}")
        if month % 5 == 4:
            opened = [row["text"] for row in person.json("list", "tasks", "--project", "all")["bullets"]]
            person.run("done", opened[0])
            person.run("save", f"What mattered in month {month + 1}", "--tag", "context")
        if month % 8 == 7:
            person.run("undo", next(row["run"] for row in person.json("undo") if row["kind"] == "harvest"))


def killed_harvest(person: Person) -> None:
    """A harvest of three conversations that was killed while it wrote, with the answers that were kept."""
    taught(person)
    for number in range(3):
        person.talk("shop", f"say facts: The till has {number + 3} drawers", f"say tasks_open: Oil drawer {number + 3}")
    person.harvest(kill="write facts.md")


def killed_edit(person: Person) -> None:
    """An edit, and a later write of the fact index, that were killed before their end stood in the log."""
    taught(person)
    person.talk("blog", "say facts: The blog has 12 pages", days=1)
    person.harvest(kill="rename-flag repos/blog/facts.yaml")
    person.run(
        "edit", "facts", "The shop listens on port 8080", "The shop listens on port 8081", kill="rename-flag facts.md"
    )


def damaged(person: Person) -> None:
    """A ledger that was cut in half, a plan with a line that a disk has changed, a YAML file in a merge conflict."""
    each_kind(person)
    ledger = person.knowledge / "ledger.json"
    ledger.write_bytes(ledger.read_bytes()[: ledger.stat().st_size // 2])
    plan = sorted((person.knowledge / ".state" / "plans").iterdir())[1]
    data = bytearray(plan.read_bytes())
    data[data.index(b"\n") // 2] ^= 1
    plan.write_bytes(bytes(data))
    yaml = person.knowledge / "repos" / "shop" / "facts.yaml"
    ours = yaml.read_text()
    first = ours.index("- id:")
    item = ours[first : ours.index("- id:", first + 1)]
    theirs = item.replace("confidence: 0.8", "confidence: 0.7")
    conflict = f"<<<<<<< ours\n{item}=======\n{theirs}>>>>>>> theirs\n"
    yaml.write_text(ours[:first] + conflict + ours[first + len(item) :])


def old_library(person: Person) -> None:
    """A library of version 0002, made by the last program that wrote one."""
    taught(person)
    assert LIBRARY_PROGRAM, "name it with --library"
    library(person, Path(LIBRARY_PROGRAM))


HOMES: dict[str, Callable[[Person], None]] = {
    row.__name__: row for row in (each_kind, two_years, killed_harvest, killed_edit, damaged, old_library)
}
LIBRARY_PROGRAM = ""


def tidy(person: Person) -> None:
    """What is made again, or is of this computer, does not stay: caches, process ids, the time of this making."""
    for path in sorted((person.folder / "cache").rglob("*")):
        if path.is_file() and "answers" not in path.parts:
            path.unlink()
    for path in sorted(filter(Path.is_file, person.folder.rglob("*"))):
        at = min(path.stat().st_mtime, person.now.timestamp())
        if path.name == "lock" or path.suffix == ".lock":
            path.write_text("")
        if path.name == "log":
            path.write_bytes(b"".join(map(of_nobody, path.read_bytes().splitlines(keepends=True))))
        os.utime(path, (at, at))


def of_nobody(line: bytes) -> bytes:
    """A line of the log as a process wrote it that is not there."""
    body = re.sub(rb'"pid":\d+', b'"pid":%d' % NOBODY, line[9:].rstrip(b"\n"))
    return b"%08x %s\n" % (zlib.crc32(body), body)


def main() -> None:
    global LIBRARY_PROGRAM
    parser = argparse.ArgumentParser(
        prog="python -m tests.homes.make", description="Makes homes of an earlier program."
    )
    parser.add_argument("checkout", type=Path)
    parser.add_argument("name", nargs="*", help=f"which of {', '.join(HOMES)} (all)")
    parser.add_argument("--library", default="", help="the program of the old library")
    parser.add_argument("--keep", action="store_true", help="leave the folders where they were made")
    options = parser.parse_args()
    LIBRARY_PROGRAM = options.library
    DATA.mkdir(exist_ok=True)
    os.umask(0o077)
    for name in options.name or [*HOMES]:
        place = Path(tempfile.mkdtemp(prefix="home-"))
        folder = folder_in(place)
        person = Person(folder, options.checkout.absolute())
        HOMES[name](person)
        tidy(person)
        pack(folder, DATA / f"{name}.tar.gz")
        print(name, (DATA / f"{name}.tar.gz").stat().st_size, folder if options.keep else "")
        if not options.keep:
            shutil.rmtree(place)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        sys.exit(inside(sys.argv[2], sys.argv[3], sys.argv[4:]))
    main()
