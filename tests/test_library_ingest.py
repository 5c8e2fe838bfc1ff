"""What comes into the library stays, comes once, and costs nothing else when it is broken; on both databases."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import random
import signal
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import pytest
from sqlalchemy import select

from core.base.answer import Answer
from core.base.result import KnowledgeError, attempt
from core.library import rows, schema
from core.library.database import Library, problems_of
from core.library.extract import extract
from core.library.ingest import HERE, Engine, IngestReport, Wanted, ingest
from core.library.prepare import Item, Prepared, Way, prepare
from core.library.records import Chunk, Concept, Document, SourceProfile, UsageTrace, new_id
from core.library.workers import local_processes
from tests.cpu_time import cpu_seconds
from tests.library_place import NOW, beside, later, opened

ONE_DATABASE = pytest.mark.parametrize("library_url", ["sqlite"], indirect=True)
"""For what comes in or does not: whether the database holds it, other tests see on both."""
GUIDE = """# Locks

A semaphore is a counter that several tasks share. It guards what they share, whatever they do with it.

## Deadlocks

Two tasks wait for each other when each holds what the other needs. `asyncio.Lock` does not notice; nobody is told.

## Timeouts

Run `asyncio.wait_for` around every wait. You should set the time so that a slow disk does not look like a deadlock.
"""


def take_in(
    library: Library, *names: object, way: Way | None = None, engine: Engine = HERE, again: bool = False, **more: Any
) -> IngestReport:
    wanted = Wanted([str(name) for name in names], Path.cwd(), again=again)
    return ingest(library, wanted, way or Way(), engine, **{"now": lambda: NOW, **more})


def documents(library: Library) -> list[Document]:
    with library.reading() as connection:
        return rows.read(connection, schema.document, Document, order=(schema.document.c.title,))


def chunks(library: Library, document_id: str) -> list[Chunk]:
    with library.reading() as connection:
        return rows.chunks_of(connection, document_id)


@pytest.fixture
def guide(tmp_path: Path) -> Path:
    path = tmp_path / "project" / "guide.md"
    path.parent.mkdir()
    lines = (f"\nLine {n} speaks of a deadlock once more, at some length.\n" for n in range(40))
    path.write_text(GUIDE + "\n".join(lines))
    return path


def test_a_document_has_chunks_concepts_links_and_a_source(library: Library, guide: Path) -> None:
    report = take_in(library, guide)
    (document,) = documents(library)
    assert [row.status for row in report.documents] == ["new"] and not report.errors
    assert (document.title, document.content_type, document.status) == ("Locks", "article", "active")
    assert document.source == str(guide) and "semaphore" in document.top_summary + document.raw_content
    parts = chunks(library, document.id)
    assert len(parts) == report.documents[0].chunks >= 3
    for chunk in parts:
        assert document.raw_content[chunk.begins : chunk.ends] == chunk.content and chunk.summary and chunk.token_count
    with library.reading() as connection:
        names = rows.concepts_by_name(connection, ["asyncio.Lock", "Deadlocks"])
        assert names.keys() == {"asyncio.lock", "deadlocks"}
        lock = select(schema.mention.c.chunk_id).where(schema.mention.c.concept_id == names["asyncio.lock"].id)
        mentioned = {str(one) for one in connection.execute(lock).scalars()}
        assert mentioned == {row.id for row in parts if "asyncio.Lock" in row.content}
        above = next(row for row in parts if row.heading == "Locks")
        joined = rows.links_of(connection, above.id)
        deeper = {row.source_id for row in joined if (row.relation, row.target_id) == ("elaborates", above.id)}
        assert deeper >= {row.id for row in parts if row.heading == "Locks > Deadlocks"}
        related = [row for row in rows.links_of(connection, document.id) if row.relation == "related_to"]
        assert names["deadlocks"].id in {one for row in related for one in (row.source_id, row.target_id)}
        profile = rows.by_ids(connection, schema.source_profile, SourceProfile, [str(document.source_profile_id)])
        (source,) = profile.values()
        assert (source.domain, source.source_type) == ("project", "personal_notes")
    assert problems_of(library) == []


def test_a_document_is_named_by_a_file_that_still_has_it(library: Library, guide: Path) -> None:
    """Who opens the file that a dossier names finds its words there."""
    copy = guide.with_name("copy.md")
    copy.write_text(guide.read_text())
    take_in(library, guide.parent)
    named = documents(library)[0].source
    first, other = (guide, copy) if named == str(guide) else (copy, guide)
    first.write_text(f"{first.read_text()}\n## New\n\nThis was written later, and only here.\n")
    take_in(library, guide.parent)
    named_by = {("only here" in one.raw_content, one.source) for one in documents(library)}
    assert named_by == {(True, str(first)), (False, str(other))}


def test_the_same_content_twice_is_one_document(library: Library, guide: Path) -> None:
    copy = guide.with_name("copy.md")
    copy.write_bytes(guide.read_bytes())
    report = take_in(library, guide.parent)
    assert sorted(row.status for row in report.documents) == ["known", "new"]
    (document,) = documents(library)
    with library.reading() as connection:
        assert {row.source for row in rows.locations_of(connection, document.id)} == {str(guide), str(copy)}
    again = take_in(library, guide.parent)
    assert not again.documents and again.unchanged == 2
    os.utime(guide, (1, 1))  # touched, and the same
    assert take_in(library, guide).unchanged == 1


def test_what_was_learned_of_a_chunk_stays_with_its_words_when_the_file_changes(library: Library, guide: Path) -> None:
    """One line is edited: the usage of all the other chunks must not be lost, and the old text must not be either."""
    take_in(library, guide)
    (old,) = documents(library)
    before = chunks(library, old.id)
    kept = next(row for row in before if row.heading == "Locks > Deadlocks")
    trace = UsageTrace(new_id(), (kept.id,), "debugging", "win", NOW, "s")
    profiled = schema.chunk.update().where(schema.chunk.c.id == kept.id)
    with library.writing() as connection:
        rows.add_trace(connection, trace)
        connection.execute(profiled.values(functional_profile="Good for debugging."))
    first = guide.read_text()
    guide.write_text(first.replace("a slow disk", "a very slow disk"))
    report = take_in(library, guide, now=lambda: later(days=1))
    assert [row.status for row in report.documents] == ["changed"]
    by_status = {row.status: row for row in documents(library)}
    assert by_status["superseded"].id == old.id and by_status["superseded"].raw_content == first
    new = by_status["active"]
    after = {row.id: row for row in chunks(library, new.id)}
    assert after[kept.id].functional_profile == "Good for debugging." and after[kept.id].document_id == new.id
    with library.reading() as connection:
        assert rows.traces(connection) == [trace] and trace.chunk_ids == (kept.id,)
        (link,) = (row for row in rows.links_of(connection, new.id) if row.relation == "supersedes")
        assert (link.source_id, link.target_id) == (new.id, old.id)
    guide.write_text(first)  # and back again
    assert [row.status for row in take_in(library, guide).documents] == ["restored"]
    assert {row.id: row.status for row in documents(library)} == {old.id: "active", new.id: "superseded"}
    assert kept.id in {row.id for row in chunks(library, old.id)}
    assert [row.content for row in chunks(library, old.id)] == [row.content for row in before]
    assert problems_of(library) == []


def test_a_used_chunk_that_grew_is_the_same_and_one_that_went_is_told(library: Library, guide: Path) -> None:
    """And a name with a key in it is replaced where it was stored."""
    take_in(library, guide)
    (old,) = documents(library)
    kept = next(row for row in chunks(library, old.id) if row.heading == "Locks > Deadlocks")
    with library.writing() as connection:
        for _ in range(5):
            rows.add_trace(connection, UsageTrace(new_id(), (kept.id,), "debugging", "win", NOW, "s"))
    first = guide.read_text()
    guide.write_text(first.replace("nobody is told.", "nobody is told. It may be told later."))
    assert [row.status for row in take_in(library, guide).documents] == ["changed"]
    (new,) = [row for row in documents(library) if row.status == "active"]
    (grown,) = [row for row in chunks(library, new.id) if row.id == kept.id]
    assert "told later" in grown.content and problems_of(library) == []
    guide.write_text("# Soup\n\nLentils need twenty minutes.\n")
    report = take_in(library, guide)
    assert [(row.status, row.left) for row in report.documents] == [("changed", 5)] and not report.errors
    assert "5 usage records stay" in report.warnings[0]
    token = guide.with_name(f"ghp_{'a1B2' * 9}.md")
    token.write_text(GUIDE)
    take_in(library, token, way=Way(redact=False))
    assert any(row.source == str(token) for row in documents(library))
    assert take_in(library, token).unchanged == 1
    assert not any("a1B2" in row.source for row in documents(library)) and problems_of(library) == []


@ONE_DATABASE
@pytest.mark.parametrize("on_top", [False, True])
def test_a_list_that_grows_keeps_the_experience_of_all_its_chunks(
    library: Library, tmp_path: Path, *, on_top: bool
) -> None:
    """A category file grows at each harvest, at its end or by hand at its beginning, and chunks have other borders."""
    facts = tmp_path / "facts.md"
    lines = [
        f"- The port number {n} of the host named h{n}x is {n * 7919}, as was said. [from: t{n}, 2026-11-01]"
        for n in range(99)
    ]
    facts.write_text("# Facts\n\n" + "\n".join(lines[9:90]) + "\n")
    take_in(library, facts)
    used = {row.id for row in chunks(library, documents(library)[0].id)}
    with library.writing() as connection:
        for key in used:
            rows.add_trace(connection, UsageTrace(new_id(), (key,), "debugging", "win", NOW, "s"))
    facts.write_text("# Facts\n\n" + "\n".join(lines[:90] if on_top else lines[9:]) + "\n")
    assert not take_in(library, facts).errors and len(used) > 2
    (new,) = [row for row in documents(library) if row.status == "active"]
    assert used <= {row.id for row in chunks(library, new.id)}


@ONE_DATABASE
def test_a_long_document_of_which_all_was_used_changes_in_a_moment(library: Library, tmp_path: Path) -> None:
    """What of it still stands took three times as long as reading it, the longer the more, while nobody could write."""
    dice, words = random.Random(1), [f"word{number}" for number in range(4000)]
    path = tmp_path / "long.md"
    often = [1 / (1 + number) for number in range(4000)]
    parts = [" ".join(dice.choices(words, often, k=250)) for _ in range(150)]

    def written() -> str:
        path.write_text("".join(f"## Part {number}\n\n{part}.\n\n" for number, part in enumerate(parts)))
        return str(path)

    new = cpu_seconds(lambda: take_in(library, written()), 1)
    (document,) = documents(library)
    used = [chunk.id for chunk in chunks(library, document.id)]
    with library.writing() as connection:
        for at in range(0, 150, 50):
            rows.add_trace(connection, UsageTrace(new_id(), tuple(used[at : at + 50]), "debugging", "win", NOW))
    parts = [part.replace(" ", " new ", 1) for part in parts]
    changed = cpu_seconds(lambda: take_in(library, written()), 1)
    (active,) = [row for row in documents(library) if row.status == "active"]
    assert [chunk.id for chunk in chunks(library, active.id)] == used
    assert changed < 2 * new, (changed, new)


def test_a_document_that_a_person_took_out_stays_out(library: Library, guide: Path) -> None:
    take_in(library, guide)
    with library.writing() as connection:
        connection.execute(schema.document.update().values(status="archived"))
    report = take_in(library, guide, again=True)
    assert [row.status for row in report.documents] == ["archived"]
    assert [row.status for row in documents(library)] == ["archived"]


@ONE_DATABASE
def test_broken_files_cost_themselves_alone(library: Library, guide: Path) -> None:
    folder = guide.parent
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nno more")
    (folder / "broken.ipynb").write_text('{"cells": [')
    (folder / "empty.md").write_text("\n")
    (folder / "data.unknown").write_bytes(b"\0\1\2" * 99)
    (folder / "old.py").write_text("print 'Python 2 is read all the same'\n")
    (folder / "link.md").symlink_to(guide)
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "x.js").write_text("function x() {}")
    os.mkfifo(folder / "pipe.md")
    report = take_in(library, folder, folder / "absent.md")
    broken = {"broken.pdf", "broken.ipynb", "absent.md", "pipe.md"}
    assert {Path(row.path).name for row in report.errors} == broken
    assert {Path(row.source).name for row in report.documents} == {"guide.md", "old.py"}
    assert report.skipped["empty files"] == 1 and report.skipped["files without text"] == 1
    assert report.skipped["folders of packages and hidden ones"] == report.skipped["symbolic links"] == 1
    assert all("\n" not in str(row) for row in report.errors)


@pytest.mark.parametrize("name", ["word/document.xml", "word/media/picture.png"])
def test_a_document_that_unpacks_to_much_is_not_unpacked(name: str) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(name, bytes(40 << 20))
        made.writestr("word/x", b"")
    result = attempt(extract, "bomb.docx", packed.getvalue())
    assert isinstance(result, KnowledgeError) and "unpacks to more" in str(result.error)


def test_a_secret_over_the_end_of_a_long_title_is_replaced_whole(library: Library, tmp_path: Path) -> None:
    """Cut before it was looked for, half of the key stayed in the title of its document."""
    key = "ghp_" + "x9Kq" * 9
    note = tmp_path / "note.md"
    note.write_text(f"# {'how the build of the shop began to stop at ' * 4}noon, see {key}\n\nIt does.\n")
    (document,) = take_in(library, note).documents
    assert key[:12] not in document.title and len(document.title) <= 200


def test_no_secret_reaches_the_library(library: Library, tmp_path: Path) -> None:
    key = "sk-" + "proj-" + "Ab3dEf6h" * 6
    (tmp_path / "keys.md").write_text(f"# Keys {key}\n\nThe server reads OPENAI_API_KEY={key} at start, as said.\n")
    talk = f"User: my token is {key}, why is it refused by the server?\n\nAssistant: The token {key} has no rights.\n"
    (tmp_path / "talk.md").write_text(talk)
    report = take_in(library, tmp_path / "keys.md", tmp_path / "talk.md")
    assert sum(report.redacted.values()) >= 3 and len(report.documents) == 2
    with library.reading() as connection:
        for table in schema.TABLES:
            for row in connection.execute(select(table)):
                assert "Ab3dEf6h" not in repr(row), table.name
    assert {row.content_type for row in documents(library)} == {"note", "conversation"}


def test_a_later_document_finds_concepts_of_an_earlier_one(library: Library, tmp_path: Path) -> None:
    for name, words in (
        ("Streams", "A stream over an asyncio.Queue ends with a mark that everybody knows."),
        ("Backpressure", "Backpressure is a signal to send less, and a queue can give it."),
        ("Queues", "A bounded queue gives backpressure. Use `asyncio.Queue` for it."),
    ):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\n{words}\n")
        take_in(library, tmp_path / f"{name}.md")
    spoken = {(concept.lower(), title) for concept, title, *_ in dump(library)[2]}
    assert spoken >= {("backpressure", name) for name in ("Backpressure", "Queues")}
    assert ("asyncio.queue", "Queues") in spoken
    assert not spoken & {("backpressure", "Streams"), ("asyncio.queue", "Backpressure")}


# --- with a model -----------------------------------------------------------------------------------------------------


class Model:
    """Answers differently each time: first with what is no JSON, then as asked."""

    def __init__(self, *answers: str) -> None:
        self.answers, self.prompts = list(answers), list[str]()

    def __call__(self, prompt: str, schema: object = None) -> Answer:
        self.prompts.append(prompt)
        return Answer(self.answers.pop(0))


SEMAPHORE = {"name": "semaphore", "type": "entity", "aliases": ["counting lock"], "description": "A shared counter."}
FIRST = {"number": 1, "summary": "It counts.\n- [ ] forged", "type": "definition", "mode": "sarcastic",
         "needs_context": True}  # fmt: skip
GOOD = json.dumps({
    "summary": "About locks.", "key_claims": ["Locks wait."], "concepts": [SEMAPHORE, {"name": ""}, 3],
    "chunks": [FIRST, {"number": 99}, {"number": 2, "type": "poem", "mode": 5, "summary": ""}],
})  # fmt: skip


def test_a_model_describes_and_the_rules_fill_in_what_it_leaves_out(library: Library, guide: Path) -> None:
    model = Model("I would rather not.", GOOD)
    report = take_in(library, guide, way=Way(generate=model))
    assert len(model.prompts) == 2 and not report.warnings
    (document,) = documents(library)
    assert (document.top_summary, document.key_claims) == ("About locks.", ("Locks wait.",))
    first, second, *_rest = chunks(library, document.id)
    assert (first.chunk_type, first.rhetorical_mode, first.needs_context) == ("definition", "sarcastic", True)
    assert "\n" not in first.summary and second.summary and second.chunk_type != "poem"
    with library.reading() as connection:
        (concept,) = rows.read(connection, schema.concept, Concept, schema.concept.c.name == "semaphore")
    assert concept.aliases == ("counting lock",) and concept.description == "A shared counter."


@ONE_DATABASE
def test_a_model_that_fails_is_told_and_the_rules_describe(library: Library, guide: Path) -> None:
    report = take_in(library, guide, way=Way(generate=Model("no", "{}")))
    assert [row.status for row in report.documents] == ["new"]
    assert "rules did" in report.warnings[0] and documents(library)[0].top_summary


# --- stopped, killed, shared ------------------------------------------------------------------------------------------


def texts(folder: Path, number: int) -> Path:
    folder.mkdir(exist_ok=True)
    for n in range(number):
        words = " ".join(f"word{n * 7 + at}" for at in range(60))
        text = f"# Note {n}\n\nThe part number {n} of `thing{n}` and `shared_thing`. {words}.\n"
        (folder / f"n{n:03d}.md").write_text(text)
    return folder


def test_a_stopped_run_is_gone_on_with(library: Library, tmp_path: Path) -> None:
    folder = texts(tmp_path / "many", 9)
    seen: list[tuple[int, int]] = []

    def progress(done: int, of: int, _name: str, _became: str) -> None:
        seen.append((done, of))

    report = take_in(library, folder, progress=progress, stopped=lambda: len(seen) >= 4)
    assert report.stopped == "cancelled" and len(report.documents) == 4 and seen[-1] == (4, 9)
    rest = take_in(library, folder)
    assert len(rest.documents) == 5 and rest.unchanged == 4 and len(documents(library)) == 9


def dump(library: Library) -> list[list[tuple[Any, ...]]]:
    """What a library says, without its ids and numbers: documents, chunks, and which concepts they speak of."""
    with library.reading() as connection:
        d, c, m = schema.document.c, schema.chunk.c, schema.mention.c
        joined = select(d.title, c.position, c.content, c.summary, c.heading)
        joined = joined.join(schema.document, d.id == c.document_id)
        spoken = (
            select(schema.concept.c.name, d.title, c.position, m.count)
            .join(schema.mention, m.concept_id == schema.concept.c.id)
            .join(schema.chunk, c.id == m.chunk_id)
            .join(schema.document, d.id == c.document_id)
        )
        return [sorted(map(tuple, connection.execute(asked))) for asked in (select(d.title, d.status), joined, spoken)]


def taking_in(url: str, folder: Path) -> tuple[int, TextIO]:
    """A program that takes a folder in: it says how many files are done, and its errors at the end."""

    def work(say: Callable[[object], None]) -> None:
        library = opened(url)
        report = take_in(library, folder, progress=lambda done, *_rest: say(done))
        say(f"ERRORS {report.errors}")

    return beside(work)


def test_a_killed_run_loses_nothing_and_doubles_nothing(library_url: str, tmp_path: Path) -> None:
    """kill -9 at many moments of an ingest; afterwards the library is as if nobody had been killed."""
    folder = texts(tmp_path / "many", 12)
    for moment in (1, 3, 6, 9):
        program, lines = taking_in(library_url, folder)
        with lines:
            for line in lines:
                if line.startswith("ERRORS") or int(line) >= moment:
                    break
            time.sleep(0.005 * moment)
            os.kill(program, signal.SIGKILL)
        os.waitpid(program, 0)
        library = opened(library_url)
        assert problems_of(library) == []
        library.close()
    library = opened(library_url)
    take_in(library, folder)
    undisturbed = opened(str(tmp_path / "undisturbed.db"))
    take_in(undisturbed, folder)
    assert len(documents(library)) == 12
    assert dump(library)[:2] == dump(undisturbed)[:2]
    assert problems_of(library) == []
    library.close()
    undisturbed.close()


def test_several_programs_take_in_at_once(library_url: str, tmp_path: Path) -> None:
    """The same folder by three programs: each document once, each concept once, no program is refused."""
    folder = texts(tmp_path / "many", 10)
    opened(library_url).close()
    programs = [taking_in(library_url, folder) for _ in range(3)]
    told = [lines.read() for _, lines in programs]
    for program, lines in programs:
        lines.close()
        os.waitpid(program, 0)
    assert all("ERRORS []" in text for text in told), told
    library = opened(library_url)
    assert len(documents(library)) == 10
    with library.reading() as connection:
        assert len(rows.concepts_by_name(connection, ["shared_thing", *(f"thing{n}" for n in range(10))])) == 11
        shared = rows.concepts_by_name(connection, ["shared_thing"])["shared_thing"]
        assert rows.counted(connection, schema.mention, schema.mention.c.concept_id == shared.id) == 10
    assert problems_of(library) == []
    library.close()


@ONE_DATABASE
def test_other_processes_prepare_and_one_stores(library: Library, tmp_path: Path) -> None:
    folder = texts(tmp_path / "many", 6)
    report = take_in(library, folder, engine=Engine(local_processes(2), 3))
    assert len(report.documents) == 6 and not report.errors
    alone = opened(str(tmp_path / "alone.db"))
    take_in(alone, folder)
    assert dump(library)[:2] == dump(alone)[:2]
    alone.close()


def deadly(item: Item, way: Way) -> list[Prepared]:
    """A file that takes whoever reads it with it."""
    if "n002" in item.source:
        os.kill(os.getpid(), signal.SIGKILL)
    return prepare(item, way)


@ONE_DATABASE
def test_a_file_that_kills_its_worker_costs_itself(library: Library, tmp_path: Path) -> None:
    folder = texts(tmp_path / "many", 5)
    forked = partial(ProcessPoolExecutor, 1, multiprocessing.get_context("fork"))  # has all loaded, so begins at once
    report = take_in(library, folder, engine=Engine(forked, 1, work=deadly))
    assert len(report.documents) == 4
    assert [(row.code, Path(row.path).name) for row in report.errors] == [("worker-lost", "n002.md")]


@ONE_DATABASE
def test_what_is_no_address_costs_itself_alone(library: Library, guide: Path) -> None:
    report = take_in(library, "http://[::1", "https://me:hidden@[x]/", guide)
    assert [row.status for row in report.documents] == ["new"]
    assert all("no address" in str(row) and "hidden" not in str(row) for row in report.errors) and report.errors
