"""Pictures of the whole panel, for eyes: `python -m tests.panel_gallery FOLDER [dark|light] [1.0|1.5|2.0] [1000x650]
[lists] [all]`, with `lists` only the states of the views that panel_gallery_lists.py tells of, with `all` every size of
`SIZES` in both themes (about an hour on two busy cores).

All data in it is made up. It is not a test and not shipped.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.base.paths import project_paths
from core.base.result import ErrorInfo, Ok, attempt
from core.commands.bullets import add
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.memories import memories_archive, save
from core.commands.panel.titles import Called
from core.commands.workspace import Workspace
from core.harvest.report import BEGUN, HarvestReport, NewLine, Progress
from core.harvest.steps import HarvestPlan, Step
from core.sources.artifact import Artifact
from gui.harvest_run import Run, Watch
from tests import gui_window, panel_gallery_library, panel_gallery_lists, panel_gallery_moments, panel_gallery_strange
from tests.gui_window import Desk, open_desk
from tests.harvest_world import says
from tests.made_home import allow_project
from tests.panel_desk import Seat, workspace_at
from tests.panel_gallery_lists import Shot, opened
from tests.panel_gallery_year import TITLES as YEAR_TITLES
from tests.panel_gallery_year import year_home

NAMES = [
    "retry-policy-rework", "session-store", "設計メモ-検索", "회의록-요약-2026", "заметки-о-выпуске",
    "🔥-release-day-🚀", "digest-builder", "index-cache", "flaky-tests", "export-to-html",
    "ネットワーク再試行", "настройка-сборки",
]  # fmt: skip
FOLDERS = ["conversations", "exported", "会議", "архив"]
BULLETS = [
    ("facts", "The session layer retries idempotent requests only; POST needs an `Idempotency-Key`."),
    ("facts", "429 の Retry-After は秒でも日付でも来る → 両方を解釈する。⚠️"),
    ("facts", "회로는 30초 안에 5번 실패하면 열린다 — 호스트가 아니라 세션마다."),
    ("decisions", "Храним индекс в SQLite: один пишет, многие читают. 🗄️"),
    ("decisions", "Back-off starts at 250 ms, doubles, is capped at 8 s and has ±20 % jitter."),
    ("questions", "Does the cache survive a rename of the home folder? 名前を変えたらどうなる?"),
    ("tasks_open", "Write the release notes in 日本語 and 한국어 🎉"),
    ("playbooks", "Cut a release: update the changelog; tag; wait for the build; announce 📣"),
]
MEMORIES = [
    ("An old way of naming branches", ["git"]),
    ("Use tabs in Makefiles, spaces everywhere else.", ["preference", "make"]),
    ("Релиз собирают по пятницам до обеда:\n- журнал изменений\n- тег\n- сборка 📦", ["release"]),
    ("テストは必ず二つのコアで試す。一つだけでは競合が見えない。", ["testing", "decision"]),
    ("회의록은 한국어로, 결정은 영어로 남긴다 ✍️", ["preference", "회의"]),
    (
        "No, not SQLite on a network drive: its locks do not hold there, and two writers lose rows without a word. The "
        "index goes into the cache folder of the machine, and whoever wants it elsewhere copies the finished file.",
        ["correction", "sqlite", "storage"],
    ),
]
RICH = [
    "Checkout sometimes charges twice. Find out why, and write down what we decide.",
    (
        "I read the gateway's log of Monday. The second call comes 30 s after the first, from the same cart: "
        "the browser gives up, the user clicks again.\n\n```python\ndef charge(cart):\n    key = cart.id\n    "
        "return gateway.post('/charge', json=cart.total, headers={'Idempotency-Key': key})\n```"
    ),
    "So is the key sent on the second call as well?",
    (
        "No.\n\nThe root cause is that the retry builds a new request and leaves `Idempotency-Key` out.\n\n"
        "Let's go with one key for every cart: each charge carries the cart's id, also in retries."
    ),
    "Note that the gateway drops keys after 24 hours, so a charge of yesterday must never be retried.",
    (
        "Noted.\n\nTODO: add a test that retries a charge after the timeout.\nTODO: tell support which carts of "
        "Monday were charged twice."
    ),
    "And the limit? I think the gateway allows 50 requests a second.",
    "Its answer says 40: `X-RateLimit-Limit: 40`. Open question: who raises it before the sale in December?",
    "We decided to stay below 30 requests a second until then.",
    (
        "Done: `gateway.py` waits with a token bucket of 30.\n\nTo release it: run `make check`, then `git "
        "tag v2.4.1`, then `git push --tags`."
    ),
]
"""A conversation in which much was decided, for the reader: the user first, then the assistant, in turns."""


LEARNED: dict[str, Any] = {}
for _category, _statement, _quote in (
    ("facts", "Retries of a charge leave `Idempotency-Key` out: the retry builds a new request.",
     "the retry builds a new request and leaves `Idempotency-Key` out"),
    ("facts", "The gateway drops idempotency keys after 24 hours.", "the gateway drops keys after 24 hours"),
    ("facts", "The gateway allows 40 requests a second.", "Its answer says 40: `X-RateLimit-Limit: 40`"),
    ("decisions", "Every charge carries the cart's id as its key, also in retries.",
     "each charge carries the cart's id"),
    ("decisions", "Stay below 30 requests a second until the limit is raised.", "stay below 30 requests a second"),
    ("tasks_open", "Test that a charge is retried with its key.", "add a test that retries a charge"),
    ("questions", "Who raises the gateway's limit before December?", "who raises it before the sale"),
):  # fmt: skip
    LEARNED.setdefault(_category, []).append({"statement": _statement, "detail": "", "quote": _quote})
"""What a model would learn from it."""
REASONS = ["the model did not answer within 120 s", "the answer was no JSON: it ended in the middle of a list",
           "the provider refused the key (401)", "the file changed while it was read"]  # fmt: skip
STATUSES = ["harvested"] * 14 + ["harvest-failed", "deleted-unharvested", "too-large", "too-large", "pruned"]


def leave_rich(folder: Path) -> None:
    """A conversation of Claude Code with much in it."""
    session = "7b1c5a90-3f0e-4c53-9d6a-0b5a4e2f9c11"
    path = folder / f".claude/projects/-srv-shop/{session}.jsonl"
    path.parent.mkdir(parents=True)
    begun = datetime.now(UTC) - timedelta(hours=5)
    rows = [
        {"type": role, "sessionId": session, "cwd": "/srv/shop", "gitBranch": "charge-once", "uuid": f"{at:08d}",
         "parentUuid": None,
         "timestamp": (begun + timedelta(minutes=3 * at)).isoformat(), "message": {"role": role, "content": words}}
        for at, (role, words) in enumerate(zip(cycle(("user", "assistant")), RICH))
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    old = time.time() - 4 * 3600
    os.utime(path, (old, old))


def full_home(folder: Path) -> Workspace:
    """A home with some years behind it."""
    workspace = workspace_at(folder)
    workspace = replace(workspace, environment={**workspace.environment, "HOME": str(folder)})
    leave_rich(folder)
    for sources, model in (((), None), (("claude_code",), says(**LEARNED))):
        harvest(workspace, HarvestRequest(apply=True, sources=sources), generate=model)
    for category, text in BULLETS:
        assert isinstance(attempt(add, workspace, category, text), Ok)
    project = workspace.paths.home / "project"
    for number, text in enumerate(("Shelf keeps every book in one dict; see `add`. 📚", "並べ替えは入力順を保つ。")):
        add(workspace, "files", text, file=str(project / ("shelf.py", "export.py")[number]))
    chance, now = random.Random(7), datetime.now(UTC)
    loaded = json.loads(workspace.paths.ledger.read_text("utf-8"))
    for number in range(1, 2401):
        status = chance.choice(STATUSES)
        when = now - timedelta(minutes=chance.randrange(1, 60 * 24 * 400))
        name = f"{chance.choice(NAMES)}-{number}"
        unread = status in ("harvest-failed", "too-large", "pruned", "deleted-unharvested")
        row: dict[str, Any] = {
            "path": str(workspace.paths.home / chance.choice(FOLDERS) / name),
            "status": status,
            "at": when.isoformat(),
            "deleted": status in ("deleted-unharvested", "pruned"),
            "items": {} if unread else {"facts": chance.randrange(0, 9), "decisions": chance.randrange(0, 4)},
            "date": (when - timedelta(hours=chance.randrange(1, 90))).date().isoformat(),
            "error": chance.choice(REASONS) if status == "harvest-failed" else "",
            "provider": chance.choice(["offline", "ollama", "openai"]),
            "model": chance.choice(["", "qwen3:8b", "deepseek-chat"]),
        }
        loaded["entries"][f"{chance.getrandbits(256):064x}"] = row
    workspace.paths.ledger.write_text(json.dumps(loaded), encoding="utf-8")
    with workspace.paths.changes.open("a", encoding="utf-8") as file:
        for back in range(1, 13):
            for run in range(chance.randrange(0, 3)):
                when = (now - timedelta(days=back)).isoformat()
                lines = [f"- made up {number}" for number in range(chance.randrange(1, 30))]
                record = {"when": when, "run": f"2026-{back}-{run}", "file": "facts.md", "added": lines, "sha": "a"}
                file.write(json.dumps(record) + "\n")
    for text, tags in MEMORIES:
        assert isinstance(attempt(save, workspace, text, tag=tags), Ok)
    assert isinstance(attempt(memories_archive, workspace, "1"), Ok)
    context = "---\nversion: 1\n---\n\n# How I work\n\n" + "Answer in short sentences. 短く答える。 🔥\n\n" * 60
    workspace.paths.context.write_text(context, encoding="utf-8")
    project = project_paths(workspace.cwd)
    project.knowledge.mkdir(parents=True)
    assert isinstance(attempt(allow_project, workspace.cwd, workspace.environment), Ok)
    head = "---\nversion: 1\nupdated: 2026-05-01T10:00:00\n---\n\n"
    project.context.write_text(head + "Shelf: tests run with `make check`.\n" * 60, encoding="utf-8")
    workspace.paths.prompts.mkdir()
    (workspace.paths.prompts / "summarize.md").write_text("Shorten it.\n", encoding="utf-8")
    return workspace


TITLES = [*YEAR_TITLES[:8], "ネットワーク再試行の上限", "Настройка сборки", "Say hello", "회의록 요약"]
SAID = [
    NewLine("decisions", "Round once per invoice, on the sum, half to even; never per line.", "may correct an earlier "
            "bullet", 7),
    NewLine("facts", "The gateway drops the client's address: trust X-Forwarded-For only from 10.0.0.0/8.", "a pitfall",
            3),
    NewLine("playbooks", "Move sessions: dual-write for a day, compare counts, switch reads, stop the old writer.",
            "4 steps", 4),
    NewLine("tasks_open", "Add an idempotency key to the second checkout call.", "", 1),
    NewLine("questions", "Who rotates the signing key while its owner is away?", "", 1),
    NewLine("files", "src/theme.ts sets the class before the first paint.", "", 1),
]  # fmt: skip


def going_on() -> Watch:
    """A harvest in its middle."""
    chance = random.Random(5)
    tools = ["claude_code", "codex", "cursor", "claude_code", "gemini_cli"]
    artifacts = [
        Artifact(f"/srv/talk-{number}", f"talk-{number}", "conversation", chance.randrange(2_000, 200_000))
        for number in range(41)
    ]
    plan = HarvestReport(False, plan=HarvestPlan((), tuple(Step(row, "harvest", row.name, "") for row in artifacts)))
    names = {
        row.path: Called(TITLES[at % len(TITLES)], tools[at % 5], f"2026-11-{1 + at % 20:02d}",
                         f"/home/someone/src/{['billing', 'shop', 'api-gateway'][at % 3]}")
        for at, row in enumerate(artifacts)
    }  # fmt: skip
    begun = time.monotonic() - 130
    watch = Watch(plan, names, begun)
    for number, row in enumerate(artifacts[:19]):
        at = begun + 7 * number
        watch.hear(Progress(0, 41, row.name, "", kind=BEGUN, path=row.path), at)
        if number < 17:
            lines = tuple(SAID[at] for at in range(number % 7, len(SAID), 7)) if number < 7 else ()
            lines += tuple(NewLine("facts", f"{TITLES[number % 12]}: seen {at + 2} times since spring.", "", 1)
                           for at in range(chance.randrange(0, 4)))  # fmt: skip
            outcome = "failed" if number == 6 else f"{len(lines)} items"
            lines = () if number == 6 else lines
            watch.hear(Progress(number, 41, row.name, outcome, path=row.path, sent=17_000 * number,
                                received=700 * number, lines=lines), at + 6)  # fmt: skip
    return watch


def leave_sources(home: Path) -> None:
    """Conversations of other tools."""
    places = {
        ".claude/projects/-srv-検索/{}.jsonl": (48, 28),
        ".codex/sessions/2026/05/02/rollout-{}.jsonl": (17, 200),
        ".gemini/tmp/ab/chats/session-{}.json": (3, 12),
        "проект-📚/.specstory/history/{}-회의.md": (6, 40),
    }
    for pattern, (count, days) in places.items():
        for number in range(count):
            path = home / pattern.format(number)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("made up\n" * 900 * (number + 1), encoding="utf-8")
            at = time.time() - 86_400 * days * (number + 1) / count
            os.utime(path, (at, at))


def pictures(desk: Desk, shot: Shot, theme: str, scale: float, only_lists: bool = False) -> None:
    """Every view and every state, one after the other; `shot(name)` looks at it."""
    home = Path(tempfile.mkdtemp())
    workspace = full_home(home)
    leave_sources(home)
    panel_gallery_lists.leave_facts(workspace)
    panel_gallery_lists.leave_said(workspace)
    new = Path(tempfile.mkdtemp())
    waiting, nothing = workspace_at(new), workspace_at(Path(tempfile.mkdtemp()), demo=False)

    def with_panel(on: Workspace, act: Callable[[Seat], object], own: Workspace | None = None) -> None:
        desk.fresh(scale, theme)
        os.environ["HOME"] = str((own or on).paths.home.parent)  # paths are shown as a user sees their own
        seat = Seat(desk, on, scale=scale, palette=theme, own=own)
        try:
            seat.settle()
            act(seat)
            if seat.faults():
                print(theme, scale, seat.faults())
        finally:
            seat.leave()
            desk.clear()

    def views(seat: Seat) -> None:
        panel, shell = seat.panel, seat.panel.shell
        ledger: Any = panel.workbench.views["conversations"]
        ledger._select(ledger.table.rows[1])
        seat.settle()
        shot("conversations")
        ledger._only("harvest-failed")
        ledger._select(ledger.table.rows[2])
        seat.settle()
        shell.error(
            ErrorInfo(
                "no-credentials",
                "Nothing was harvested: no key for openai was found",
                "~/credentials.toml",
                "write it there, or set OPENAI_API_KEY and start again",
            ),
            "Open settings",
            lambda: None,
        )
        shot("failed")
        panel.workbench.banner.hide()
        for view in ("knowledge", "files", "settings"):
            opened(seat, view)
            shot(view)
        shell.run("view.settings")
        settings_of: Any = panel.workbench.views["settings"]
        for _ in range(3):
            settings_of.press("Down", False)
        desk.frames(8)
        shot("settings-chosen")
        for name, words in (("search-begin", ""), ("search", "release tag"), ("search-none", "zzqq")):
            searching = opened(seat, "search")
            desk.press("ctrl+a")
            desk.press("Delete")
            desk.type_text(words)
            seat.until(lambda view=searching: not view.pending)
            seat.settle()
            shot(name)
        read = next(row for row in shell.state.snapshot.ledger if row.entry.get("source") == "claude_code")
        shell.read(key=read.key)
        seat.until(lambda: panel.reading.talk is not None and not shell.busy())
        shot("reader")
        panel.reading.go_mark(1)
        panel.reading.fold_all()
        seat.settle()
        shot("reader-item")
        panel.reading.close()
        of_knowledge = opened(seat, "knowledge")
        of_knowledge.show("memories")
        shot("memories")
        of_knowledge.begin_add()
        desk.frames(8)
        shot("memories-add")
        of_knowledge.session.cancel()
        of_knowledge.show("all")
        shell.run("view.conversations")
        panel.toggle_side()
        shot("one-column")
        panel.toggle_side()
        shell.run("search")
        desk.press("ctrl+a")
        desk.type_text("retr")
        seat.settle()
        shot("search-typed")
        desk.press("ctrl+a")
        desk.press("greater")
        seat.settle()
        shot("commands")
        shell.run("search.leave")
        shell.run("keys")
        shot("keys")
        panel.keys.dialog.close()
        shell.run("digest.delete")
        shot("delete-digest")
        panel.shell._question.dialog.cancel()
        shell.toast("12 bullets added", action="Undo", on_action=lambda: None, seconds=600)
        shot("toast")

    def run(seat: Seat) -> None:
        panel = seat.panel
        shot("empty")
        panel.shell.run("harvest")
        seat.until(lambda: panel.run.now.phase == "planned")
        shot("dry-run")
        panel.harvest.dialog.confirm()
        seat.until(lambda: panel.run.now.phase == "ended")
        seat.settle()
        shot("result")

    def year(seat: Seat) -> None:
        of_year = opened(seat, "conversations")
        shot("year")
        of_year.strip._choose((40, 47))
        seat.settle()
        shot("year-filtered")
        of_year.strip.clear()

    def middle(seat: Seat) -> None:
        from gui.state import Activity

        panel = seat.panel
        watch = going_on()
        panel.harvest.dialog.open()
        panel.shell.change(activity=Activity(watch.through, len(watch.talks), False,
                                             watch.sent + watch.received, 0.27, watch.left))  # fmt: skip
        config = replace(workspace.config, provider="openai", model="made-up")
        panel.run.workspace = replace(workspace, loaded=replace(workspace.loaded, config=config))
        panel.run._set(Run("running", watch=watch))
        shot("running")
        panel.harvest.dialog.close()
        shot("running-closed")

    wanted = os.environ.get("GALLERY", "lists nothing first run views year library middle moments strange demo").split()
    if "lists" in wanted:
        with_panel(workspace, lambda seat: panel_gallery_lists.lists(seat, shot))
    if "nothing" in wanted:
        with_panel(waiting, lambda seat: panel_gallery_lists.nothing(seat, shot))
    if only_lists:
        return
    if "first" in wanted:
        with_panel(nothing, lambda _seat: shot("first"))
    if "run" in wanted:
        with_panel(waiting, run)
    if "views" in wanted:
        with_panel(workspace, views)
    if "year" in wanted:
        with_panel(year_home(Path(tempfile.mkdtemp())), year)
    if "library" in wanted:
        panel_gallery_library.leave_library(workspace)
        with_panel(workspace, lambda seat: panel_gallery_library.library(seat, shot))
    if "middle" in wanted:
        with_panel(workspace, middle)
    if "moments" in wanted:
        panel_gallery_moments.moments(with_panel, shot)
    if "strange" in wanted:
        panel_gallery_strange.strange(with_panel, shot)
    if "demo" in wanted:
        with_panel(workspace, lambda _seat: shot("demo"), nothing)


SIZES = ((1280, 800, 1.0), (1920, 1080, 1.0), (1280, 800, 1.5), (1920, 1080, 2.0), (800, 500, 1.0))
"""Width and height of the window, and the scale: all that the panel is looked at in before a release."""


def main(
    folder: Path, themes: list[str], scales: list[float], only_lists: bool = False, size: tuple[int, int] | None = None
) -> None:
    """All pictures; without a size, in a window that grows with the scale."""
    state = tempfile.mkdtemp()
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        os.environ[name] = state
    if (max(scales) > 1 and size is None) or (size and size[0] > 1440):
        gui_window.WIDTH, gui_window.HEIGHT, gui_window.SCREEN = 1920, 1200, "2000x1260x24"
    desk = open_desk()
    if size is not None:
        desk.resize(*size)
    for theme in themes:
        for scale in scales:

            def shot(name: str, end: str = f"{theme}-{scale}{f'-{size[0]}' if size else ''}") -> None:
                desk.frames(10)
                desk.screenshot(folder / f"panel-{name}-{end}.png")

            pictures(desk, shot, theme, scale, only_lists)


def every_size(folder: Path) -> None:
    """A program for each size and theme: a window is opened once in a process, on one screen."""
    for wide, tall, scale in SIZES:
        for theme in ("dark", "light"):
            words = [str(folder), theme, str(scale), f"{wide}x{tall}"]
            subprocess.run([sys.executable, "-m", "tests.panel_gallery", *words], check=True)


if __name__ == "__main__":
    words = sys.argv[1:]
    if {"-h", "--help"} & {*words}:
        print(__doc__)
        sys.exit()
    if "all" in words:
        every_size(Path(words[0]))
        sys.exit()
    main(
        Path(words[0] if words else "shots"),
        [word for word in words if word in ("dark", "light")] or ["dark"],
        [float(word) for word in words if word in ("1.0", "1.5", "2.0")] or [1.0],
        "lists" in words,
        next(((int(wide), int(tall)) for word in words[1:] for wide, x, tall in [word.partition("x")] if x), None),
    )
