"""Real conversations and real memory files through the fact index: what a user's own store would look like.

`pytest -s tests/test_corpus_facts.py` prints the ten most confirmed facts of each.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core.base.entry import FACT_CHARACTERS, statement_key
from core.base.markdown import parse_bullets, sanitise_line, without_emphasis
from core.base.project import slug
from core.base.result import Ok, attempt
from core.base.secrets.redact import redact
from core.commands.facts import bootstrap, validate
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.workspace import open_workspace
from core.factindex.facts import Fact
from core.factindex.feed import Lesson, kind_of
from core.factindex.index import NAME, validate_index
from core.factindex.places import read_all
from core.knowledge.swap import EditorWait
from tests.corpus import CORPUS, archive_into, need_corpus
from tests.factindex_world import Shelf

LARGEST = 200_000


def most_confirmed(facts: list[Fact]) -> list[Fact]:
    return sorted(facts, key=lambda fact: (-(fact.source_count or 0), fact.id))[:10]


def show(title: str, facts: list[Fact]) -> None:
    print(f"\n{title}")
    for fact in most_confirmed(facts):
        print(f"  {fact.source_count}x {fact.confidence:g} {fact.id}: {fact.fact[:110]}")


def require_valid(knowledge: Path) -> None:
    """Files and index hold nothing that a validation rejects, and the same facts."""
    found = read_all(knowledge)
    number, problems = validate_index(NAME, (knowledge / NAME).read_bytes())
    assert found.problems == [] and problems == []
    assert number == len(found.placed) > 0


def test_a_harvest_of_real_conversations_gives_a_valid_index(tmp_path: Path) -> None:
    """Each conversation lies there twice with a different end: what they share is confirmed, not doubled."""
    folder = need_corpus()
    sources = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and 0 < path.stat().st_size <= LARGEST and path.name != "SOURCES.md"
        and path.suffix in (".md", ".txt", ".jsonl", ".json") and ".metadata." not in path.name
    ]  # fmt: skip
    home = tmp_path / "home"
    archive_into(home, [path for path in sources if path.suffix == ".md"], copies=2)
    archive_into(home, [path for path in sources if path.suffix != ".md"])
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_CONFIG_HOME": str(tmp_path)}
    opened = open_workspace(str(home), environment=environment, cwd=tmp_path)
    workspace = opened
    done = attempt(harvest, workspace, HarvestRequest(apply=True), editor_wait=EditorWait(0, 0, 0))
    assert isinstance(done, Ok) and done.value.facts is not None
    assert not [error for error in done.value.errors if error.code.startswith("facts")]
    require_valid(workspace.paths.knowledge)
    checked = attempt(validate, workspace)
    assert isinstance(checked, Ok) and checked.value.problems == ()
    facts = [row.fact for row in read_all(workspace.paths.knowledge).placed.values()]
    texts = [(fact.domain, statement_key(fact.fact)) for fact in facts]
    assert len(texts) == len(set(texts)), "the same fact stands twice"
    assert done.value.facts["confirmed"] > 0
    show(f"{done.value.harvested} conversations: {done.value.facts}", facts)
    chosen = attempt(bootstrap, workspace, [fact.domain for fact in facts])
    assert isinstance(chosen, Ok) and 0 < chosen.value.tokens <= 2000
    again = attempt(harvest, workspace, HarvestRequest(apply=True), editor_wait=EditorWait(0, 0, 0))
    assert isinstance(again, Ok) and again.value.facts is not None
    assert (again.value.facts["new"], again.value.facts["confirmed"]) == (0, 0)


def test_real_memory_files_of_other_tools_become_valid_facts(tmp_path: Path) -> None:
    """Every file is one source; its bullets in any language are facts of its repository, those it shares with others
    confirm them."""
    stores = CORPUS / "stores" / "store"
    if not stores.is_dir():
        pytest.skip("the corpus of memory files is not beside the project")
    shelf = Shelf(tmp_path / "knowledge")
    number = 0
    for path in sorted(stores.rglob("*")):
        if not path.is_file() or path.suffix not in (".md", ".mdc", ".sample"):
            continue
        text = re.sub(r"(?m)^\s*[*-] (\[[ x]\] )?", "- ", path.read_bytes().decode("utf-8"))
        domain = slug(path.relative_to(stores).parts[0].rpartition("__")[2])
        lessons = []
        for bullet in parse_bullets(text):
            clean = sanitise_line(redact(without_emphasis(bullet.text)).text, FACT_CHARACTERS)
            if statement_key(clean):
                lessons.append(Lesson(clean, kind_of("facts", clean), domain, 0.5))
        number += len(lessons)
        shelf.teach(*lessons, path=str(path))
    report = shelf.sync()
    require_valid(shelf.knowledge)
    assert report.new + report.confirmed <= number and report.new > 500
    show(f"{number} bullets: {report.new} facts, {report.confirmed} confirmations", shelf.facts())
    before = shelf.files()
    shelf.sync()
    (shelf.knowledge / NAME).unlink()
    shelf.sync()
    assert shelf.files() == before
