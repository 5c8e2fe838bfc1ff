"""`knowledge library`: what a person types and what they read."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from core.base.config import Config
from core.base.settings import checked_value, find_setting
from core.cli.main import main
from core.library import database
from tests.library_place import opened

GUIDE = "# Locks\n\nA semaphore is a counter that several tasks share. `asyncio.Lock` is a lock for one of them.\n"


class Home:
    """A home, and the command line in it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys
        self.settings = folder / "config.toml"
        self.settings.write_text("")

    def says(self, *words: str, code: int = 0) -> str:
        self._capsys.readouterr()
        given = ["--home", str(self.folder / "home"), "--config", str(self.settings)]
        found = main([*words, *given])
        told = self._capsys.readouterr()
        self.err = told.err
        assert found == code, told
        return told.out

    def json(self, *words: str, code: int = 0) -> Any:
        return json.loads(self.says(*words, "--json", code=code))


@pytest.fixture
def home(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.chdir(tmp_path)
    return Home(tmp_path, capsys)


def test_a_document_comes_in_is_seen_taken_out_and_brought_back(home: Home, tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(GUIDE)
    assert home.json("library", "list") == [] and home.says("library").startswith("no documents")
    assert "there is no library yet" in home.says("library", "status", code=1) + home.err
    assert home.says("library", "ingest", "guide.md") == "documents: 1 new\nchunks: 1\n"
    assert "(1/1) guide.md: new" in home.err
    assert home.says("documents", "ingest", "guide.md", "--quiet") == "documents: 1 unchanged\n"
    (row,) = home.json("library")
    assert row["title"] == "Locks" and row["status"] == "active" and row["path"] == str(tmp_path / "guide.md")
    for name in (row["id"], row["id"][:8], "guide.md"):
        assert "asyncio.Lock" in home.says("library", "show", name)
    shown = home.json("library", "show", row["id"])
    assert shown["chunks"][0]["content"] == GUIDE.strip() and shown["source_profile"]["source_type"] == "personal_notes"
    assert home.says("library", "remove", row["id"]) == "taken out: Locks (1 chunks)\n"
    assert home.json("library", "list") == [] and home.says("library", "list", "--status", "all")
    assert "taken out by you" in home.says("library", "ingest", "guide.md", "--again")
    assert home.says("library", "restore", "guide.md") == "brought back: Locks (1 chunks)\n"
    assert home.says("library", "forget", "guide.md") == "erased: Locks (1 chunks)\n"
    assert "no document" in home.says("library", "show", row["id"], code=1) + home.err
    assert home.json("library", "status")["counts"]["chunk"] == 0


def test_ingest_tells_what_is_broken_and_goes_on(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "broken.pdf").write_bytes(b"%PDF-")
    (folder / "guide.md").write_text(GUIDE)
    (folder / "picture.png").write_bytes(b"\x89PNG")
    report = home.json("library", "ingest", "notes", "absent.md", code=1)
    assert [row["title"] for row in report["documents"]] == ["Locks"]
    assert {Path(row["path"]).name for row in report["errors"]} == {"broken.pdf", "absent.md"}
    assert report["skipped"] == {"pictures, packed and other files without text": 1}


def test_a_copy_is_a_library_and_doctor_finds_damage(home: Home, tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(GUIDE)
    home.says("library", "ingest", "guide.md")
    copied = home.json("library", "backup")
    assert Path(copied["path"]).parent == tmp_path / "home" / "knowledge" / "backups"
    assert "copies: 1" in home.says("library", "status", "--check")
    home.says("doctor")
    import sqlite3

    with sqlite3.connect(tmp_path / "home" / "knowledge" / "library.db") as connection:
        connection.execute("UPDATE document SET raw_content = 'somebody else wrote here'")
    connection.close()
    assert "not the part of their document" in home.says("doctor", code=1) + home.err
    assert "not the part of their document" in home.says("library", "status", "--check", code=1) + home.err
    library = opened(copied["path"])
    assert database.problems_of(library) == []
    library.close()


def test_a_file_that_is_no_library_is_said_and_left(home: Home, tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(GUIDE)
    place = tmp_path / "home" / "knowledge"
    place.mkdir(parents=True)
    (place / "library.db").write_text("notes of mine, and no database\n" * 200)
    assert "cannot be opened" in home.says("library", "ingest", "guide.md", code=1) + home.err
    assert "library-failed" in json.dumps(home.json("doctor", code=1))
    assert (place / "library.db").read_text().startswith("notes of mine")


def test_missing_packages_are_told(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    monkeypatch.setitem(sys.modules, "sqlalchemy.exc", None)
    (tmp_path / "guide.md").write_text(GUIDE)
    assert "knowledge-memory[library]" in home.says("library", "ingest", "guide.md", code=1) + home.err
    (tmp_path / "home" / "knowledge").mkdir(parents=True, exist_ok=True)
    (tmp_path / "home" / "knowledge" / "library.db").write_bytes(b"")
    for path in (tmp_path / "home", tmp_path / "home" / "knowledge", tmp_path / "home" / "knowledge" / "library.db"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    assert "knowledge-memory[library]" in home.says("doctor") + home.err
    for words in ("list", "show x", "retrieve x", "record --outcome win", "traces", "consolidate", "reflect", "undo"):
        assert "knowledge-memory[library]" in home.says("library", *words.split(), code=1) + home.err, words


def test_a_home_can_have_its_library_on_postgresql(home: Home, tmp_path: Path, postgres: str) -> None:
    """One setting; and what one person began is carried over by one command, and back into a file by another."""
    from tests.library_place import database_on

    (tmp_path / "guide.md").write_text(GUIDE)
    home.says("library", "ingest", "guide.md")
    with database_on(postgres) as url:
        assert "copied" in home.says("library", "backup", url)
        home.settings.write_text(f'[ai_settings.knowledge]\nlibrary_url = "{url.replace(":@", "@")}"\n')
        assert home.json("library", "list")[0]["title"] == "Locks"
        (tmp_path / "more.md").write_text(GUIDE.replace("Locks", "More locks"))
        assert "1 new" in home.says("library", "ingest", "more.md")
        assert home.json("library", "status", "--check")["counts"]["documents_active"] == 2
        copied = home.json("library", "backup")
        home.says("doctor")
    file = opened(copied["path"])
    assert database.problems_of(file) == []
    file.close()


def test_roles_are_as_the_page_says(home: Home, tmp_path: Path, postgres: str) -> None:
    """Two members take in, each as themselves; a guest looks, and is told in one sentence that they may do no more."""
    import psycopg

    from tests.library_place import database_on

    page = (Path(__file__).resolve().parents[1] / "assets" / "docs" / "library.md").read_text(encoding="utf-8")
    block = page.split("```sql")[1].split("```")[0]
    lines = [line.partition("--")[0].strip() for line in block.split("\n")]
    (tmp_path / "guide.md").write_text(GUIDE)
    (tmp_path / "more.md").write_text(GUIDE.replace("Locks", "More locks"))
    with database_on(postgres) as url, psycopg.connect(url, autocommit=True) as administrator:
        name = administrator.info.dbname
        mark = name.replace("test", "")

        def run(statement: str) -> None:
            statement = re.sub(r"\bDATABASE knowledge\b", f"DATABASE {name}", statement)
            administrator.execute(re.sub(r"\b(ann|guest|knowledge_owner)\b", rf"\1{mark}", statement))

        def as_(who: str, *words: str, code: int = 0) -> str:
            address = url.replace("postgres:@", f"{who}{mark}@")
            home.settings.write_text(f'[ai_settings.knowledge]\nlibrary_url = "{address}"\n')
            return home.says("library", *words, code=code) + home.err

        statements = [line for line in lines if line and not line.startswith(("\\c", "CREATE DATABASE"))]
        members = [line for line in statements if "guest" not in line]
        for line in [*members, *(line.replace("ann", "bob") for line in members if "ann" in line)]:
            run(line.replace("bob", f"bob{mark}"))
        assert "1 new" in as_("ann", "ingest", "guide.md") and "1 new" in as_("bob", "ingest", "more.md")
        for line in statements:
            if "guest" in line:
                run(line)
        assert "More locks" in as_("guest", "list")
        (tmp_path / "third.md").write_text(GUIDE.replace("Locks", "Third"))
        told = as_("guest", "ingest", "third.md", code=1)
        assert "permission denied" in told and "Traceback" not in told
        home.settings.write_text("")
    with psycopg.connect(postgres, autocommit=True) as administrator:
        for who in ("ann", "bob", "guest", "knowledge_owner"):
            administrator.execute(f"DROP ROLE {who}{mark}")


@pytest.mark.parametrize(
    ("key", "good", "bad"),
    [
        ("library_url", "postgresql://ann@db.example.org/team", "postgresql://ann:word@db.example.org/team"),
        ("library_url", "/srv/library.db", "library.db"),
        ("library_url", "postgresql:///team?host=/run/postgresql", "postgresql:///team?password=word"),
        ("workers", "tcp://10.0.0.7:8786", "10.0.0.7"),
    ],
)
def test_settings_of_the_library_take_places_and_no_passwords(key: str, good: str, bad: str) -> None:
    setting = find_setting(key)
    assert setting is not None and hasattr(Config, "__dataclass_fields__") and key in Config.__dataclass_fields__
    assert checked_value(setting, good) == good and checked_value(setting, "") == ""
    assert checked_value(setting, bad) is None
