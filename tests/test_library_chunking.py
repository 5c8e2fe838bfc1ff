"""Chunks: no line is lost, none is told twice, and what belongs together stays together."""

from __future__ import annotations

import io
import json
import random
import string
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.result import KnowledgeError, Ok, attempt
from core.library.chunking import FULL, MAX_CODE_TOKENS, MAX_TOKENS, pieces_of, token_count
from core.library.concepts import Names, candidates
from core.library.describe import describe, sentences_of
from core.library.extract import Extracted, extract
from tests.library_home import home as home
from tests.library_home import run
from tests.library_home import text as printed
from tests.test_library_extract import page_of, pdf_of


def read(name: str, text: str | bytes, content_type: str = "") -> Extracted:
    found = extract(name, text.encode() if isinstance(text, str) else text, content_type)
    return found[0]


def chunks(document: Extracted) -> list[tuple[str, str, str]]:
    """(heading, kind, text) of each chunk; on the way it is seen that nothing is lost or told twice."""
    pieces = pieces_of(document)
    for one, other in pairwise(pieces):
        assert one.ends <= other.begins
    kept = "".join(document.text[row.begins : row.ends] for row in pieces)
    assert "".join(kept.split()) == "".join(document.text.split())
    return [(row.heading, row.kind, document.text[row.begins : row.ends]) for row in pieces]


def prose(words: int, seed: int = 1) -> str:
    random.seed(seed)
    made = ["".join(random.choices(string.ascii_lowercase, k=random.randint(3, 9))) for _ in range(words)]
    return ". ".join(" ".join(made[at : at + 12]).capitalize() for at in range(0, words, 12)) + "."


# --- prose ------------------------------------------------------------------------------------------------------------


def test_sections_are_chunks_below_the_way_to_them() -> None:
    code = "```sh\nmake\n# no heading\n```"
    text = f"# Guide\n\n{prose(90)}\n\n## Linux\n\n{prose(90, 2)}\n\n{code}\n\n## macOS\n\n{prose(80, 3)}\n"
    found = chunks(read("guide.md", text))
    assert [row[0] for row in found] == ["Guide", "Guide > Linux", "Guide > macOS"]
    assert "make" in found[1][2] and found[1][2].startswith("## Linux")


def test_a_long_section_is_parted_between_paragraphs_and_a_long_paragraph_between_sentences() -> None:
    paragraphs = [prose(120, seed) for seed in range(8)]
    found = chunks(read("long.md", "# Title\n\n" + "\n\n".join(paragraphs)))
    assert len(found) > 3 and all(token_count(row[2]) <= FULL + 30 for row in found)
    assert all(row[2].rstrip().endswith(".") for row in found)
    found = chunks(read("one.txt", prose(4000)))
    assert len(found) > 5 and all(token_count(row[2]) <= MAX_TOKENS and row[2].endswith(".") for row in found)


def test_a_note_stays_whole_and_a_line_without_end_is_parted_all_the_same() -> None:
    assert len(chunks(read("note.md", "Buy milk.\n\nAsk Kim about the release.\n\n- [ ] tag it\n"))) == 1
    found = chunks(read("base64.txt", "A" * 50_000))
    assert len(found) > 5 and max(token_count(row[2]) for row in found) <= MAX_TOKENS * 2


@pytest.mark.parametrize("underline", ["=", "-", "~"])
def test_underlined_and_numbered_headings_of_plain_text_are_headings(underline: str) -> None:
    text = f"Setup\n{underline * 5}\n\n{prose(100)}\n\n2.1 Limits\n\n{prose(100, 4)}\n"
    assert [row[0] for row in chunks(read("page.rst", text, "article"))] == ["Setup", "Setup > 2.1 Limits"]


@settings(max_examples=25)
@given(st.text(alphabet="ab #`-*\n>|.:=~\t[]()1é日", max_size=300))
def test_no_text_loses_a_letter(text: str) -> None:
    for name in ("any.md", "any.txt", "any.py", "any.js", "any.json"):
        found = attempt(extract, name, text.encode())
        if isinstance(found, Ok):
            for document in found.value:
                chunks(document)
                describe(document, pieces_of(document))


# --- code -------------------------------------------------------------------------------------------------------------

PYTHON = '''"""About pools."""
import os

# how many there are
LIMIT = 4


@decorated
def first(a):
    """Return the first one. And more."""
    return a


class Pool:
    """Keeps connections."""

    def acquire(self):
        return 1

    async def release(self):
        return 2


if os.name == "nt":
    def only_here():
        return 3
'''


def test_functions_and_classes_are_chunks_with_what_stands_above_them() -> None:
    found = chunks(read("pool.py", PYTHON))
    assert [row[0] for row in found] == ["", "first", "Pool", "", "only_here"]
    assert found[1][2].startswith("@decorated") and "LIMIT" in found[0][2]


def test_a_large_class_is_its_head_and_its_methods() -> None:
    methods = "\n".join(f"    def method_{number}(self):\n" + "        work()\n" * 60 for number in range(6))
    names = [row[0] for row in chunks(read("large.py", f"class Large:\n    '''Much.'''\n\n{methods}"))]
    assert names == ["Large", *(f"Large.method_{number}" for number in range(6))]
    giant = chunks(read("giant.py", "def giant():\n" + "    step = 'one more line of it'\n" * 900))
    assert len(giant) > 2 and {row[0] for row in giant} == {"giant"}
    assert all(token_count(row[2]) <= MAX_CODE_TOKENS for row in giant)


def test_code_that_no_parser_reads_is_parted_at_its_margin() -> None:
    for broken in ("print 'old'\n\ndef f(:\n  pass\n\nx = 1\n", "def f():\n\treturn (\n\n\nclass A: pass\n"):
        assert chunks(read("old.py", broken))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.ts", "// T\nimport x from 'y'\n\n/** doc */\nexport class A<T> {\n  b(): void {}\n}\nexport const f = (x) => x\n", ["", "A", "f"]),
        ("a.js", "function one() {}\n\n// two\nclass Two { three() {} }\n", ["one", "Two"]),
        ("a.go", "package main\n\n// T is\ntype T struct{}\n\nfunc (t *T) M() {}\nfunc main() {}\n", ["", "T", "T.M", "main"]),
        ("a.rs", "use std::fs;\n#[derive(Debug)]\nstruct S;\nimpl S { fn f() {} }\nfn main() {}\n", ["", "S", "S", "main"]),
        ("a.c", "#include <a.h>\n/* of f */\nstatic int f(int x) {\n return x;\n}\nstruct s { int a; };\n", ["", "f", "s"]),
        ("A.java", "package a;\nclass A { int f() { return 1; } }\ninterface B {}\n", ["", "A", "B"]),
        ("a.rb", "require 'x'\nclass A\n def f\n end\nend\n", ["", "A"]),
        ("a.sh", "#!/bin/sh\nset -e\nmake_it() {\n echo 1\n}\nmake_it\n", ["", "make_it", ""]),
        ("a.lua", "local a = 1\n\nfunction b()\n  return 1\nend\n", [""]),
    ],
)  # fmt: skip
def test_other_languages_are_parsed_too(name: str, text: str, expected: list[str]) -> None:
    pytest.importorskip("tree_sitter")
    assert [row[0] for row in chunks(read(name, text))] == expected


# --- conversations and foreign formats --------------------------------------------------------------------------------


def test_a_conversation_is_parted_where_its_topic_shifts() -> None:
    cache = "The cache key ignores the tenant, so the cache gives one tenant the entries of another tenant."
    talk = (
        f"User: Why does the cache leak between tenants?\n\nAssistant: {cache}\n\n"
        "User: And the cache key of sessions, has it the tenant?\n\nAssistant: No, that cache key lacks the tenant too.\n\n"
        "User: Which licence does the icon font have, and may we ship it in the installer?\n\n"
        "Assistant: The font has the Open Font License, and shipping it inside an installer is allowed.\n"
    )
    document = read("talk.md", talk)
    assert document.content_type == "conversation"
    found = chunks(document)
    assert [row[0] for row in found] == ["turns 1 to 4", "turns 5 to 6"]


def test_an_export_of_many_conversations_is_many_documents() -> None:
    turns = [
        {"sender": who, "text": "It is here.", "created_at": "2026-01-02T03:04:05Z"} for who in ("human", "assistant")
    ]
    talks = [{"uuid": f"u{n}", "name": f"Talk {n}", "chat_messages": turns} for n in range(3)]
    found = attempt(extract, "conversations.json", json.dumps(talks).encode())
    assert isinstance(found, Ok) and len(found.value) == 3
    assert len({row.inside for row in found.value}) == 3 and found.value[0].written_at is not None


def test_html_loses_its_clutter_and_keeps_its_code() -> None:
    page = (
        "<!doctype html><title>How it hangs</title><nav>Home | About</nav><main><h1>Deadlock</h1>"
        "<p>Do <b>not</b> wait.</p><pre><code>await x</code></pre><script>bad()</script></main><footer>(c)</footer>"
    )
    document = read("page.html", page)
    assert document.title == "How it hangs" and "# Deadlock" in document.text and "await x" in document.text
    assert "bad()" not in document.text and "About" not in document.text
    assert read("x", page).form == "markdown"  # by its content alone


def test_a_notebook_is_its_cells_with_what_they_printed() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Fit\n", "We fit a line."]},
        {"cell_type": "code", "source": "fit(x)", "outputs": [{"output_type": "stream", "text": ["R2 0.9\n"]}]},
    ]
    document = read("fit.ipynb", json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    assert document.title == "Fit" and "```python\nfit(x)\n```" in document.text and "R2 0.9" in document.text


def test_pdf_and_docx_give_their_text() -> None:
    """Also where what leads through the file is gone, as in many that were made by hand."""
    stream = b"BT /F1 12 Tf 72 700 Td (A lock is held) Tj ET"
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )
    body = b"".join(b"%d 0 obj%s\nendobj\n" % (number, one) for number, one in enumerate(objects, start=1))
    pdf = b"%PDF-1.4\n" + body + b"trailer<</Root 1 0 R/Size 6>>\nstartxref\n0\n%%EOF"
    assert "A lock is held" in read("paper.pdf", pdf).text
    packed = io.BytesIO()
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    words = "<w:p><w:r><w:t>Nobody let it go.</w:t></w:r></w:p>"
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("word/document.xml", f'<w:document xmlns:w="{space}"><w:body>{words}</w:body></w:document>')
    assert "Nobody let it go." in read("memo.docx", packed.getvalue()).text


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.pdf", b"%PDF-1.7 and no more", "broken"),
        ("a.docx", b"PK\x03\x04word/ but no archive", "broken"),
        ("a.ipynb", b'{"cells": 3', "broken"),
        ("a.bin", b"\x00\x01\x02\x03" * 50, "no-text"),
        ("a.txt", b"   \n", "empty"),
        ("a.zip", b"PK\x03\x04 something else", "no-text"),
        ("a.ipynb", b"[" * 100_000, "broken"),
    ],
)
def test_a_broken_file_is_one_sentence(name: str, data: bytes, code: str) -> None:
    result = attempt(extract, name, data)
    assert isinstance(result, KnowledgeError) and result.error.code == code and "\n" not in str(result.error)


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "utf-8-sig"])
def test_text_of_other_encodings_is_read(encoding: str) -> None:
    assert "Grüße" in read("a.txt", "Grüße".encode(encoding)).text


@pytest.mark.parametrize(
    ("name", "text", "title", "kind", "language"),
    [
        ("lentils.md", "# Lentils\n\n## Abstract\n\nThey boil.\n\n## References\n\n[1] Pots\n", "Lentils", "paper", ""),
        ("post.md", "---\ntitle: 'On pots'\n---\n\nA pot is round.\n", "On pots", "note", ""),
        ("boil", "#!/bin/sh\necho boiled\n", "boil", "code", "bash"),
    ],
)
def test_a_text_says_by_its_marks_what_it_is(name: str, text: str, title: str, kind: str, language: str) -> None:
    found = read(name, text)
    assert (found.title, found.content_type, found.language) == (title, kind, language)


# --- what is said of them ---------------------------------------------------------------------------------------------

SAID = {
    "A semaphore is a counter that several tasks share, and that none may take below zero.": ("definition", "explanatory"),
    "We ran into this last week. I spent three hours on it and my team found that the proxy ate the header. It bit me twice.":
        ("narrative", "anecdotal"),
    "Sure, because what could possibly go wrong with a global lock in production. Good luck with that.":
        ("narrative", "sarcastic"),
    "Run `make install` first. Then set the port in the file. You must restart the server, and check the log.":
        ("narrative", "instructional"),
    "We chose SQLite instead of a server, because there is one writer. However, a team outgrows it, therefore there is "
    "another way.": ("argument", "argumentative"),
}  # fmt: skip


@pytest.mark.parametrize("text", SAID, ids=[row[1] for row in SAID.values()])
def test_kind_and_manner_are_told_by_the_words(text: str) -> None:
    document = read("a.txt", text)
    (row,) = describe(document, pieces_of(document)).rows
    assert (row.chunk_type, row.rhetorical_mode) == SAID[text]


def test_a_chunk_that_leans_on_another_says_so() -> None:
    for leans, text in (
        (True, "This is why it fails, as mentioned above, and the same holds for the other one as well, mostly."),
        (False, "PostgreSQL keeps the old versions of a row until the vacuum removes them from the table."),
    ):
        document = read("a.txt", text)
        assert describe(document, pieces_of(document)).rows[0].needs_context is leans


def test_a_summary_is_a_sentence_of_the_text() -> None:
    """Without a model nobody may put words into an author's mouth."""
    text = f"# Pools\n\nA pool keeps connections open. {prose(60)}\n\nA full pool makes callers wait.\n"
    document = read("guide.md", text)
    whole = " ".join(sentences_of(document.text))
    assert all(row.summary.rstrip("…") in whole for row in describe(document, pieces_of(document)).rows)
    code = read("pool.py", PYTHON)
    assert "first: Return the first one." in [row.summary for row in describe(code, pieces_of(code)).rows]


def test_concepts_are_what_a_text_marks_and_really_says() -> None:
    text = (
        "# Source Profiles\n\nA source profile is what is known of a source. `asyncio.Lock` guards it, and every "
        "source profile is kept. The GIL does not help; the GIL is one lock.\n\n## Locks\n\nUse `asyncio.Lock` here.\n"
    )
    document = read("a.md", text)
    names = {row.name for row in candidates(document, pieces_of(document))}
    assert {"asyncio.Lock", "GIL"} <= names and any(name.lower().startswith("source profile") for name in names)


def test_a_name_is_found_as_whole_words_in_any_case_and_nowhere_else() -> None:
    names = Names({"async/await": "a", "lock": "l", "source profile": "s", "c++": "c"})
    counted = names.counted("Async/Await with a LOCK, two locks; a blocked source\n profile in C++.")
    assert counted == {"a": 1, "l": 2, "s": 1, "c": 1}
    assert names.counted("deadlock, source of a profile, asyncio.lock") == {"l": 1}


def test_records_that_are_no_conversation_are_data_and_lose_no_line() -> None:
    rows = "".join(json.dumps({"number": number, "name": f"row {number}"}) + "\n" for number in range(200))
    document = read("rows.jsonl", rows)
    assert (document.content_type, document.form) == ("reference", "data")
    assert len(chunks(document)) > 3


def test_concepts_are_what_a_person_would_call_so() -> None:
    notes = (
        "# The relay\n\n## Motivation\n\nThe relay speaks MQTT. Keep OUT of its way: what goes out is sent out once.\n"
        "A pattern like dEf or aBc is no name, nor are dEf and aBc together. MQTT needs `Relay_Hub`.\n\n"
        "## Relay hub\n\nThe relay hub asks again when MQTT is slow; a relay hub is a process.\n"
    )
    code = (
        "import sys\nimport asyncio\n\n\nclass RelayHub:\n    def ask(self):\n        raise TypeError(ask)  # noqa: E501\n\n\n"
        "def test_relay_hub():\n    if asyncio: raise TypeError(sys, RelayHub)  # noqa: E501\n"
    )
    found = {name: concepts_of(name, words) for name, words in (("relay.md", notes), ("relay.py", code))}
    assert found["relay.md"] == {"relay", "MQTT", "Relay_Hub"}
    assert found["relay.py"] == {"RelayHub", "asyncio"}


def concepts_of(name: str, words: str) -> set[str]:
    document = read(name, words)
    return {one.name for one in candidates(document, pieces_of(document))}


# --- where a chunk stands ---------------------------------------------------------------------------------------------


def test_a_pdf_keeps_its_numbered_headings_and_each_chunk_names_its_page(home: Path, tmp_path: Path) -> None:
    said = ["The relay waits for an answer and asks again after a second.", "Nothing else is written to the wire."] * 9
    paper = pdf_of(
        page_of("Relays in practice", "1 Introduction", *said, "2 Timeouts", *said),
        page_of("2.1 Choosing a limit", *said, "1. Ask the relay", "2. Wait for the answer", "3 Results", *said),
    )
    (tmp_path / "paper.pdf").write_bytes(paper)
    made = run(home, "ingest", str(tmp_path / "paper.pdf"))
    shown = run(home, "show", made["documents"][0]["id"])["chunks"]
    found = {row["heading"]: row["place"] for row in shown}
    assert list(found) == ["1 Introduction", "2 Timeouts", "2 Timeouts > 2.1 Choosing a limit", "3 Results"]
    assert list(found.values()) == ["page 1", "page 1", "page 2", "page 2"]
    best = run(home, "retrieve", "choosing a limit")[0]
    assert best["document"]["place"] == "page 2" and "page 2" in printed(home, "retrieve", "choosing a limit")


def test_a_chunk_of_code_names_its_lines(home: Path, tmp_path: Path) -> None:
    code = "import os\n\n\n" + "".join(f"def job_{at}():\n{'    work()' + chr(10)}" * 1 for at in range(3))
    (tmp_path / "jobs.py").write_text(code + "\n\ndef lone_wolf():\n" + "    howl()\n" * 200)
    run(home, "ingest", str(tmp_path / "jobs.py"))
    best = run(home, "retrieve", "lone_wolf howl")[0]["document"]["place"]
    assert best.startswith("lines 12 to ")


def test_markdown_without_line_breaks_is_parted_at_its_headings(home: Path, tmp_path: Path) -> None:
    words = "The cache keeps an answer for a minute and then asks again. " * 60
    (tmp_path / "flat.md").write_text(f"# Guide {words}## Install {words}## Use {words}")
    made = run(home, "ingest", str(tmp_path / "flat.md"))
    chunks = run(home, "show", made["documents"][0]["id"])["chunks"]
    assert max(row["token_count"] for row in chunks) <= 700
    assert {row["heading"].split(" > ")[-1].split()[0] for row in chunks} == {"Guide", "Install", "Use"}
