"""Corrected and deleted mean everywhere: histories of edits, removals, corrections, retractions, forgets and undos, at
the command line, over MCP and through the functions that the panel calls, on two machines of one user joined by git.

After each history both machines have taken over each other's work, and every place that can answer tells the same
statements as `knowledge list`; none tells what was removed and not brought back; both machines tell the same. How often
a statement was confirmed is each machine's own.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from core.base.result import KnowledgeError
from core.commands import bullets
from core.commands.history.undo import undo
from tests.acceptance.stand import DOCUMENTS_ONLY, FACTS_ONLY, MEMORIES_ONLY, TASKS_ONLY, Machine, plain
from tests.harvest_world import HURRIED
from tests.histories.ground import STEPS

BIRDS = ("avocet", "bittern", "curlew", "dunlin", "egret", "fulmar", "gadwall", "hoopoe", "ibis", "jacana", "kite")
AGENTS = "memories"
ROUNDS = 14


class History:
    """Two machines, and what was said on them: `said` are all statements there ever were, with their categories, `gone`
    those that the user took away. Of the `doubtful` only the places' agreement is looked at: somebody brought them
    back, or said for how long they hold."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        one = Machine(folder / "user")
        self.said: dict[str, str] = {}
        self.gone: set[str] = set()
        self.doubtful: set[str] = set()
        self.sessions: list[tuple[str, str]] = []
        for bird in BIRDS[:6]:
            self._say(one, self._new(bird, self.chance.choice(("facts", "facts", "decisions", "tasks_open"))))
        one.learn()
        self.machines = (one, one.second())
        for machine in self.machines:
            machine.ok("library", "ingest", str(machine.knowledge_folder / "facts.md"))

    # --- what is said ---

    def _new(self, bird: str, category: str) -> str:
        words = f"The {bird} service answers on port {8100 + len(self.said)}"
        self.said[words] = category
        return words

    def _say(self, machine: Machine, words: str, old: str = "") -> None:
        """In a session of one of the tools, a new one or one that goes on; in one of its spellings."""
        if self.sessions and self.chance.random() < 0.3:
            tool, name = self.chance.choice(self.sessions)
        else:
            tool, name = self.chance.choice(("claude", "codex")), f"session {len(self.sessions)}"
            self.sessions.append((tool, name))
        lead = {"facts": "Keep in mind", "decisions": "We decided", "tasks_open": "Still to do"}[self.said[words]]
        spelled = self.chance.choice((words, words, f"{words}.", words.replace(" on ", "  on "), words.upper()))
        getattr(machine, tool)(
            f"{name} of {id(machine)}", f"{lead}: {spelled}" + (f" (no longer: {old})" if old else "")
        )

    def _some(self, machine: Machine) -> dict[str, str] | None:
        """One row of what stands there and is not struck."""
        rows = [row for row in machine.rows("list", "--project", "all") if not row["struck"]]
        rows = [row for row in rows if any(plain(words) in plain(row["text"]) for words in self.said)]
        return self.chance.choice(rows) if rows else None

    def _words_of(self, row: dict[str, str]) -> str:
        return next(words for words in self.said if plain(words) in plain(row["text"]))

    def _takes_part(self, machine: Machine, act: Callable[[], object]) -> None:
        """Do what may take away or bring back any of what stands there."""
        before = self._listed(machine)
        act()
        self.doubtful |= before ^ self._listed(machine)

    # --- what the user does ---

    def says_something_new(self, machine: Machine) -> None:
        self._say(
            machine, self._new(self.chance.choice(BIRDS), self.chance.choice(("facts", "decisions", "tasks_open")))
        )
        machine.learn()

    def says_something_again(self, machine: Machine) -> None:
        """Also what was taken away: it must not come back by that."""
        self._say(machine, self.chance.choice([words for words, name in self.said.items() if name != AGENTS]))
        machine.learn()

    def removes(self, machine: Machine) -> None:
        if row := self._some(machine):
            machine.ok("rm", row["id"], *self.chance.choice(((), ("--strike",), ("--forever", "--yes"))))
            self.gone.add(self._words_of(row))

    def removes_in_the_panel(self, machine: Machine) -> None:
        if row := self._some(machine):
            with machine.workspace() as workspace:
                bullets.remove(workspace, row["category"], row["text"], strike=self.chance.random() < 0.5)
            self.gone.add(self._words_of(row))

    def retracts(self, machine: Machine) -> None:
        if row := self._some(machine):
            machine.ok("retract", row["id"])
            self.gone.add(self._words_of(row))

    def edits(self, machine: Machine) -> None:
        if row := self._some(machine):
            new = self._new(self.chance.choice(BIRDS), row["category"])
            if self.chance.random() < 0.5:
                machine.ok("edit", row["id"], new)
            else:
                with machine.workspace() as workspace:
                    bullets.edit(workspace, row["category"], row["text"], new)
            self.gone.add(self._words_of(row))

    def corrects(self, machine: Machine) -> None:
        """A later session contradicts a line, and the user accepts that."""
        if (row := self._some(machine)) and row["category"] in ("facts", "decisions"):
            old = self._words_of(row)
            self._say(machine, self._new(self.chance.choice(BIRDS), "decisions"), old)
            machine.learn()
            if machine.says_yes("outdated", old):
                self.gone.add(old)

    def forgets_a_conversation(self, machine: Machine) -> None:
        if (row := self._some(machine)) and "by-hand" not in row["provenance"]:
            typed = ("forget", machine.conversation_of(row["text"]), self.chance.choice(("--strike", "--yes")))
            self._takes_part(machine, lambda: machine.ok(*typed))

    def takes_a_change_back(self, machine: Machine) -> None:
        known = [row["run"] for row in machine.ok("undo") if row["kind"] != "harvest" and not row["undone"]]
        if known:
            run, at_the_command_line = self.chance.choice(known[:3]), self.chance.random() < 0.5
            self._takes_part(machine, lambda: machine.run("undo", run) if at_the_command_line else _undo(machine, run))

    def brings_back(self, machine: Machine) -> None:
        if known := sorted(words for words in self.gone if self.said[words] != AGENTS):
            words = self.chance.choice(known)
            machine.ok("add", {"tasks_open": "tasks"}.get(self.said[words], self.said[words]), words)
            self.gone.discard(words)
            self.doubtful.add(words)

    def finishes_a_task(self, machine: Machine) -> None:
        if (row := self._some(machine)) and row["category"] == "tasks_open":
            machine.ok("done", row["id"])
            self.gone.add(self._words_of(row))

    def an_agent_saves_and_the_user_archives(self, machine: Machine) -> None:
        words = self._new(self.chance.choice(BIRDS), AGENTS)
        machine.mcp(("save_memory", {"content": words}), at="src/shop", writes=True)
        if self.chance.random() < 0.6:
            number = max(int(row["id"]) for row in machine.rows("memories", "list"))
            if (
                machine.run("memories", "archive", str(number)).code == 0
            ):  # a number that two machines gave stands twice
                self.gone.add(words)

    def corrects_a_fact_file(self, machine: Machine) -> None:
        """In an editor: the text of a fact, or until when it holds."""
        facts = [row["fact"] for row in machine.rows("facts", "list") if not row.get("stale")]
        known = [words for words in self.said if any(plain(words) in plain(fact) for fact in facts)]
        if not known:
            return
        old = self.chance.choice(known)
        for path in machine.knowledge_folder.rglob("*.yaml"):
            lines = path.read_text(encoding="utf-8").split("\n")
            at = next((number for number, line in enumerate(lines) if plain(old) in plain(line)), None)
            if at is not None:
                if self.chance.random() < 0.5:
                    new = self._new(self.chance.choice(BIRDS), "facts")
                    lines[at] = lines[at].partition("fact:")[0] + f'fact: "{new}"'
                else:
                    lines.insert(at + 1, '  expires: "2026-06-01"')
                    self.doubtful.add(old)
                path.write_text("\n".join(lines), encoding="utf-8")
                machine.ok("facts", "sync")
                self.gone.add(old)
                return

    def takes_over(self, machine: Machine) -> None:
        machine.pull(self._other(machine))

    def _other(self, machine: Machine) -> Machine:
        one, two = self.machines
        return two if machine is one else one

    # --- what must hold ---

    def play(self) -> list[str]:
        done = []
        for _ in range(ROUNDS):
            act = self.chance.choice(ACTS)
            machine = self.chance.choice(self.machines)
            STEPS[act.__name__.replace("_", " ")] += 1
            done.append(f"{act.__name__} on {self.machines.index(machine) + 1}")
            try:
                act(self, machine)
            except (AssertionError, KnowledgeError) as failed:
                return [f"{done[-1]} did not work: {failed}"[:400], f"  after {', '.join(done)}"]
        one, two = self.machines
        for machine in (one, two, one):
            self.takes_over(machine)
        wrong = [row for number, machine in enumerate(self.machines, 1) for row in self._wrong(number, machine)]
        lists = [self._listed(machine) for machine in self.machines]
        if lists[0] != lists[1]:
            wrong.append(f"only on one: {sorted(lists[0] - lists[1])}; only on two: {sorted(lists[1] - lists[0])}")
        return [*wrong, f"  after {', '.join(done)}"] if wrong else []

    def _listed(self, machine: Machine, *named: str, by_hand: bool = True) -> set[str]:
        """What `list` tells as something that holds; without what was added by hand where that is not wanted."""
        listed = [row for row in machine.rows("list", *named, "--project", "all") if not row["struck"]]
        rows = [plain(row["text"]) for row in listed if by_hand or "by-hand" not in row["provenance"]]
        return {words for words in self.said if any(plain(words) in row for row in rows)}

    def _wrong(self, number: int, machine: Machine) -> list[str]:
        statements = [*self.said]
        told = machine.tellings(statements)
        listed, finished = told["list"], self._listed(machine, "tasks", "--done")
        facts, tasks = (self._listed(machine, name) for name in ("facts", "tasks"))
        by_hand = self._listed(machine, "facts") - self._listed(machine, "facts", by_hand=False)  # no index has these
        holds = {words for words in statements if self.said[words] != AGENTS} - self.gone - self.doubtful - finished
        wrong = [f"machine {number}: nothing is told at all, not even {sorted(holds)}"] if holds and not listed else []
        missed: dict[str, list[str]] = {}
        for place, found in told.items():
            wanted = listed
            if place in FACTS_ONLY:
                wanted, found = facts - by_hand, found - by_hand
            elif place in TASKS_ONLY:
                wanted = tasks
            elif place in MEMORIES_ONLY:
                wanted = told["recall"]
            elif place in DOCUMENTS_ONLY:
                wanted = found
            else:
                found = found - (told["recall"] | finished) | (found & listed)
            for words in found ^ wanted:
                missed.setdefault(words, []).append(place)
        for words, places in sorted(missed.items()):
            said = "is listed, and not told by" if words in listed else "is not listed, but told by"
            wrong.append(f"machine {number}: {words!r} {said} {', '.join(places)}")
        for words in sorted(self.gone - self.doubtful - finished):
            if places := sorted(place for place, found in told.items() if words in found):
                wrong.append(f"machine {number}: {words!r} was taken away, and is told by {', '.join(places)}")
        return wrong


def _undo(machine: Machine, run: str) -> None:
    """As the panel does it; what has changed since is not taken back."""
    with machine.workspace() as workspace, suppress(KnowledgeError):
        undo(workspace, run, editor_wait=HURRIED)


ACTS: tuple[Callable[[History, Machine], None], ...] = (
    History.says_something_new,
    History.says_something_again,
    History.says_something_again,
    History.removes,
    History.removes_in_the_panel,
    History.retracts,
    History.edits,
    History.corrects,
    History.forgets_a_conversation,
    History.takes_a_change_back,
    History.brings_back,
    History.finishes_a_task,
    History.an_agent_saves_and_the_user_archives,
    History.corrects_a_fact_file,
    History.takes_over,
)


def rounds(number: int) -> dict[int, list[str]]:
    """This many histories; what broke, by history. The same number is the same history."""
    found = {}
    for seed in range(number):
        folder = Path(tempfile.mkdtemp(prefix="everywhere-"))
        try:
            if wrong := History(folder, seed).play():
                found[seed] = wrong
        except Exception:  # noqa: BLE001 - what it found is the result
            found[seed] = traceback.format_exc().split("\n")[-4:]
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return found
