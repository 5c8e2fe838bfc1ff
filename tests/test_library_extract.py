"""Files of foreign formats are read in a process with limits: a damaged or hostile one affects only itself alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.base.result import KnowledgeError, attempt
from core.library import extract_process
from core.library.database import Library
from core.library.extract import extract
from core.library.extract_process import end_idle
from core.library.ingest import IngestReport
from tests.test_library_ingest import ONE_DATABASE, documents, take_in
from tests.waiting import PATIENCE_SECONDS, wait_until

ROOT = Path(__file__).resolve().parents[1]
PAGE = "<html><title>Locks</title><body><p>A lock is held by one task at a time.</p></body></html>"


@pytest.fixture(autouse=True)
def _own_process() -> Iterator[None]:
    """No test reads in the process of another."""
    end_idle()
    yield
    end_idle()


def pdf_of(*pages: bytes) -> bytes:
    """A PDF whose pages are drawn by these operators."""
    font = 3 + 2 * len(pages)
    kids = b" ".join(b"%d 0 R" % (3 + 2 * at) for at in range(len(pages)))
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, len(pages))]
    for at, operators in enumerate(pages):
        packed = zlib.compress(operators, 9)
        objects += [
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R/Resources<</Font<</F1 %d 0 R>>>>>>"
            % (4 + 2 * at, font),
            b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed),
        ]
    objects.append(b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
    body = b"".join(b"%d 0 obj%s\nendobj\n" % (number, one) for number, one in enumerate(objects, start=1))
    return b"%PDF-1.4\n" + body + b"trailer<</Root 1 0 R/Size %d>>\nstartxref\n0\n%%%%EOF" % (font + 1)


def page_of(*lines: str) -> bytes:
    """The operators that write lines below each other."""
    return b"BT /F1 12 Tf 14 TL 72 700 Td " + b" ".join(f"({line}) Tj T*".encode() for line in lines) + b" ET"


HEALTHY = pdf_of(b"BT /F1 12 Tf 72 700 Td (A semaphore is a counter that several tasks share) Tj ET")
HOSTILE = pdf_of(b"BT /F1 12 Tf (" + b"a" * 30_000_000 + b") Tj ET")
"""30 KB, which take a minute and 1.5 GB to read."""


def instead_of_pypdf(folder: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    """Have PDF files read by a module of this source."""
    folder.mkdir()
    (folder / "pypdf.py").write_text(textwrap.dedent(source))
    monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{ROOT}")


def taken_in(library: Library, folder: Path, monkeypatch: pytest.MonkeyPatch) -> IngestReport:
    """What becomes of a folder, whose limits hold for the first file alone: a busy machine may take long for others."""
    return take_in(library, folder, progress=lambda *_: monkeypatch.undo())


@ONE_DATABASE
@pytest.mark.parametrize(
    ("limit", "most", "said"),
    [
        ("READ_SECONDS", 0.5, "this PDF was not read in 0.5 seconds and was given up"),
        pytest.param(
            "READ_MEMORY", 256 << 20, "this PDF takes more than 256 MB of memory to read and was given up",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="no limit of memory"),
        ),
        ("MAX_ANSWER", 20, "this PDF holds more than 0 MB of text and was given up"),
    ],
)  # fmt: skip
def test_a_pdf_that_takes_all_time_or_memory_costs_itself_alone(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: float, said: str
) -> None:
    """A file of a stranger that grows a hundredfold would end the program, and with it the harvest of a night."""
    (tmp_path / "a-hostile.pdf").write_bytes(HEALTHY if limit == "MAX_ANSWER" else HOSTILE)
    (tmp_path / "b-page.html").write_text(PAGE)
    (tmp_path / "c-healthy.pdf").write_bytes(HEALTHY)
    monkeypatch.setattr(extract_process, limit, most)
    report = taken_in(library, tmp_path, monkeypatch)
    (problem,) = report.errors
    assert said in str(problem) and "a-hostile.pdf" in str(problem) and "Save it as plain text" in str(problem)
    assert {Path(row.source).name for row in report.documents} == {"b-page.html", "c-healthy.pdf"}


@ONE_DATABASE
def test_a_file_that_kills_its_reader_costs_itself_alone(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a crash in a library written in C does, or a system that runs out of memory."""
    instead_of_pypdf(tmp_path / "stub", monkeypatch, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a-page.html").write_text(PAGE)
    (folder / "b-deadly.pdf").write_bytes(HEALTHY)
    (folder / "c-page.html").write_text(PAGE.replace("A lock", "A mutex"))
    report = take_in(library, folder)
    (problem,) = report.errors
    assert "the process that read this PDF died (signal 9)" in str(problem) and "b-deadly.pdf" in str(problem)
    assert {Path(row.source).name for row in report.documents} == {"a-page.html", "c-page.html"}


@ONE_DATABASE
def test_a_reader_killed_between_two_files_costs_none(library: Library, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.html").write_text(PAGE.replace("one task", f"task {number}"))

    def kill(*_progress: object) -> None:
        (reader,) = extract_process._idle
        os.kill(reader._process.pid, signal.SIGKILL)

    report = take_in(library, tmp_path, progress=kill)
    assert [row.status for row in report.documents] == ["new"] * 3 and not report.errors


@ONE_DATABASE
def test_a_batch_is_read_by_one_process(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A start for each file would make a folder of thousands take minutes longer. And what a library prints is no
    answer."""
    pids = tmp_path / "pids"
    source = f"""
        import os
        print("a library may print", flush=True)
        os.write(1, b"and so may its part in C")
        with open({str(pids)!r}, "a") as file:
            file.write(f"{{os.getpid()}}\\n")
        class PdfReader:
            is_encrypted, metadata = False, None
            def __init__(self, data):
                self.pages, self._text = [self], data.read().decode()
            def extract_text(self):
                return self._text
    """
    instead_of_pypdf(tmp_path / "stub", monkeypatch, source)
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.pdf").write_text(f"%PDF-1.4 The document number {number} speaks of locks.")
    (folder / "broken.ipynb").write_text('{"cells": [')
    report = take_in(library, folder)
    assert len(report.documents) == 5 and [Path(row.path).name for row in report.errors] == ["broken.ipynb"]
    assert len(pids.read_text().splitlines()) == 1
    assert "number 3 speaks" in "".join(row.raw_content for row in documents(library))


def test_threads_get_their_own_texts() -> None:
    """A worker of a cluster reads in several threads; a text in the place of another would be stored for good."""
    found: dict[str, str] = {}

    def read(name: str) -> None:
        for number in range(5):
            (document,) = extract("a.html", PAGE.replace("one task", f"{name} {number}").encode())
            found[f"{name} {number}"] = document.text

    threads = [threading.Thread(target=read, args=(f"thread{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 20 and all(name in text for name, text in found.items())


@ONE_DATABASE
def test_no_reader_waits_when_a_run_is_over(library: Library, tmp_path: Path) -> None:
    """The panel stays open for days: what it read with would hold memory as long."""
    (tmp_path / "a.html").write_text(PAGE)
    assert take_in(library, tmp_path).documents
    assert not extract_process._idle
    extract("a.html", PAGE.encode())


def test_a_missing_package_is_told_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instead_of_pypdf(tmp_path / "stub", monkeypatch, "raise ModuleNotFoundError(name='pypdf')")
    result = attempt(extract, "a.pdf", b"%PDF-1.4\n")
    assert isinstance(result, KnowledgeError) and result.error.code == "no-reader"
    assert "without the package pypdf" in str(result.error) and "Install the extra 'documents'" in str(result.error)


def test_a_process_that_cannot_be_started_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "absent"))
    result = attempt(extract, "a.html", PAGE.encode())
    assert (
        isinstance(result, KnowledgeError) and result.error.code == "no-process" and "No such file" in str(result.error)
    )


def test_a_program_in_the_folder_of_the_user_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who takes in a folder that somebody else made must not run what lies in it."""
    (tmp_path / "bs4.py").write_text("raise SystemExit")
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "__init__.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    (page,) = extract("a.html", PAGE.encode())
    assert "held by one task" in page.text


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_no_reader_outlives_a_killed_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else would ever end a process that reads a hostile file."""
    mark = tmp_path / "mark"
    endless = f"""
        import os
        with open("{mark}.new", "w") as file:
            file.write(str(os.getpid()))
        os.rename("{mark}.new", "{mark}")
        while True:
            pass
    """
    instead_of_pypdf(tmp_path / "stub", monkeypatch, endless)
    source = """
        from core.library import extract_process
        from core.library.extract import extract
        extract_process.READ_SECONDS = 5.0
        extract("a.pdf", b"%PDF-1.4")
    """
    program = subprocess.Popen([sys.executable, "-c", textwrap.dedent(source)], cwd=tmp_path)
    try:
        assert wait_until(mark.exists)
    finally:
        program.kill()
        program.wait(PATIENCE_SECONDS)
    reader = int(mark.read_text())
    assert wait_until(lambda: _is_gone(reader))


def _is_gone(pid: int) -> bool:
    """Whether a process has ended, though nobody may have asked how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True
