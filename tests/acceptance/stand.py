"""One machine of a user who works with Claude Code and Codex: their sessions, the model that reads them, the program
through its faces, and every place that can answer.

What is told is looked for by a statement's own words. Nothing here knows how the program does it: words go in at the
command line, over MCP, or by `prompt_prefix`, and what comes out or lies in the knowledge folder is read.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from core.base.result import Ok
from core.commands.workspace import Workspace, open_workspace
from core.injection import prompt_prefix
from core.mcp_server.server import build_server
from tests.cli_call import call
from tests.histories.ground import Face, Told, stand_ins
from tests.test_mcp_scope import asked

NOW = datetime(2026, 6, 12, 14, 23, 45, tzinfo=UTC)
LEADS = {
    "Keep in mind": "facts",
    "We decided": "decisions",
    "Still to do": "tasks_open",
    "That is finished": "tasks_done",
    "Nobody knows": "questions",
}
"""How a user in these conversations says things -> what a model makes of it. `We decided: NEW (no longer: OLD)` names
the line that it contradicts."""
MODEL = """import json, pathlib, re, sys
LEADS = {leads!r}
folder = pathlib.Path(sys.argv[1])
prompt = sys.stdin.buffer.read().decode()
number = len(list(folder.iterdir())) + 1
(folder / f"{{number:03}}").write_text(prompt)
known, _, inside = prompt.rpartition("<conversation>")
answer = {{"facts": [{{"statement": f"Reading number {{number}} of these sessions has taken place"}}]}}
ids = [(found[1], found[0]) for found in re.findall(r"(?m)^\\W*(k\\d+)\\b(.*)$", known)]
def named(words):
    return next((name for line, name in ids if words.casefold() in line.casefold()), "")
for lead, kind in LEADS.items():
    for said in re.findall(rf"{{lead}}: ([^\\n\\"\\\\]+)", inside):
        statement, _, old = said.strip().removesuffix(")").partition(" (no longer: ")
        row = {{"statement": statement, "quote": statement}}
        if old and named(old):
            row["supersedes"] = named(old)
        if number % 2 and named(statement):
            row = {{"confirms": named(statement), "quote": statement}}
        answer.setdefault(kind, []).append(row | {claims!r})
for path, note in re.findall(r"About (/\\S+): ([^\\n\\"\\\\]+)", inside):
    answer.setdefault("files", []).append({{"path": path, "note": note}})
sys.stdout.write(json.dumps(answer))
"""
"""A model that reads what the conversation says. It never gives the same answer twice, and every second time it
confirms a line that it was shown instead of saying it once more."""
CONFIG = """[ai_settings.knowledge]
provider = "command"
command = {command}
sources = ["home", "claude_code", "codex"]
project_roots = ["{folder}"]
file_roots = ["{folder}"]
max_run_tokens = 0
digest_max_bytes = 16384
bootstrap_facts = true
jobs = 1
"""


class Machine(Face):
    """One computer: `folder` is the user's home directory, `home` in it that of the program. Its clock is `world.clock`
    (UTC), which stands still unless a test turns it on."""

    def __init__(self, folder: Path, *, claims: Mapping[str, Any] | None = None, settings: str = "") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        super().__init__(folder)
        self.folder = folder
        self.beside: Machine | None = None
        self.parked: Path | None = None
        self.prompts = folder / "prompts"
        self.prompts.mkdir()
        (folder / "model.py").write_text(MODEL.format(leads=LEADS, claims=dict(claims or {})), encoding="utf-8")
        command = json.dumps([sys.executable, "-I", "-S", str(folder / "model.py"), str(self.prompts)])
        self.config.write_text(CONFIG.format(command=command, folder=folder) + settings, encoding="utf-8")
        self._said: dict[Path, list[tuple[str, str, str]]] = {}

    @property
    def knowledge_folder(self) -> Path:
        self.here()
        return self.world.paths.knowledge

    def here(self) -> None:
        """Two machines of one user have the same paths. The one that is looked at lies there, the other beside it."""
        if self.parked is not None and self.beside is not None:
            self.beside.parked = self.folder.with_name(f"{self.folder.name}-{id(self.beside)}")
            self.folder.rename(self.beside.parked)
            self.parked.rename(self.folder)
            self.parked = None

    # --- what the user and their tools leave -------------------------------------------------------------------------

    def project(self, name: str = "shop") -> Path:
        """A repository of the user's."""
        self.here()
        folder = self.folder / "src" / name
        (folder / ".git").mkdir(parents=True, exist_ok=True)
        (folder / ".git/HEAD").write_text("ref: refs/heads/main\n")
        (folder / ".git/config").write_text(f'[remote "origin"]\n\turl = https://git.example.org/{name}.git\n')
        (folder / "app.py").touch()
        return folder

    def claude(self, name: str, *said: str, project: str = "shop", output: str = "", answer: str = "") -> Path:
        """A session of Claude Code: what the user said, a command that was run meanwhile (with `output`), an answer.
        Of a name that is known it goes on."""
        folder = self.project(project)
        path = self.folder / f".claude/projects/-src-{project}/{uuid.uuid5(uuid.NAMESPACE_URL, name)}.jsonl"
        rows = []
        for at, (role, text, when) in enumerate(self._goes_on(path, said, output, answer)):
            content: Any = text
            if role == "call":
                role, content = (
                    "assistant",
                    [{"type": "tool_use", "id": f"t{at}", "name": "Bash", "input": {"command": text}}],
                )
            elif role == "result":
                role, content = "user", [{"type": "tool_result", "tool_use_id": f"t{at - 1}", "content": text}]
            rows.append(
                {"type": role, "uuid": f"u{at}", "parentUuid": f"u{at - 1}" if at else None, "sessionId": path.stem,
                 "cwd": str(folder), "timestamp": when, "message": {"role": role, "content": content}}
            )  # fmt: skip
        return self._lie(path, rows)

    def codex(self, name: str, *said: str, project: str = "shop", output: str = "", answer: str = "") -> Path:
        """The same as a session of Codex."""
        folder = self.project(project)
        path = self.folder / f".codex/sessions/2026/06/11/rollout-{uuid.uuid5(uuid.NAMESPACE_URL, name)}.jsonl"
        turns = self._goes_on(path, said, output, answer)
        meta = {"id": path.stem[8:], "cwd": str(folder), "timestamp": turns[0][2], "cli_version": "0.50.0"}
        rows: list[Any] = [{"timestamp": turns[0][2], "type": "session_meta", "payload": meta}]
        for at, (role, text, when) in enumerate(turns):
            payload: dict[str, Any] = {"type": "message", "role": role, "content": [
                {"type": "input_text" if role == "user" else "output_text", "text": text}]}  # fmt: skip
            if role == "call":
                payload = {"type": "function_call", "name": "shell", "call_id": f"c{at}",
                           "arguments": json.dumps({"command": ["bash", "-lc", text]})}  # fmt: skip
            elif role == "result":
                payload = {"type": "function_call_output", "call_id": f"c{at - 1}", "output": text}
            rows.append({"timestamp": when, "type": "response_item", "payload": payload})
        return self._lie(path, rows)

    def _goes_on(self, path: Path, said: Iterable[str], output: str, answer: str) -> list[tuple[str, str, str]]:
        turns = self._said.setdefault(path, [])
        more = [("user", "Please look at the tests that fail.\n" + "\n".join(said)), ("call", "pytest -q")]
        more += [("result", f"3 passed in 0.41s\n{output}"), ("assistant", f"The tests pass now.\n{answer}")]
        turns += [(role, text, self._when()) for role, text in more]
        return turns

    def _when(self) -> str:
        return (self.world.clock - timedelta(days=1)).isoformat().replace("+00:00", "Z")

    def _lie(self, path: Path, rows: list[Any]) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        old = self.world.clock.timestamp() - 86_400
        os.utime(path, (old, old))
        return path

    # --- the faces ---------------------------------------------------------------------------------------------------

    def run(self, *words: str, at: str = "") -> Told:
        """One command line, started in a folder of the user's."""
        self.here()
        with self, contextlib.chdir(self.folder / at):
            return self.knowledge(*words)

    def ok(self, *words: str, at: str = "") -> Any:
        """The document of a command that must work."""
        told = self.run(*words, at=at)
        assert told.code == 0, (words, told)
        return told.document

    def rows(self, *words: str, at: str = "") -> list[Any]:
        """The rows of a command that lists something."""
        document = self.ok(*words, at=at)
        lists = (
            [document] if isinstance(document, list) else [row for row in document.values() if isinstance(row, list)]
        )
        found: list[Any] = lists[0]
        return found

    def printed(self, *words: str, at: str = "") -> str:
        """What a command prints for a user, both streams."""
        self.here()
        with self, contextlib.chdir(self.folder / at), stand_ins(None, self.world.clock, self.wait):
            _, out, err = call(*words, "--home", str(self.world.paths.home), "--config", str(self.config))
        return out + err

    def learn(self) -> Any:
        """Harvest whatever is new."""
        return self.ok("harvest", "--apply", "--now")

    def mcp(self, *calls: tuple[str, dict[str, Any]], at: str = "", writes: bool = False) -> list[str]:
        """What a client of the server gets that was started in a folder; of a resource (`""`) its text."""
        with self.workspace(at) as workspace:
            return asked(build_server(workspace, allow_writes=writes), list(calls))

    @contextlib.contextmanager
    def workspace(self, at: str = "") -> Iterator[Workspace]:
        """The home as the panel and the server see it."""
        self.here()
        with self, stand_ins(None, self.world.clock, self.wait):
            yield open_workspace(str(self.world.paths.home), self.config, dict(os.environ), self.folder / at)

    def prefix(self, at: str = "") -> str:
        """What a host application puts before a conversation."""
        self.here()
        with self:
            found = prompt_prefix(self.folder / at if at else None, home=self.world.paths.home, config_file=self.config)
        assert isinstance(found, Ok), found
        return found.value.text

    def id_of(self, words: str) -> str:
        """The id of the bullet that says this, as `list` shows it; a struck one's too."""
        return str(self.row_of(words)["id"])

    def row_of(self, words: str) -> dict[str, Any]:
        """The row of the bullet that says this, as `list --json` has it."""
        rows = [
            *self.ok("list", "--project", "all")["bullets"],
            *self.ok("list", "--done", "--project", "all")["bullets"],
        ]
        found: list[dict[str, Any]] = [row for row in rows if plain(words) in plain(row["text"])]
        assert found, f"no bullet says {words!r}"
        return found[0]

    # --- every place that can answer ---------------------------------------------------------------------------------

    def answers(self, asked_for: Sequence[str], at: str = "src/shop") -> dict[str, list[str]]:
        """What each place tells when it is asked for each of these in turn: its name -> texts, without what was asked.
        A place that is asked nothing gives one text."""
        found = {
            name: [told(self, words, at) for words in (asked_for if name in BY_QUERY else asked_for[:1])]
            for name, told in PLACES.items()
        }
        calls = [
            (name, tool, given | ({"query": words} if "query" in given else {}))
            for name, tool, given in ASKED
            for words in (asked_for if "query" in given else asked_for[:1])
        ]
        said = self.mcp(*((tool, given) for _, tool, given in calls), at=at)
        for (name, _, _), text in zip(calls, said, strict=True):
            plainly = text if text[:1] != "{" else json.dumps(_without_echo(json.loads(text)), ensure_ascii=False)
            found.setdefault(name, []).append(plainly)
        return found

    def places(self, words: str, at: str = "src/shop") -> dict[str, str]:
        """The same of one question, as one text each."""
        return {name: texts[0] for name, texts in self.answers([words], at).items()}

    def tellings(self, statements: Sequence[str], at: str = "src/shop") -> dict[str, set[str]]:
        """Place -> which of these it tells as something that holds, each asked for in its own words."""
        told = {
            name: plain(re.sub(r"~~.*?~~", "", "\n".join(texts)))
            for name, texts in self.answers(statements, at).items()
        }
        return {name: {one for one in statements if plain(one) in text} for name, text in told.items()}

    def telling(self, words: str, at: str = "src/shop") -> set[str]:
        """The places that tell it as something that holds."""
        return {name for name, told in self.tellings([words], at).items() if told}

    def conversation_of(self, words: str) -> str:
        """The name of the conversation from which the program has a statement."""
        return str(self.row_of(words)["provenance"]).removeprefix("[from: ").partition(", ")[0]

    def last_run(self) -> str:
        """The id by which the latest change is taken back."""
        return str(self.ok("undo")[0]["run"])

    def kept_away(self) -> int:
        """How many statements the review says were kept away."""
        return sum(row["kind"] == "kept-away" for row in self.waiting())

    def waiting(self) -> list[dict[str, Any]]:
        """All that waits for the user's word."""
        return list(self.ok("review")["waiting"])

    def answer(self, kind: str, words: str) -> None:
        """Say yes to what waits with these words."""
        assert self.says_yes(kind, words), f"nothing of the kind {kind} waits that says {words!r}"

    def says_yes(self, kind: str, words: str) -> bool:
        """Say yes to what waits with these words, where it does."""
        found = [row["id"] for row in self.waiting() if row["kind"] == kind and plain(words) in plain(json.dumps(row))]
        return bool(found) and self.run("review", "yes", found[0]).code == 0

    def forget_caches(self) -> None:
        """Delete what may be deleted at any time."""
        self.here()
        shutil.rmtree(self.folder / "cache", ignore_errors=True)

    # --- two machines ------------------------------------------------------------------------------------------------

    def git(self, *words: str, fails: bool = False, at: Path | None = None) -> str:
        """git in the knowledge folder."""
        given = ["-c", "user.name=one", "-c", "user.email=one@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *given, *words], cwd=at or self.knowledge_folder, capture_output=True, text=True)
        assert fails or not done.returncode, done.stderr + done.stdout
        return done.stdout

    def commit(self) -> None:
        if not (self.knowledge_folder / ".git").exists():
            self.git("init", "-q", "-b", "main")
            self.run("doctor", "--repair")  # which tells git what each machine makes for itself
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x", "--allow-empty")

    def second(self) -> Machine:
        """Another machine of the same user: a clone of the knowledge folder, the same project at the same place."""
        self.commit()
        self.parked = self.folder.with_name(f"{self.folder.name}-{id(self)}")
        self.folder.rename(self.parked)
        other = self.beside = Machine(self.folder)
        other.beside = self
        other.world.paths.home.mkdir()
        other.git("clone", "-q", str(self.parked / "home/knowledge"), str(other.world.paths.knowledge), at=other.folder)
        other.project()
        other.ok("digest", "on")
        other.ok("facts", "sync")
        return other

    def pull(self, other: Machine) -> None:
        """Take over what the other machine has, as a user with a timer does: commit both, merge, end conflicts, and
        bring what is made from the files up to date."""
        other.commit()
        self.commit()
        self.git(
            "fetch", "-q", str(other.parked / "home/knowledge" if other.parked else other.knowledge_folder), "main"
        )
        self.git("merge", "-q", "--no-edit", "FETCH_HEAD", fails=True)
        self.run("doctor", "--repair", "--merge-conflicts")
        self.commit()
        self.ok("facts", "sync")
        self.ok("digest", "on")

    def files_with(self, words: str) -> list[str]:
        """The files of the home (logs, plans and copies among them) that hold the words, by their paths; of a database
        what its rows say, not what its free pages hold."""
        self.here()
        spelled = [words.encode(), json.dumps(words)[1:-1].encode()]
        home = self.world.paths.home
        paths = [path for path in home.rglob("*") if path.is_file() and ".git" not in path.parts]
        return sorted(str(path.relative_to(home)) for path in paths if any(one in _bytes_of(path) for one in spelled))


def _bytes_of(path: Path) -> bytes:
    if path.suffix != ".db":
        return path.read_bytes() if not path.name.endswith(("-wal", "-shm")) else b""
    with contextlib.closing(sqlite3.connect(path)) as database:
        return "\n".join(database.iterdump()).encode()


LOOK_ALIKES = str.maketrans("аеорсхіАВЕКМНОРСТХ", "aeopcxiABEKMHOPCTX")
"""Cyrillic letters -> the Latin ones that they look like."""


def plain(text: str) -> str:
    """Without case, white space, what cannot be seen and letters that look like others: for finding words in answers,
    however they are spelled there."""
    seen = re.sub(r"[\u200b-\u200f\u2060\ufeff\u00ad]|\\u20[01][0-9a-f]|\\u00ad", "", text.translate(LOOK_ALIKES))
    return re.sub(r"[\s.\\`]+", "", seen).casefold()


def _rows(*words: str) -> Callable[[Machine, str, str], str]:
    """The rows that a command gives, as one text; what a user has struck through is not told as holding."""

    def told(machine: Machine, query: str, at: str) -> str:
        found = machine.run(*(query if word is QUERY else word for word in words), at=at)
        assert found.code == 0 or "no library yet" in found.err, (words, found)
        return json.dumps(_without_echo(found.document), ensure_ascii=False)

    return told


def _without_echo(document: Any) -> Any:
    """Without what repeats the question, conversations (they are what was said, not what holds), and struck rows."""
    if isinstance(document, dict):
        return {key: _without_echo(row) for key, row in document.items() if key not in ECHOES}
    if isinstance(document, list):
        return [_without_echo(row) for row in document if not (isinstance(row, dict) and _is_past(row))]
    return document


def _is_past(row: Mapping[str, Any]) -> bool:
    return bool(row.get("struck") or row.get("stale") or row.get("kind") == "conversation")


ECHOES = frozenset(("query", "display", "warnings", "note", "why", "nothing", "notice", "superseded_by"))
QUERY = "QUERY"


def _file(name: str) -> Callable[[Machine, str, str], str]:
    def told(machine: Machine, query: str, at: str) -> str:
        path = machine.knowledge_folder / name
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    return told


def _facts_yaml(machine: Machine, query: str, at: str) -> str:
    """The items of the YAML files that are neither expired nor marked as replaced."""
    living = []
    for path in sorted(machine.knowledge_folder.rglob("*.yaml")):
        for item in re.findall(r"(?m)^- .*\n(?:[ \t]+.*\n?)*", path.read_text(encoding="utf-8")):
            [row] = yaml.safe_load(item)
            living += [row] if not _has_ended(row, machine.world.clock) else []
    return json.dumps([row.get("fact") for row in living], ensure_ascii=False)


def _has_ended(row: Mapping[str, Any], now: datetime) -> bool:
    return str(row.get("expires") or "9999")[:10] <= now.strftime("%Y-%m-%d") or bool(row.get("superseded_by"))


def _index(machine: Machine, query: str, at: str) -> str:
    path = machine.knowledge_folder / "index.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["facts"] if path.is_file() else []
    return json.dumps([row for row in rows if not row.get("stale")], ensure_ascii=False)


PLACES: dict[str, Callable[[Machine, str, str], str]] = {
    "list": _rows("list", "--project", "all"),
    "context": _rows("context"),
    "digest.md": _file("digest.md"),
    "digest show": _rows("digest", "show"),
    "facts list": _rows("facts", "list"),
    "facts bootstrap": _rows("facts", "bootstrap", "--domain", "shop", "--domain", "global"),
    "facts.yaml": _facts_yaml,
    "index.json": _index,
    "search": _rows("search", QUERY),
    "recall": _rows("recall", QUERY),
    "find": _rows("find", QUERY, "--limit", "20"),
    "library retrieve": _rows("library", "retrieve", "--unlogged", QUERY),
    "prompt_prefix": lambda machine, query, at: machine.prefix(at),
}
FACTS_ONLY = ("facts list", "facts bootstrap", "facts.yaml", "index.json", "MCP get_facts")
TASKS_ONLY = ("MCP list_tasks",)
MEMORIES_ONLY = ("recall", "MCP recall_memory")
DOCUMENTS_ONLY = ("library retrieve", "MCP retrieve")
BY_QUERY = ("search", "recall", "find", "library retrieve")
ASKED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("MCP search_knowledge", "search_knowledge", {"query": QUERY}),
    ("MCP recall_memory", "recall_memory", {"query": QUERY}),
    ("MCP get_facts", "get_facts", {"budget": 12_000}),
    ("MCP get_context", "get_context", {}),
    ("MCP list_tasks", "list_tasks", {"limit": 50}),
    ("MCP retrieve", "retrieve", {"query": QUERY}),
    ("MCP digest", "", {"uri": "knowledge://digest"}),
    ("MCP context", "", {"uri": "knowledge://context"}),
)
