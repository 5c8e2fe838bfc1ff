"""What a document says stands in the library word for word, whose words count, and what was learned stays with it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sqlite3
import zipfile
from html import escape
from pathlib import Path
from typing import Any

import pytest

from core.base.marks import NOTICE
from core.base.secrets.redact import redact
from core.library.chunking import pieces_of
from core.library.describe import describe, sentences_of
from core.library.extract import extract
from tests.cli_call import call
from tests.library_home import GOTCHA, asked_in_a_session, harvested, heard, recorded, run, switch, text
from tests.library_home import home as home
from tests.spoken_home import call as call_of
from tests.spoken_home import claude_row, result

# --- what is stored says what the document says, and nothing else -----------------------------------------------------

CODE = (
    "Call loop.run_in_executor(None, work, *args, **kwargs) with MAX_WORKERS = 4 in C:\\Users\\me\\_init_.py; "
    "List<T> and [x] and #include stay, and so does __init__."
)


def word_file(*paragraphs: str) -> bytes:
    """A DOCX with these paragraphs."""
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    rows = "".join(f'<w:p><w:r><w:t xml:space="preserve">{escape(one)}</w:t></w:r></w:p>' for one in paragraphs)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("word/document.xml", f'<w:document xmlns:w="{space}"><w:body>{rows}</w:body></w:document>')
    return packed.getvalue()


@pytest.mark.parametrize("kind", ["html", "docx", "md"])
def test_what_an_agent_copies_from_a_document_is_what_stands_in_it(home: Path, tmp_path: Path, kind: str) -> None:
    """An escaped underscore or a star less is a program that does not run."""
    body = {"html": f"<h1>The _private MAX_WORKERS</h1><p>{escape(CODE)}</p>".encode(),
            "docx": word_file("The _private MAX_WORKERS", CODE, "def work(self):", "    return self._pool"),
            "md": f"# The _private MAX_WORKERS\n\n{CODE}\n".encode()}  # fmt: skip
    page = tmp_path / f"pool.{kind}"
    page.write_bytes(body[kind])
    (document,) = run(home, "ingest", str(page))["documents"]
    shown = run(home, "show", document["id"])
    (best, *_) = run(home, "retrieve", "run_in_executor workers", "--unlogged")
    assert CODE in best["text"] and "The _private MAX_WORKERS" in best["text"]
    assert shown["title"] == "The _private MAX_WORKERS" and CODE in shown["top_summary"] + best["summary"]
    assert kind != "docx" or "\n    return self._pool" in shown["raw_content"]


def test_code_beside_its_line_numbers_keeps_its_lines_and_links_in_it_are_no_part_of_it(
    home: Path, tmp_path: Path
) -> None:
    page = tmp_path / "listing.html"
    listing = "def work(self):\n    return self._pool\n"
    cells = f"<td><pre>1\n2</pre></td><td class=code><pre>{listing}</pre></td>"
    linked = "fn cmp(&self,&nbsp;other) -&gt; Option&lt;<a href='o.html'>Ordering</a>&gt; {} <a href='x'>more</a>"
    page.write_text(f"<html><body><p>{linked}</p><table><tr>{cells}</tr></table></body></html>")
    (document,) = run(home, "ingest", str(page))["documents"]
    kept = run(home, "show", document["id"])["raw_content"]
    assert listing in kept and "fn cmp(&self, other) -> Option<Ordering> {} [more](x)" in kept


def test_a_summary_keeps_what_is_code_and_loses_what_is_emphasis() -> None:
    for said, expected in (
        ("Pass *args and **kwargs to it, **never** a list.", "Pass *args and **kwargs to it, never a list."),
        ("Use `a_b * c` and [the *guide*](x.md), __init__ too.", "Use `a_b * c` and the guide, __init__ too."),
        ("The jobs[name](event) of _private are `**bold**`.", "The jobs[name](event) of _private are `**bold**`."),
        ("Copy *.py and **/*.md; 2 * 3 * 4 is _not at all_ 5.", "Copy *.py and **/*.md; 2 * 3 * 4 is not at all 5."),
    ):  # fmt: skip
        assert " ".join(sentences_of(said)) == expected
    for name, source, expected in (
        ("a.c", "#include <stdio.h>\nint main(void) { return 0; }\n", "#include <stdio.h>"),
        ("a.py", "def call(\n    function,\n    *args,\n):\n    return function(*args)\n", "def call("),
    ):
        found = extract(name, source.encode())[0]
        assert describe(found, pieces_of(found)).rows[0].summary == expected


def test_a_token_in_a_name_is_stored_and_told_nowhere(home: Path, tmp_path: Path) -> None:
    """Names of downloads and of pages carry keys; two such files stay two, and are found by the name that they have."""
    folder = tmp_path / "keys"
    folder.mkdir()
    names = [folder / f"ghp_{letter}{'1B2c' * 9}.md" for letter in "ab"]
    for name in names:
        name.write_text(f"# Deploy {name.name[:5]}\n\nThe deployment of {name.name[:5]} needs the bastion host.\n")
    (folder / f"ghp_c{'1B2c' * 9}.pdf").write_bytes(b"%PDF-1.7\nno more")
    code, out, err = call("library", "ingest", str(folder), "--home", str(home), "--json")
    again = text(home, "ingest", *map(str, names))
    assert code == 1 and "2 unchanged" in again
    listed = text(home, "list") + text(home, "show", str(names[0])) + text(home, "retrieve", "bastion host deployment")
    assert "1B2c1B2c" not in out + err + again + listed and len(json.loads(out)["documents"]) == 2
    for file in home.rglob("*"):
        assert file.is_dir() or b"1B2c1B2c" not in file.read_bytes(), file
    names[0].write_text("# Deploy\n\nThe deployment goes by another bastion host now.\n")
    assert run(home, "ingest", str(folder / names[0].name))["counts"] == {"changed": 1}


def test_a_name_that_was_stored_with_its_token_loses_it(home: Path, tmp_path: Path) -> None:
    name = tmp_path / f"ghp_{'a1B2' * 9}.md"
    name.write_text("# Deploy\n\nThe deployment needs the bastion host.\n")
    switch(home, "redact", False)
    run(home, "ingest", str(name))
    switch(home, "redact", True)
    (document,) = [one["id"] for one in run(home, "list") if one["path"].startswith(str(tmp_path / "ghp_"))]
    run(home, "ingest", str(name))
    shown = run(home, "show", str(name))
    assert shown["id"] == document and "[redacted: github-token" in shown["source"]
    with contextlib.closing(sqlite3.connect(home / "library.db")) as connection:
        assert name.name not in "".join(connection.iterdump())


def test_redaction_leaves_the_standard_library_as_it_is() -> None:
    """Code with a hole in it is wrong code."""
    folder = Path(os.__file__).parent
    for name in (
        "http/server.py",
        "http/cookies.py",
        "http/cookiejar.py",
        "smtplib.py",
        "netrc.py",
        "getpass.py",
    ):
        source = (folder / name).read_text()
        assert redact(source).text == source, name


# --- whose words count ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("Great, works. Now the other test still fails", "win"),
        ("thanks, fixed! another endpoint does not work though", "win"),
        ("Great, but it still fails", "misleading"),
        ("Thanks. That is wrong, the other one is right.", "misleading"),
        ("it does not work", "misleading"),
        ("the next test still hangs", "partial"),
    ],
)
def test_a_verdict_is_of_what_was_asked_about(home: Path, said: str, outcome: str) -> None:
    assert [trace["outcome"] for trace in heard(home, said=said)] == [outcome]


def test_a_trace_has_the_day_of_its_conversation(home: Path) -> None:
    asked_in_a_session(home, 3)
    harvested(home)
    assert {one["at"] for one in recorded(home)} == {"2026-06-03T10:00:01+00:00"}


def test_what_the_library_told_an_agent_does_not_come_back_as_a_document(home: Path, tmp_path: Path) -> None:
    """Else every answer would be found again as if somebody else had said the same."""
    asked = json.dumps(run(home, "retrieve", "why does my async callback deadlock")[:1])
    shown = text(home, "show", str(tmp_path / "notes" / "async.md"))
    recalled = json.dumps({"notice": NOTICE, "results": [{"text": GOTCHA}]})
    rows = [claude_row("user", "why does my async callback deadlock", "2026-06-01T10:00:00Z")]
    for at, (command, said) in enumerate(
        (("cd x && knowledge library retrieve callback", asked), ("knowledge library show async", shown),
         ("recall", recalled), ("ls", "app_main.py test_deadlock.py"))
    ):  # fmt: skip
        rows += [claude_row("assistant", call_of(f"c{at}", command), f"2026-06-01T10:00:1{at}Z"),
                 claude_row("user", result(f"c{at}", said), f"2026-06-01T10:00:2{at}Z")]  # fmt: skip
    rows.append(claude_row("assistant", "The callback awaits; make it a task.", "2026-06-01T10:01:00Z"))
    (tmp_path / "session.jsonl").write_bytes(b"".join(rows))
    (document,) = run(home, "ingest", str(tmp_path / "session.jsonl"))["documents"]
    kept = run(home, "show", document["id"])["raw_content"]
    assert "make it a task" in kept and "test_deadlock.py" in kept
    assert "Ran into this exact issue" not in kept and "Async deadlocks" not in kept


# --- what was learned of a text stays with it -------------------------------------------------------------------------


def used_six_times(home: Path) -> str:
    """A chunk with six wins and a profile; its id."""
    (best, *_) = [one for one in run(home, "retrieve", "async callback deadlock") if GOTCHA in one["text"]]
    for _ in range(6):
        run(home, "record", "--chunk", best["key"], "--outcome", "win", "--task", "debugging")
    run(home, "consolidate")
    return str(best["key"])


def counts_of(home: Path) -> dict[str, Any]:
    """What is known of the chunks that are found: id -> outcomes at debugging."""
    found = run(home, "retrieve", "async callback deadlock", "--unlogged")
    return {one["key"]: one["counts"].get("debugging") for one in found if one["counts"]}


@pytest.mark.parametrize(
    "grown",
    [
        "# Async deadlocks\n\n{said} Once more.\n",
        "# Async deadlocks\n\n- one line before it\n\n{said}\n\n- and a line behind\n- and another one\n",
        "# Async deadlocks and hangs\n\n{said}\n",
    ],
)
def test_two_words_more_erase_no_experience(home: Path, tmp_path: Path, grown: str) -> None:
    """A category file grows at each harvest; what was confirmed in it stays confirmed."""
    file = tmp_path / "notes" / "async.md"
    key = used_six_times(home)
    file.write_text(grown.format(said=GOTCHA))
    assert run(home, "ingest", str(file))["counts"] == {"changed": 1}
    assert counts_of(home) == {key: {"win": 6}}
    assert "Functional profile: Good for" in text(home, "retrieve", "async callback deadlock", "--unlogged")
    assert file.read_text().strip() == run(home, "show", key)["raw_content"].strip()


REWRITTEN = (
    "# Async deadlocks\n\nA callback that never deadlocks is one that nobody calls: async code has no need of it.\n"
)


def test_what_a_new_text_leaves_behind_is_told_and_comes_back_with_its_words(home: Path, tmp_path: Path) -> None:
    """Nothing that was learned is lost, and nothing old is told for new."""
    file = tmp_path / "notes" / "async.md"
    key = used_six_times(home)
    file.write_text(REWRITTEN)
    (told,) = run(home, "ingest", str(file))["warnings"]
    assert "6 usage records stay with the former version" in told and str(file) in told
    assert counts_of(home) == {}
    assert [one["outcome"] for one in run(home, "show", key)["traces"]] == ["win"] * 6
    file.write_text(f"# Async deadlocks\n\n{GOTCHA}\n")
    assert run(home, "ingest", str(file))["warnings"] == []
    assert counts_of(home) == {key: {"win": 6}}
    file.write_text(REWRITTEN)
    again = run(home, "ingest", str(file))
    assert again["counts"] == {"restored": 1} and "6 usage records" in again["warnings"][0]
