"""The fact index with 100,000 facts, beside orjson loading the same index.json: what any program pays that reads it."""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from core.base.result import Ok, attempt
from core.commands.fact_feed import sync_facts
from core.commands.workspace import open_workspace
from core.factindex.bootstrap import choose
from core.factindex.edits import item_text, new_file_text
from core.factindex.facts import CATEGORIES, Fact, format_id
from core.factindex.feed import Lesson, Taught
from core.factindex.index import read_index
from core.factindex.places import PLURAL
from core.factindex.record import History
from core.factindex.sync import Harvests, SyncReport, sync
from core.knowledge.swap import replace_expected
from tests.bench import Row, ratio

FACTS = 100_000
DOMAINS = 200
NOW = datetime(2026, 6, 12, tzinfo=UTC)
TEXT = (
    "the session store keeps files for ninety days and is swept at night when a worker that holds the lease has read "
    "them port cache token header build release branch deploy proxy queue index migration schema retry timeout"
)
WORDS = TEXT.split()


def figures() -> Iterator[Row]:
    """Each a median of rounds taken in turns with the floor, in processor time: the machine has other guests."""
    import orjson

    with tempfile.TemporaryDirectory(prefix="knowledge-bench-") as place:
        folder = Path(place)
        knowledge = folder / "knowledge"
        make_facts(knowledge)
        taught: list[Taught] = []

        def synced() -> SyncReport:
            def harvests(history: History) -> Harvests:
                new = [one for one in taught if (one.sha, one.run) not in history.fed]
                return Harvests(new, {(one.sha, one.run) for one in new})

            return sync(knowledge, knowledge / ".state", harvests, NOW, replace=replace_expected)

        def anew() -> None:
            (knowledge / "index.json").unlink(missing_ok=True)
            assert synced().total >= FACTS

        def with_one_more() -> None:
            number = len(taught)
            text = f"A new fact, number {number}"
            lesson = Lesson(text, "fact", "repo-7", 0.8)
            taught.append(Taught(f"sha{number}", f"run{number}", f"/talk/{number}", "2026-06-12", (lesson,)))
            assert synced().new == 1

        def load() -> None:
            assert len(orjson.loads((knowledge / "index.json").read_bytes())["facts"]) >= FACTS

        def bootstrap() -> None:
            read = read_index(knowledge)
            assert choose(read, ("repo-7", "global")).facts

        def unchanged() -> None:
            done = attempt(sync_facts, workspace, now=lambda: NOW)
            assert isinstance(done, Ok) and done.value.total >= FACTS

        synced()
        opened = open_workspace(str(folder), environment={"XDG_CACHE_HOME": str(folder / "cache")}, cwd=folder)
        workspace = opened
        for path in knowledge.rglob("*"):
            os.utime(path, (1_700_000_000, 1_700_000_000))
        unchanged()
        rows: tuple[tuple[str, Callable[[], None], float], ...] = (
            ("sync, nothing changed", unchanged, 1),
            ("sync, index deleted", anew, 25),
            ("sync, one new fact", with_one_more, 25),
            ("bootstrap of 2,000 tokens", bootstrap, 5),
        )
        for what, work, most in rows:
            yield f"{FACTS} facts: {what} / orjson load of the same index", ratio(work, load, time.process_time), most


def make_facts(knowledge: Path) -> None:
    """Facts in 1,000 files: five categories of 200 domains."""
    chance = random.Random(1)
    each = FACTS // (DOMAINS * len(CATEGORIES))
    for number in range(DOMAINS):
        domain = f"repo-{number}" if number else "global"
        for category in CATEGORIES:
            rows: list[Fact] = []
            for sequence in range(1, each + 1):
                text = " ".join(chance.choices(WORDS, k=14)) + f" {number} {category} {sequence}"
                tags = ("git", chance.choice(WORDS).lower())
                name = format_id(domain, category, sequence)
                rows.append(Fact(name, text, category, domain, 0.8, tags, 2, "2026-03-27", "2026-04-13"))
            place = knowledge / ("global" if domain == "global" else f"repos/{domain}")
            place.mkdir(parents=True, exist_ok=True)
            text = new_file_text(domain, category, "2026-04-13") + "".join(map(item_text, rows))
            (place / f"{PLURAL[category]}.yaml").write_text(text, encoding="utf-8")
