"""What each command does, as data: a home before, the arguments, what a model answers; the exit code, the JSON document
and the files after. If one fails, a script or a habit of a user breaks. Words of reports may get better: of the text
only the exit code counts, and that it says something.

`tests/cases/*.yaml` hold the cases. `home` is `demo` (harvested samples, the default), `samples` (not harvested yet) or
`empty`; `files` are written into the user's folder before (`home/…` is the knowledge home), `before` are commands that
are not looked at, `with` names what one of them gives, `answers` are what a model answers, in turn, `stdin` is typed.
`RECORD_CASES=1` writes `expect` again.
"""

from __future__ import annotations

import difflib
import hashlib
import io
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from core.cli.main import main
from core.commands.demo import make_demo_home
from core.commands.table import commands

CASES = Path(__file__).parent / "cases"
RECORDS = bool(os.environ.get("RECORD_CASES"))
TEXTS = (".md", ".yaml", ".toml", ".json", ".txt", ".py", ".service", ".timer", ".jsonl")
UNREAD = ("ledger.json", "changes.jsonl", "index.json")
"""Files whose entries other tests hold to the byte: that they changed is enough here."""
MODEL = """import pathlib, sys
answers = sorted(pathlib.Path(sys.argv[1]).glob("*.json"))
sys.stdin.buffer.read()
sys.stdout.write(answers[0].read_text(encoding="utf-8"))
answers[0].unlink() if len(answers) > 1 else None
"""


def load() -> Iterator[tuple[Path, dict[str, Any]]]:
    for file in sorted(CASES.glob("*.yaml")):
        for case in yaml.safe_load(file.read_text(encoding="utf-8")):
            yield file, case


ALL = list(load())


@pytest.fixture(scope="session")
def person() -> Iterator[Path]:
    """The folder of a user, always the same one, and beside it what it held before and after a harvest by rules. Its
    path is as long in every run: it stands in the samples, whose sizes are told."""
    kept = Path(os.path.realpath(tempfile.mkdtemp(prefix="cases-", dir="/tmp" if os.path.isdir("/tmp") else None)))
    person = kept / "person"
    person.mkdir()
    make_demo_home(str(person / "home"))
    shutil.copytree(person, kept / "samples", ignore=shutil.ignore_patterns("project"))
    with pytest.MonkeyPatch.context() as patched:
        environment(patched, person)
        prepared({"home": "as it is"}, person)
        assert play(["harvest", "--apply"], person)[0] == 0
    shutil.rmtree(person / "cache", ignore_errors=True)
    shutil.copytree(person, kept / "demo", ignore=shutil.ignore_patterns("project"))
    yield person
    shutil.rmtree(kept)


def environment(patched: pytest.MonkeyPatch, person: Path) -> None:
    patched.setenv("HOME", str(person))
    # Nothing goes on in the background when a command has ended.
    patched.setattr("core.commands.daily.connect.set_free", lambda words: True)
    for name in ("CACHE", "CONFIG", "DATA", "STATE"):
        patched.setenv(f"XDG_{name}_HOME", str(person / name.lower()))


def masked(text: str, person: Path) -> str:
    """Without what differs from run to run: places, days, times, ids of runs, hashes, sizes."""
    text = text.replace(str(person), "~").replace(sys.executable, "{python}")
    text = text.replace(str(Path(sys.executable).parent), "{bin}").replace(
        str(Path(__file__).resolve().parents[1]), "{program}"
    )
    text = re.sub(r"\b(edit-|undo-)?\d{8}T\d{6}\d*-[0-9a-f]{6}\b", r"\1{run}", text)
    text = re.sub(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[+-]\d{2}:\d{2}|Z)?", "{time}", text)
    text = re.sub(r"\b20\d{2}-\d{2}-\d{2}\b", "{date}", text)
    text = re.sub(r"\b\d{8}T\d{6}Z\b", "{time}", text)
    text = re.sub(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "{uuid}", text)
    text = re.sub(r"\b[0-9a-f]{64}\b", "{sha256}", text)
    text = re.sub(r"\b(?:[0-9a-f]{12,16}|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8})\b", "{hash}", text)
    return re.sub(r"\b\d+:\d{5,}\b", "{file id}", text)


VARYING = re.compile(
    r"(bytes|size|tokens|modified|mtime|age|seconds|score|newest|estimate|day|days|version|pid|free|rank|input|output)\Z"
)


def plain(value: Any, person: Path, key: str = "") -> Any:
    """A JSON document with what varies masked: numbers below keys of sizes and times become `{n}`."""
    if isinstance(value, dict):
        if "id" in value and str(person) in str(value.get("text")):  # an id is made from the words
            value = value | {"id": "{id}"}
        value = value | ({"program": "{installed}"} if isinstance(value.get("program"), str) else {})
        return {masked(name, person): plain(row, person, name) for name, row in value.items()}
    if isinstance(value, list):
        return [plain(row, person, key) for row in value]
    if isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool) and VARYING.search(key)):
        return "{n}"
    return masked(value, person) if isinstance(value, str) else value


def ordered(value: Any) -> Any:
    """Lists in an order of their own, where that of the command goes by hashes."""
    if isinstance(value, dict):
        return {name: ordered(row) for name, row in value.items()}
    return sorted(map(ordered, value), key=json.dumps) if isinstance(value, list) else value


def shape(value: Any) -> Any:
    """The names of a document without its values, where these are prose."""
    if isinstance(value, dict):
        return {name: shape(row) for name, row in value.items()}
    return list(map(shape, value)) if isinstance(value, list) else type(value).__name__


def prepared(case: dict[str, Any], person: Path) -> None:
    """Put the folder into the state that a case begins with. The samples' own project stays as it is: notes know its
    files by their inodes."""
    kind = case.get("home", "demo")
    if kind != "as it is":
        for path in (*person.iterdir(), *(person / "home").iterdir()):
            if path not in (person / "home", person / "home/project"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        if kind != "empty":
            shutil.copytree(person.parent / kind, person, dirs_exist_ok=True)
    settings = person / "config.toml"
    rows = ["[ai_settings.knowledge]", f'file_roots = ["{person}"]', *case.get("settings", ())]
    if "answers" in case:
        answers = person / "answers"
        answers.mkdir()
        for number, answer in enumerate(case["answers"]):
            words = answer if isinstance(answer, str) else json.dumps(answer)
            (answers / f"{number:03}.json").write_text(words, encoding="utf-8")
        (person / "model.py").write_text(MODEL, encoding="utf-8")
        command = json.dumps([sys.executable, str(person / "model.py"), str(answers)])
        rows += ['provider = "command"', f"command = {command}", "max_run_tokens = 0"]
    settings.write_text("\n".join(rows) + "\n", encoding="utf-8")
    for name, text in case.get("files", {}).items():
        path = person / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("{person}", str(person)), encoding="utf-8")
    for line in case.get("before", ()):
        code, out, err = play(words_of(line, person), person)
        assert code == 0, (line, out, err)


def filled(line: str, case: dict[str, Any], person: Path) -> str:
    """The line with what an earlier command gave: `with: {NAME: [COMMAND, PLACE…]}` looks it up in its JSON."""
    known: dict[str, str] = {}
    for name, (command, *places) in case.get("with", {}).items():
        code, out, err = play([*words_of(with_known(command, known), person), "--json"], person)
        assert code == 0, (command, err)
        value = json.loads(out)
        for place in places:
            value = value[place]
        known[name] = str(value)
    return with_known(line, known)


def with_known(line: str, known: dict[str, str]) -> str:
    for name, value in known.items():
        line = line.replace(f"{{{name}}}", value)
    return line


def words_of(line: str, person: Path) -> list[str]:
    """The words of a command line, `{person}` and `{sha:NAME}` (of a conversation whose name begins so) filled in."""

    def sha(found: re.Match[str]) -> str:
        [path] = (person.parent / "samples/home/conversations").glob(f"{found[1]}*")
        return hashlib.sha256(path.read_bytes()).hexdigest()[:12]

    return [re.sub(r"\{sha:([\w-]+)\}", sha, word.replace("{person}", str(person))) for word in shlex.split(line)]


def play(words: list[str], person: Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    place = ["--home", str(person / "home"), "--config", str(person / "config.toml")]
    code = main([*words, *place], out, err)
    return code, out.getvalue(), err.getvalue()


def snapshot(person: Path) -> dict[str, bytes]:
    skipped = ("answers", "cache")
    return {
        str(path.relative_to(person)): path.read_bytes()
        for path in sorted(person.rglob("*"))
        if path.is_file() and not path.is_symlink() and path.relative_to(person).parts[0] not in skipped
    }


def changed(before: dict[str, bytes], after: dict[str, bytes], person: Path, unordered: bool) -> dict[str, Any]:
    """What became of the files: the masked lines that went (`- `) and came (`+ `), `gone`, or `changed` of one that is
    no text. States are left out."""
    found: dict[str, Any] = {}
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) == after.get(name) or "/.state/" in name:
            continue
        shown = masked(name, person)
        if name not in after:
            found[shown] = "gone"
        elif not name.endswith(TEXTS) or name.rpartition("/")[2] in UNREAD:
            found[shown] = "changed"
        else:
            old, new = (masked(rows.get(name, b"").decode("utf-8", "replace"), person) for rows in (before, after))
            sort = sorted if unordered else list
            lines = difflib.ndiff(sort(old.splitlines()), sort(new.splitlines()))
            rows = [line for line in lines if line[0] in "+-" and line[2:].strip()]
            found |= {shown: rows or "changed"} if rows or not unordered else {}
    return found


def played(case: dict[str, Any], person: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Exit code, JSON and files of a command; with and without `--json` it must do the same."""
    seen: list[dict[str, Any]] = []
    document = None
    for as_json in (True, False):
        environment(monkeypatch, person)
        prepared(case, person)
        monkeypatch.chdir(person / case.get("in", "."))
        monkeypatch.setattr("sys.stdin", io.StringIO(case.get("stdin", "")))
        line = filled(case["run"], case, person)
        before = snapshot(person)
        code, out, err = play([*words_of(line, person), *(["--json"] if as_json else [])], person)
        assert "Traceback" not in out + err, out + err
        row: dict[str, Any] = {"exit": code}
        if files := changed(before, snapshot(person), person, case.get("unordered", False)):
            row["files"] = files
        if as_json:
            document = plain(json.loads(out), person) if out else None
            document = ordered(document) if case.get("unordered") else document
            document = shape(document) if case.get("shape") else document
        else:
            assert out or err, "neither a report nor an error"
        seen.append(row)
    assert seen[0] == seen[1], "with --json it does something else"
    return {**seen[0], "json": document}


@pytest.mark.parametrize("file, case", ALL, ids=[f"{file.stem}: {case['case']}" for file, case in ALL])
def test_case(file: Path, case: dict[str, Any], person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = played(case, person, monkeypatch)
    if RECORDS:
        rows = yaml.safe_load(file.read_text(encoding="utf-8"))
        for row in rows:
            if row["case"] == case["case"]:
                row["expect"] = found
        text = yaml.safe_dump(rows, sort_keys=False, allow_unicode=True, width=110)
        file.write_text(text, encoding="utf-8")
    else:
        then, now = (yaml.safe_dump(row, sort_keys=False, allow_unicode=True) for row in (case["expect"], found))
        assert then == now, "\n".join(difflib.unified_diff(then.splitlines(), now.splitlines(), "case", "now", n=2))


def test_every_command_has_a_case_that_works_and_one_that_is_refused() -> None:
    """A leaf without arguments cannot be refused for what it is given; vectors need a model that no test
    has, and what the server does `test_mcp_server.py` asks through a client."""
    played = [(shlex.split(case["run"]), case.get("expect", {}).get("exit")) for _, case in ALL]
    missing = []
    for row in commands():
        for leaf in row.leaves:
            names = [row.name] if leaf is row else [row.name, leaf.name]
            codes = {code for words, code in played if words[: len(names)] == names}
            if (0 not in codes and names not in (["vectors"], ["mcp"])) or (leaf.arguments and not codes - {0}):
                missing.append(" ".join(names))
    assert not missing
