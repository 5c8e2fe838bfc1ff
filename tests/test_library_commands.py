"""`knowledge library`: what a user types and what they read; and from files to dossiers, outcomes, profiles, and the
way back, as a user and an agent use it."""

from __future__ import annotations

import itertools
import json
import os
import pickle
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.base.config import load_config
from core.base.marks import NOTICE
from core.base.result import KnowledgeError, attempt
from core.commands.library.upkeep import BUDGET_SECONDS, keep_up
from core.commands.moment.worked import UsageReader
from core.commands.workspace import open_workspace
from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Call
from core.library import database
from core.mcp_server import moment, tools
from core.search import embedders
from tests.cli_call import call
from tests.library_home import (
    GOTCHA,
    GUIDE,
    asked_in_a_session,
    harvested,
    heard,
    recorded,
    run,
    text,
    workspace,
)
from tests.library_home import home as home
from tests.library_place import database_on, opened
from tests.search_shelf import Topics


def test_a_question_an_outcome_a_profile_and_the_way_back(home: Path) -> None:
    (best, *_) = run(home, "retrieve", "why", "does", "my", "async", "callback", "deadlock")
    assert GOTCHA in best["text"] and best["task_type"] == "debugging" and best["retrieval"]
    key = "ghp_" + "a1B2" * 9
    for at in range(5):
        done = run(
            home, "record", "--chunk", best["key"][:8], "--outcome", "win", "--session", "s", "--notes", f"{at} {key}"
        )
        assert done["traces"][0]["chunks"] == [best["key"]] and key not in json.dumps(done)
    assert len(recorded(home)) == 5
    preview = run(home, "consolidate", "--dry-run")
    assert preview["dry_run"] and preview["changed"] > 1 and run(home, "undo") == []
    done = run(home, "consolidate")
    assert any(one.get("functional_profile", "").startswith("Good for") for one in done["profiles"])
    assert run(home, "consolidate")["changed"] == 0
    assert "Functional profile: Good for" in text(home, "retrieve", "async callback deadlock", "--unlogged")
    assert run(home, "reflect")["tasks"][0]["verdict"] == "served well"
    assert "nothing to change" in text(home, "consolidate", "--rules")
    assert run(home, "undo", done["run"][:8])["changed"] == done["changed"]
    assert "already undone" in text(home, "undo", done["run"])
    assert "Functional profile" not in text(home, "retrieve", "async callback deadlock", "--unlogged")


def test_what_cannot_be_done_is_one_sentence(home: Path, tmp_path: Path) -> None:
    for words, says in (
        (("record", "--chunk", "00000000", "--outcome", "win"), "no chunk's id begins"),
        (("record", "--chunk", "00000000"), "which outcome"),
        (("undo", "00000000"), "no run begins"),
        (("reflect", "--scope", "concept"), "which concept"),
        (("retrieve", " "), "is empty"),
    ):
        code, _, err = call("library", *words, "--home", str(home))
        assert code in (1, 2) and says in err and "Traceback" not in err
    code, _, err = call("library", "retrieve", "x", "--home", str(tmp_path / "elsewhere"))
    assert code == 1 and "no library yet" in err


def test_a_secret_that_is_said_again_alone_is_in_no_trace(home: Path) -> None:
    """Each turn was cleared for itself: the second one does not say what the value is."""
    secret = "Zk7qP2x" + "W9vLm3"
    asked = f"the password: {secret}\n\nwhy does my async callback deadlock"
    (trace,) = heard(home, asked=asked, said=f"No, that is wrong, {secret} does not work there")
    assert trace["outcome"] == "misleading" and secret not in json.dumps(trace)
    assert secret not in json.dumps(recorded(home))


def test_a_harvest_records_what_its_conversations_used_and_fails_for_no_library(home: Path) -> None:
    first = asked_in_a_session(home, 1)
    report = harvested(home)
    assert report["harvested"] == 1 and any("the library learned how" in note for note in report["notes"])
    uses = recorded(home)
    assert uses and {one["retrieval"] for one in uses} == {first}
    assert ("win", "inferred") in {(one["outcome"], one["recorded"]) for one in uses}

    asked_in_a_session(home, 2)
    there = workspace(home).paths.library
    writer = sqlite3.connect(there, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    report = harvested(home)
    assert report["harvested"] == 1 and report["failed"] == []
    assert any("was not recorded" in note for note in report["notes"]), "somebody else writes, and is not waited for"
    writer.execute("ROLLBACK")
    writer.close()

    asked_in_a_session(home, 3)
    there.write_bytes(b"this is no database" * 100)
    report = harvested(home)
    assert report["harvested"] == 1 and report["failed"] == []


def test_until_a_harvest_ends_no_secret_and_no_large_output_is_held(home: Path) -> None:
    """Over thousands of conversations whole ones would fill the memory; and a secret in them lies there for hours."""
    secret = "Zk7q" + "P2xW9vLm3"
    asked = [run(home, "retrieve", f"why does my async callback deadlock {at}")[0]["retrieval"] for at in range(4)]
    reader = UsageReader(workspace(home))
    for at, retrieval in enumerate(asked):
        output = "a line that a program printed\n" * 20_000
        turns = (
            Turn("user", f"the password: {secret}"),
            Turn("tool", output, events=(Call(tool="shell", output=output),)),
            Turn("tool", f'{{"retrieval": "{retrieval}"}}'),
            Turn("assistant", f"{GOTCHA} And {secret} opens it."),
            Turn("tool", output, events=(Call(tool="shell", output=output),)),
            Turn("assistant", "I looked at it once more. " * 40_000),
            Turn("user", f"that is wrong, {secret} does not open it"),
        )
        reader(Conversation(f"chat-{at}", "plain", turns, f"with {secret}"))
    held = pickle.dumps(reader.heard)
    assert secret.encode() not in held and len(held) < 4 * 300_000
    assert "the library learned how" in " ".join(reader.record())
    notes = [trace["notes"] for trace in recorded(home)]
    assert len(notes) >= 4 and not any(secret in note for note in notes)
    assert sum("that is wrong" in note for note in notes) == 4


def test_an_outcome_is_taken_back_by_its_id(home: Path) -> None:
    (best, *_) = run(home, "retrieve", "why does my async callback deadlock")
    (trace,) = run(home, "record", "--chunk", best["key"], "--outcome", "misleading")["traces"]
    shown = text(home, "show", best["document"]["id"])
    assert "knowledge library record --undo" in shown and f"  {trace['id'][:8]}  " in shown
    assert "taken back" in text(home, "record", "--undo", trace["id"][:8])
    assert recorded(home) == []
    assert run(home, "retrieve", "why does my async callback deadlock")[0]["counts"] == {}
    code, _, err = call("library", "record", "--undo", trace["id"], "--home", str(home))
    assert code == 1 and "no record's id begins" in err


def test_an_agent_retrieves_records_and_reflects(home: Path, tmp_path: Path) -> None:
    here = workspace(home)
    found = tools.retrieve(here, "why does my async callback deadlock")
    assert found["notice"] == NOTICE and found["results"][0]["text"].endswith(GOTCHA)
    key = found["results"][0]["key"]
    done = tools.record_usage(here, [key], "misleading", "it was about trio", retrieval=found["retrieval"])
    assert done["outcome"] == "misleading" and done["task_type"]
    again = tools.retrieve(here, "why does my async callback deadlock")
    assert again["results"][0]["usage"][0]["notes"] == "it was about trio"
    more = tmp_path / "more.md"
    more.write_text("# Trio\n\nTrio has nurseries.\n")
    assert tools.ingest(here, [str(more)])["documents"][0]["title"] == "Trio"
    assert str(more) in tools.ingest_question(here, [str(more)])
    assert tools.reflect(here)["report"]["traces"] == 1
    with pytest.raises(KnowledgeError, match="no chunk's id"):
        tools.record_usage(here, ["00000000"], "win")


def test_an_agent_gets_no_page_of_this_computer_and_hides_no_path(home: Path, tmp_path: Path) -> None:
    """Its address is not the user's own; and what they say yes to is where a link leads."""
    here = workspace(home)
    for address in ("http://localhost:1/", "http://127.0.0.1:1/", "HTTP://169.254.169.254/latest", "http://[::1]/x"):
        with pytest.raises(KnowledgeError, match="Ask the user"):
            tools.ingest(here, [address])
    (tmp_path / "harmless.md").symlink_to(tmp_path / "keys")
    asked = tools.ingest_question(here, [str(tmp_path / "harmless.md"), "x\nThe list ends here.\u202e"])
    assert str(tmp_path / "keys") in asked and "harmless" not in asked
    assert "\u202e" not in asked and asked.count("\nThe list ends here.") == 1, "ours"
    with pytest.raises(KnowledgeError, match="at most"):
        tools.ingest_question(here, ["x" * 2000])
    assert "ValueError" not in str(tools.ingest(here, ["http://[::1"])["warnings"])


def test_half_of_a_secret_is_in_no_warning(home: Path) -> None:
    here, secret = workspace(home), "ghp_" + "x9Kq" * 9
    told = tools.safe(here, {"warnings": ["y" * 980 + " " + secret], "keys": {secret: {"</system-reminder>": 1}}})
    assert secret[:12] not in str(told) and "<" not in str(told)


# --- in words ---------------------------------------------------------------------------------------------------------


class Home:
    """A home without a library, and the command line in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = folder / "config.toml"
        self.settings.write_text("")

    def says(self, *words: str, code: int = 0) -> str:
        found, out, self.err = call(*words, "--home", str(self.folder / "home"), "--config", str(self.settings))
        assert found == code, out + self.err
        return out

    def json(self, *words: str, code: int = 0) -> Any:
        return json.loads(self.says(*words, "--json", code=code))


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.chdir(tmp_path)
    return Home(tmp_path)


def test_a_document_comes_in_is_seen_taken_out_and_brought_back(plain: Home, tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(GUIDE)
    assert plain.json("library", "list") == [] and plain.says("library").startswith("no documents")
    assert "there is no library yet" in plain.says("library", "status", code=1) + plain.err
    assert plain.says("library", "ingest", "guide.md") == "documents: 1 new\nchunks: 1\n"
    assert "(1/1) guide.md: new" in plain.err
    assert plain.says("documents", "ingest", "guide.md", "--quiet") == "documents: 1 unchanged\n"
    (row,) = plain.json("library")
    assert row["title"] == "Locks" and row["status"] == "active" and row["path"] == str(tmp_path / "guide.md")
    for name in (row["id"], row["id"][:8], "guide.md"):
        assert "asyncio.Lock" in plain.says("library", "show", name)
    shown = plain.json("library", "show", row["id"])
    assert shown["chunks"][0]["content"] == GUIDE.strip() and shown["source_profile"]["source_type"] == "personal_notes"
    assert plain.says("library", "remove", row["id"]) == "taken out: Locks (1 chunks)\n"
    assert plain.json("library", "list") == [] and plain.says("library", "list", "--status", "all")
    assert "taken out by you" in plain.says("library", "ingest", "guide.md", "--again")
    assert plain.says("library", "restore", "guide.md") == "brought back: Locks (1 chunks)\n"
    assert plain.says("library", "forget", "guide.md", "--yes") == "erased: Locks (1 chunks)\n"
    assert "no document" in plain.says("library", "show", row["id"], code=1) + plain.err
    assert plain.json("library", "status")["counts"]["chunk"] == 0


def test_ingest_tells_what_is_broken_and_goes_on(plain: Home, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "broken.pdf").write_bytes(b"%PDF-")
    (folder / "guide.md").write_text(GUIDE)
    (folder / "picture.png").write_bytes(b"\x89PNG")
    report = plain.json("library", "ingest", "notes", "absent.md", code=1)
    assert [row["title"] for row in report["documents"]] == ["Locks"]
    assert {Path(row["path"]).name for row in report["errors"]} == {"broken.pdf", "absent.md"}
    assert report["skipped"] == {"pictures, packed and other files without text": 1}


def test_a_copy_is_a_library_and_doctor_finds_damage(plain: Home, tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(GUIDE)
    plain.says("library", "ingest", "guide.md")
    copied = plain.json("library", "backup")
    assert Path(copied["path"]).parent == tmp_path / "home" / "knowledge" / "backups"
    assert "copies: 1" in plain.says("library", "status", "--check")
    plain.says("doctor")
    with sqlite3.connect(tmp_path / "home" / "knowledge" / "library.db") as connection:
        connection.execute("UPDATE document SET raw_content = 'somebody else wrote here'")
    connection.close()
    assert "not the part of their document" in plain.says("doctor", code=1) + plain.err
    assert "not the part of their document" in plain.says("library", "status", "--check", code=1) + plain.err
    library = opened(copied["path"])
    assert database.problems_of(library) == []
    library.close()


def test_a_file_that_is_no_library_is_said_and_left(plain: Home, tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(GUIDE)
    place = tmp_path / "home" / "knowledge"
    place.mkdir(parents=True)
    (place / "library.db").write_text("notes of mine, and no database\n" * 200)
    assert "cannot be opened" in plain.says("library", "ingest", "guide.md", code=1) + plain.err
    assert "library-failed" in json.dumps(plain.json("doctor", code=1))
    assert (place / "library.db").read_text().startswith("notes of mine")


def test_missing_packages_are_told(plain: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    monkeypatch.setitem(sys.modules, "sqlalchemy.exc", None)
    (tmp_path / "guide.md").write_text(GUIDE)
    assert "[library]" in plain.says("library", "ingest", "guide.md", code=1) + plain.err
    (tmp_path / "home" / "knowledge").mkdir(parents=True, exist_ok=True)
    (tmp_path / "home" / "knowledge" / "library.db").write_bytes(b"")
    for path in (tmp_path / "home", tmp_path / "home" / "knowledge", tmp_path / "home" / "knowledge" / "library.db"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    assert "[library]" in plain.says("doctor") + plain.err
    for words in ("list", "show x", "retrieve x", "record --outcome win", "consolidate", "reflect", "undo"):
        assert "[library]" in plain.says("library", *words.split(), code=1) + plain.err, words


def test_a_home_can_have_its_library_on_postgresql(plain: Home, tmp_path: Path, postgres: str) -> None:
    """One setting; and what one person began is carried over by one command, and back into a file by another."""
    (tmp_path / "guide.md").write_text(GUIDE)
    plain.says("library", "ingest", "guide.md")
    with database_on(postgres) as url:
        assert "copied" in plain.says("library", "backup", url)
        plain.settings.write_text(f'[ai_settings.knowledge]\nlibrary_url = "{url.replace(":@", "@")}"\n')
        assert plain.json("library", "list")[0]["title"] == "Locks"
        (tmp_path / "more.md").write_text(GUIDE.replace("Locks", "More locks"))
        assert "1 new" in plain.says("library", "ingest", "more.md")
        assert plain.json("library", "status", "--check")["counts"]["documents_active"] == 2
        copied = plain.json("library", "backup")
        plain.says("doctor")
    file = opened(copied["path"])
    assert database.problems_of(file) == []
    file.close()


def test_every_search_looks_into_the_documents_too(plain: Home, tmp_path: Path) -> None:
    """`search` and `find` never looked there and did not say that there is a library."""
    guide = tmp_path / "guide.md"
    guide.write_text(GUIDE)
    plain.says("library", "ingest", "guide.md")
    [hit] = plain.json("search", "semaphore counter tasks", "--kind", "document")
    assert hit["title"] == "Locks" and "counter that several tasks share" in hit["text"] and hit["path"] == str(guide)
    assert hit["key"] == plain.json("library", "retrieve", "semaphore counter", "--unlogged")[0]["key"]
    told = plain.says("find", "semaphore counter tasks")
    assert "[document, " in told and "A semaphore is a counter" in told and hit["key"] in told
    assert "Lock` is a lock for one of them" in moment.read(open_workspace(str(tmp_path / "home")), hit["key"])
    guide.write_text(GUIDE.replace("semaphore", "turnstile"))
    plain.says("library", "ingest", "guide.md")
    assert plain.json("search", "semaphore", "--kind", "document") == []
    assert "turnstile" in plain.says("find", "turnstile counter tasks")
    plain.says("library", "forget", str(guide), "--yes")
    cache = open_workspace(str(tmp_path / "home")).cache
    assert not [path for path in cache.rglob("*") if path.is_file() and b"turnstile" in path.read_bytes()]
    assert plain.json("search", "turnstile counter", "--kind", "document") == []


def test_a_teams_documents_are_found_where_they_are(plain: Home, tmp_path: Path, postgres: str) -> None:
    (tmp_path / "guide.md").write_text(GUIDE)
    with database_on(postgres) as url:
        plain.settings.write_text(f'[ai_settings.knowledge]\nlibrary_url = "{url.replace(":@", "@")}"\n')
        plain.says("library", "ingest", "guide.md")
        assert "A semaphore is a counter" in plain.says("find", "semaphore counter tasks")


def test_roles_are_as_the_page_says(plain: Home, tmp_path: Path, postgres: str) -> None:
    """Two members take in, each as themselves; a guest looks, and is told in one sentence that they may do no more."""
    import psycopg

    page = (Path(__file__).resolve().parents[1] / "assets" / "docs" / "library.md").read_text(encoding="utf-8")
    block = page.split("```sql")[1].split("```")[0]
    lines = [line.partition("--")[0].strip() for line in block.split("\n")]
    (tmp_path / "guide.md").write_text(GUIDE)
    (tmp_path / "more.md").write_text(GUIDE.replace("Locks", "More locks"))
    with database_on(postgres) as url, psycopg.connect(url, autocommit=True) as administrator:
        name = administrator.info.dbname
        mark = name.replace("test", "")

        def as_administrator(statement: str) -> None:
            statement = re.sub(r"\bDATABASE knowledge\b", f"DATABASE {name}", statement)
            administrator.execute(re.sub(r"\b(ann|guest|knowledge_owner)\b", rf"\1{mark}", statement))

        def as_(who: str, *words: str, code: int = 0) -> str:
            address = url.replace("postgres:@", f"{who}{mark}@")
            plain.settings.write_text(f'[ai_settings.knowledge]\nlibrary_url = "{address}"\n')
            return plain.says("library", *words, code=code) + plain.err

        statements = [line for line in lines if line and not line.startswith(("\\c", "CREATE DATABASE"))]
        members = [line for line in statements if "guest" not in line]
        for line in [*members, *(line.replace("ann", "bob") for line in members if "ann" in line)]:
            as_administrator(line.replace("bob", f"bob{mark}"))
        assert "1 new" in as_("ann", "ingest", "guide.md") and "1 new" in as_("bob", "ingest", "more.md")
        for line in statements:
            if "guest" in line:
                as_administrator(line)
        assert "More locks" in as_("guest", "list")
        (tmp_path / "third.md").write_text(GUIDE.replace("Locks", "Third"))
        told = as_("guest", "ingest", "third.md", code=1)
        assert "permission denied" in told and "Traceback" not in told
        plain.settings.write_text("")
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
def test_settings_of_the_library_take_places_and_no_passwords(tmp_path: Path, key: str, good: str, bad: str) -> None:
    file = tmp_path / "config.toml"
    for value in (good, ""):
        file.write_text(f'[ai_settings.knowledge]\n{key} = "{value}"\n')
        assert getattr(load_config(file, {}, tmp_path).config, key) == value
    file.write_text(f'[ai_settings.knowledge]\n{key} = "{bad}"\n')
    refused = attempt(load_config, file, {}, tmp_path)
    assert isinstance(refused, KnowledgeError) and key in refused.error.message


def test_without_the_packages_of_the_library_everything_else_goes_on(tmp_path: Path) -> None:
    """A home with a library on a machine without the extra: a harvest and the doctor told a traceback's last line."""
    script = (
        "import sys\n"
        "for name in ('sqlalchemy', 'psycopg', 'markdown_it'): sys.modules[name] = None\n"
        "from core.cli.main import main\n"
        "home = sys.argv[1]\n"
        "print([main([*words.split(), '--home', home]) for words in ('harvest --apply', 'doctor', 'library list')])\n"
    )
    for folder in ("home", "home/knowledge"):
        (tmp_path / folder).mkdir(mode=0o700)
    (tmp_path / "home/knowledge/library.db").touch(0o600)
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[1])}
    environment |= {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("CACHE", "CONFIG", "STATE")}
    command = [sys.executable, "-c", script, str(tmp_path / "home")]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[0, 0, 1]", done.stdout + done.stderr
    assert "the library needs packages" in done.stderr and "refuses to go on" not in done.stderr


# --- kept up ----------------------------------------------------------------------------------------------------------


def test_refresh_reads_what_changed_follows_what_moved_and_tells_what_is_gone(home: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    for name in ("bread", "salt"):
        (notes / f"{name}.md").write_text(
            f"# {name}\n\nWhat one should know of {name}: it needs time in the kitchen.\n"
        )
    run(home, "ingest", str(notes))
    before = {row["title"]: row["id"] for row in run(home, "list")}
    (notes / "soup.md").write_text("# Soup\n\nLentils need forty minutes and a bay leaf.\n")
    (notes / "shelf").mkdir()
    (notes / "bread.md").rename(notes / "shelf" / "loaf.md")
    (notes / "salt.md").unlink()
    done = run(home, "refresh")
    assert [row["path"] for row in done["changed"]["documents"]] == [str(notes / "soup.md")]
    assert done["moved"] == {str(notes / "bread.md"): str(notes / "shelf" / "loaf.md")}
    assert done["gone"] == {str(notes / "salt.md"): [before["salt"]]} and done["unchanged"] == 1
    after = {row["title"]: row for row in run(home, "list")}
    assert after["bread"]["id"] == before["bread"] and after["bread"]["path"].endswith("loaf.md")
    assert "forty minutes" in run(home, "retrieve", "lentils")[0]["text"]
    assert run(home, "ingest", str(notes))["counts"] == {}, "the file under its new name is not taken in a second time"
    again = run(home, "refresh")
    assert (again["moved"], again["changed"]["documents"], len(again["gone"])) == ({}, [], 1)
    os.utime(notes / "soup.md", (1, 1))  # as a copy of the folder leaves it
    assert run(home, "refresh")["unchanged"] == again["unchanged"]
    assert f"gone: {notes / 'salt.md'} ({before['salt'][:8]})" in text(home, "refresh")


def test_what_a_deleted_file_said_stands_last_and_says_so(home: Path, tmp_path: Path) -> None:
    asked = ("retrieve", "lentils salt async", "--unlogged")
    (tmp_path / "notes" / "lentils.md").write_text(
        "# Lentils\n\nLentils and salt: lentils need salt and async lentils.\n"
    )
    run(home, "ingest", str(tmp_path / "notes"))
    assert run(home, *asked)[0]["document"]["title"] == "Lentils"
    (tmp_path / "notes" / "lentils.md").unlink()
    found = run(home, *asked)
    assert [row["document"]["title"] for row in found][-1] == "Lentils" and len(found) > 1
    assert "not there any more" in found[-1]["beside"][0] and "not there any more" in text(home, *asked)
    everywhere = json.loads(call("search", "lentils salt async", "--json", "--home", str(home))[1])
    assert everywhere[-1]["title"] == "Lentils" and "its file is gone" in everywhere[-1]["why"] and len(everywhere) > 1
    copy = tmp_path / "notes" / "copy.md"
    copy.write_text("# Lentils\n\nLentils and salt: lentils need salt and async lentils.\n")
    run(home, "ingest", str(copy))
    assert run(home, *asked)[0]["document"]["title"] == "Lentils"
    run(home, "refresh")
    assert {row["path"] for row in run(home, "list")} == {str(tmp_path / "notes" / one) for one in
                                                          ("async.md", "soup.md", "copy.md")}  # fmt: skip


def test_a_contradiction_made_by_hand_is_told_from_both_sides_and_taken_back(home: Path) -> None:
    ids = {row["document"]["title"]: row["key"] for row in run(home, "retrieve", "async lentils")}
    one, other = ids["Async deadlocks"], ids["Soup"]
    made = run(home, "link", other[:8], "contradicts", one[:8], "--note", "it never worked")

    def told() -> list[str]:
        return [said for row in run(home, "retrieve", "async lentils") for said in row["beside"]]

    assert len(told()) == 2 and all("contradicts chunk" in said and "it never worked" in said for said in told())
    assert call("library", "link", one, "contradicts", other, "--home", str(home))[0] == 1, (
        "the same from the other side"
    )
    assert [row["why"] for row in run(home, "consolidate", "--dry-run")["contradictions"]] == ["it never worked"]
    run(home, "undo", made["run_id"])
    assert told() == [] and run(home, "consolidate", "--dry-run")["contradictions"] == []
    code, _, err = call("library", "link", "nothing", "contradicts", one, "--home", str(home))
    assert code == 1 and "there is nothing called 'nothing'" in err


def test_a_link_made_by_hand_is_told_wherever_one_of_its_ends_is_read(home: Path, tmp_path: Path) -> None:
    """Documents that contradict each other, and passages of which one elaborates another, said nothing of it."""
    guide = "# Guide\n\nA `Relay` asks again. The relay waits.\n\n## Locks\n\nA `Mutex` of lentils is a lock.\n"
    (tmp_path / "notes" / "guide.md").write_text(guide)
    run(home, "ingest", str(tmp_path / "notes"))
    papers = {row["title"]: row["id"] for row in run(home, "list")}
    soup = run(home, "show", papers["Soup"])["chunks"][0]["id"]
    deadlock = run(home, "show", papers["Async deadlocks"])["chunks"][0]["id"]
    run(home, "link", papers["Soup"], "contradicts", papers["Async deadlocks"], "--note", "since 3.12")
    run(home, "link", soup, "elaborates", deadlock)
    run(home, "link", "Relay", "complements", "Mutex")
    told = {row["key"]: row["beside"] for row in run(home, "retrieve", "async lentils")}
    assert told[soup][0].startswith(f"elaborates chunk {deadlock[:8]}")
    assert told[deadlock][0].startswith(f"elaborated by chunk {soup[:8]}")
    against = f'contradicts document {papers["Soup"][:8]}: "Soup" (since 3.12)'
    assert told[deadlock][1] == f"its document: {against}"
    assert against in text(home, "show", deadlock) and f"elaborates chunk {deadlock[:8]}" in text(home, "show", soup)
    assert "[elaborates]" in text(home, "retrieve", "lentils salt", "--size", "minimal")
    assert 'complements concept "Mutex"' in text(home, "reflect", "--concept", "Relay")


def test_reflect_calls_nothing_noise_that_serves_a_task_and_counts_what_was_recorded(home: Path) -> None:
    (best, *_) = run(home, "retrieve", "async callback", "--unlogged")
    uses = ("--chunk", best["key"], "--query", "why does the callback hang", "--outcome")
    for outcome in ("win", "win", "win", "miss", "miss", "miss"):
        run(home, "record", *uses, outcome, "--task", "debugging")
    for _ in range(2):
        run(home, "record", *uses, "misleading", "--task", "factual_lookup")
    told = text(home, "reflect")
    assert "mixed, success 0.30" in told and ": noise" not in told
    run(home, "record", "--chunk", best["key"], "--query", "which version", "--outcome", "miss", "--task",
        "decision_support")  # fmt: skip
    assert "decision_support: too little known (1 miss; 1 question, 1 without" in text(home, "reflect")


def test_concepts_of_a_manual_are_no_placeholders_verbs_and_turns_of_phrase(home: Path, tmp_path: Path) -> None:
    manual = (
        "# Manual\n\nThe CLI asks a database; `--to DATABASE` and `--home DIR` name it and the folder. It is `OPEN` "
        "once it is open; a CLI reads it. `read` is done while it reads: whoever can read, will read.\n\n"
        "- never less than one `model` of the relay lamp\n- never less, and a relay lamp\n- never less, relay lamp\n"
        "- the model, every model, no model: models\n- don't think: we don't think, they don't think\n"
    )
    (tmp_path / "notes" / "manual.md").write_text(manual)
    run(home, "ingest", str(tmp_path / "notes"))
    names = {row["name"] for row in run(home, "show", str(tmp_path / "notes" / "manual.md"))["concepts"]}
    assert names >= {"CLI", "model", "relay lamp"}
    assert not names & {"DATABASE", "DIR", "OPEN", "read", "never less", "don't think"}


def test_a_harvest_keeps_the_library_up_and_what_it_learned_can_be_taken_back(home: Path, tmp_path: Path) -> None:
    (best, *_) = run(home, "retrieve", "why does my async callback deadlock")
    for at in range(5):
        run(home, "record", "--chunk", best["key"], "--outcome", "win", "--notes", f"it was the callback, time {at}")
    assert not [note for note in harvested(home)["notes"] if "library" in note], "nothing was read, nothing is done"
    asked_in_a_session(home, 1)
    (tmp_path / "notes" / "soup.md").write_text("# Soup\n\nLentils need forty minutes and a bay leaf.\n")
    notes = harvested(home)["notes"]
    assert "the library read 1 changed file again" in notes
    (learned,) = [note for note in notes if "the library learned (" in note]
    assert "time 4" in run(home, "retrieve", "async callback deadlock")[0]["functional_profile"]
    assert "forty minutes" in run(home, "retrieve", "lentils")[0]["text"]
    run(home, "undo", learned.split("undo ")[1].split("'")[0])
    assert run(home, "retrieve", "async callback deadlock")[0]["functional_profile"] is None


def test_keeping_the_library_up_ends_in_its_time_and_goes_on_after_the_next_harvest(home: Path, tmp_path: Path) -> None:
    """A harvest that hangs on the library for minutes is one that a user ends, with what it had still to do."""
    pages = [tmp_path / "notes" / f"page{at}.md" for at in range(12)]
    for at, page in enumerate(pages):
        page.write_text(f"# Page {at}\n\nWhat one should know of relay {at}: it waits.\n")
    run(home, "ingest", str(tmp_path / "notes"))
    (best, *_) = run(home, "retrieve", "relay 3")
    for at in range(5):
        run(home, "record", "--chunk", best["key"], "--outcome", "win", "--notes", f"time {at}")
    for at, page in enumerate(pages):
        page.write_text(f"# Page {at}\n\nWhat one should know of relay {at}: it waits no more.\n")
    clock = itertools.count(0.0, BUDGET_SECONDS / 8)  # each look at it takes an eighth of what there is
    read, learned, rounds = [], False, 0
    while not learned:
        notes = keep_up(workspace(home), clock=lambda: next(clock))
        read += [int(note.split()[3]) for note in notes if "changed file" in note]
        learned = any("the library learned (" in note for note in notes)
        assert not (learned and sum(read) < len(pages)), "what is read comes first"
        rounds += 1
        assert rounds < 10
        if rounds == 1:
            assert 0 < sum(read) < len(pages), "it stops between two files, and what it read is there"
            assert "no more" in run(home, "retrieve", "relay 0")[0]["text"]
    assert sum(read) == len(pages) and rounds > 2
    assert keep_up(workspace(home)) == []


def test_dossiers_come_in_three_sizes_the_smallest_in_400_characters(home: Path, tmp_path: Path) -> None:
    filler = "The kitchen is large and the day is long, and nothing else is to be said of it here. " * 24
    for at in range(8):
        said = f"The relay number {at} waits forever because its lock is not reentrant."
        (tmp_path / "notes" / f"relay{at}.md").write_text(f"# Relay {at}\n\n{filler}{said} {filler}\n")
    run(home, "ingest", str(tmp_path / "notes"))
    ask = ("retrieve", "why does the relay wait forever", "--task", "debugging", "--limit", "8", "--unlogged")
    best = run(home, *ask)[0]["key"]
    for _ in range(3):
        run(home, "record", "--chunk", best, "--task", "debugging", "--outcome", "miss", "--notes", "of 2019")
    texts = {size: text(home, *ask, "--size", size) for size in ("full", "compact", "minimal")}
    rows = texts["minimal"].split("\n\n")[1:]
    assert len(rows) == 8 and all(len(row.strip()) <= 400 for row in rows)
    assert all("lock is not reentrant" in row for row in rows), "what answers is told, not how the text begins"
    assert "debugging: 3 misses" in texts["minimal"] and "of 2019" in texts["compact"]
    assert len(texts["minimal"]) < len(texts["compact"]) < 4_000 < 8_000 < len(texts["full"])
    assert text(home, *ask) == texts["compact"]
    sizes = [len(json.dumps(run(home, *ask, "--size", size))) for size in ("minimal", "compact", "full")]
    assert sizes[0] < sizes[1] < sizes[2] / 2


def test_a_document_is_found_by_what_it_means(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No word of the question stands in the note: a search, an agent's find and a retrieval all have it, of vectors
    that are made once, for the search in a project too."""
    pytest.importorskip("numpy")
    topics = Topics()
    monkeypatch.setitem(embedders._LOADED, "minilm", topics)
    (tmp_path / "notes" / "moon.md").write_text("# Garage\n\nThe automobile is red.\n")
    run(home, "ingest", str(tmp_path / "notes"))
    assert topics.texts == []
    assert call("config", "set", "embedder", "minilm", "--home", str(home))[0] == 0
    for words in (("search", "vehicle"), ("find", "vehicle"), ("library", "retrieve", "vehicle")):
        code, out, err = call(*words, "--home", str(home))
        assert code == 0 and "automobile" in out, (out, err)
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    code, out, _ = call("search", "vehicle", "--project", str(tmp_path / "shop"), "--home", str(home))
    assert code == 0 and sum("automobile" in one for one in topics.texts) == 1
