"""The panel's parts that need no window: colours, keys, geometry, jobs, the worker, the fonts' files."""

from __future__ import annotations

import json
import struct
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from core.base.result import KnowledgeError, Ok, attempt, refuse
from gui.geometry import FILE_NAME, Geometry, on_screen, read_geometry, remembered, write_geometry
from gui.harvest_run import BROKEN, WAITING
from gui.toolkit.icons import ICONS
from gui.toolkit.jobs import Job, Jobs, Worker
from gui.toolkit.keys import Shortcut, find, label_of
from gui.toolkit.outside import editor_at
from gui.toolkit.styles import PALETTES, STYLES, Palette, Rgba, rules_of
from gui.toolkit.window import display_problem
from gui.views.harvest_watch import state_words
from tests.waiting import PATIENCE_SECONDS

FONTS = Path(__file__).resolve().parents[1] / "assets" / "fonts"


STATUS_COLORS = ("harvested", "failed", "deleted", "too-large", "edited", "waiting")
RAMP = tuple(f"ramp:{number}" for number in range(7))
CODE = ("code-word", "code-name", "code-text", "code-number", "code-mark", "code-sign", "code-note")
GROUNDS = ("window", "panel", "card", "field", "selected")
PAIRS = (
    *(("text", ground) for ground in (*GROUNDS, "hover", "pressed")),
    *((words, ground) for words in ("muted", "hint", "accent") for ground in (*GROUNDS, "hover")),
    *((words, ground) for words in STATUS_COLORS for ground in (*GROUNDS, "hover")),
    *((words, ground) for words in CODE for ground in ("window", "card")),
    *((words, f"{ground} {tint}") for words in ("text", "muted") for ground in ("panel", "card", "selected")
      for tint in ("failed@12", "edited@12")),
    *((words, f"{ground} {words}@{tint}") for words in (*RAMP, *STATUS_COLORS, "accent", "muted", "hint")
      for ground in ("window", "panel", "card") for tint in (8, 13)),
    *(("text", f"{ground} {tint}@26") for tint in (*RAMP, *STATUS_COLORS, "accent", "muted")
      for ground in ("window", "panel", "card")),
    *(("on-primary", f"primary{state}") for state in ("", "-hover", "-pressed")),
    *(("text", f"{ground} hit@{tint}") for ground in ("window", "panel", "card", "selected") for tint in (32, 40)),
    ("failed", "card failed@16"),
    ("accent", "panel accent@14"),
    ("text", "field accent@35"),
)  # fmt: skip
"""Words and what they stand on, as the views have them: a ground, and a tint over it."""


def luminance(color: Rgba) -> float:
    """Relative luminance as WCAG 2 defines it, 0 to 1; opacity is left out."""
    parts = []
    for part in color[:3]:
        share = part / 255
        parts.append(share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4)
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: Rgba, other: Rgba) -> float:
    """Contrast ratio of two opaque colours as WCAG 2 defines it, 1 to 21."""
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def worn(palette: Palette, ground: str) -> tuple[int, int, int, int]:
    """The colour of a ground with a tint over it."""
    under, _, tint = ground.partition(" ")
    base, top = palette.rgba(under), palette.rgba(tint or under)
    red, green, blue = (round(b + (t - b) * top[3] / 255) for b, t in zip(base[:3], top[:3], strict=True))
    return red, green, blue, 255


@pytest.mark.parametrize("theme", sorted(PALETTES))
def test_words_can_be_read_on_whatever_they_stand_on_in_both_themes(theme: str) -> None:
    palette = PALETTES[theme]
    weak = {
        f"{words} on {ground}": round(ratio, 2)
        for words, ground in PAIRS
        if (ratio := contrast(palette.rgba(words), worn(palette, ground))) < 4.5
    }
    assert not weak
    for status in STATUS_COLORS:
        assert contrast(palette.rgba(status), palette.rgba("card")) >= 6, status
    for sign in RAMP:
        assert min(contrast(palette.rgba(sign), palette.rgba(ground)) for ground in GROUNDS) >= 3, sign
    assert contrast((0, 0, 0, 255), (255, 255, 255, 255)) == pytest.approx(21)


def test_both_themes_name_the_same_colours_and_every_style_uses_known_ones() -> None:
    dark, light = PALETTES["dark"], PALETTES["light"]
    assert set(dark.colors) == set(light.colors) and len(dark.ramp) == len(light.ramp)
    for name in [*STYLES, "chip:failed", "chip-on:failed", "text:accent", "copy:hint"]:
        for rule in rules_of(name):
            for color in rule.colors.values():
                assert len(light.rgba(color)) == 4
    assert dark.rgba("failed@50")[3] == 128


def characters_of(path: Path) -> set[int]:
    """Code points of a TrueType file, from the table of format 12."""
    data = path.read_bytes()
    tables = struct.unpack_from(">H", data, 4)[0]
    entries = (struct.unpack_from(">4sLLL", data, 12 + 16 * number) for number in range(tables))
    start = next(offset for tag, _, offset, _ in entries if tag == b"cmap")
    found: set[int] = set()
    for number in range(struct.unpack_from(">H", data, start + 2)[0]):
        at = start + struct.unpack_from(">HHL", data, start + 4 + 8 * number)[2]
        if struct.unpack_from(">H", data, at)[0] == 12:
            for group in range(struct.unpack_from(">L", data, at + 12)[0]):
                first, last, _ = struct.unpack_from(">LLL", data, at + 16 + 12 * group)
                found.update(range(first, last + 1))
    return found


@pytest.mark.parametrize("name", ["text.ttf", "heading.ttf", "mono.ttf"])
def test_no_script_of_a_person_turns_into_empty_squares(name: str) -> None:
    has = characters_of(FONTS / name)
    for text in (
        "Größe œ ſ",
        "Привет Ђ",
        "Ελληνικά",
        "設計メモ、会議です",
        "한국어 노트",
        "简体中文",
        "→≈…±½■",
        "🔥⚠🎉👍",
    ):
        assert not {letter for letter in text if ord(letter) not in has}, text
    assert {0x200D, 0xFE0F, 0x1F3FD} <= has  # joiners and skin tones show nothing instead of a square
    assert not {key for key, letter in ICONS.items() if ord(letter) not in has}


def test_fonts_stay_small_and_bring_their_licences() -> None:
    assert sum(path.stat().st_size for path in FONTS.glob("*.ttf")) < 13_000_000
    assert "Open Font License" in (FONTS / "OFL.txt").read_text() and (FONTS / "LICENSE-Lucide.txt").exists()


def test_one_failing_call_does_not_drop_the_next_and_becomes_a_sentence() -> None:
    heard: list[str] = []
    jobs = Jobs(on_error=lambda error: heard.append(error.message))
    done: list[int] = []
    jobs.post(lambda: 1 / 0)
    jobs.post(done.append, 1)
    assert jobs.run() == 2 and done == [1]
    assert len(heard) == 1 and "ZeroDivisionError" in heard[0]
    jobs.on_error = lambda error: 1 / 0  # a broken error line must not end the program either
    jobs.post(lambda: 1 / 0)
    assert jobs.run() == 1 and len(jobs.errors) == 3


def test_a_call_that_posts_itself_again_does_not_hold_the_frame() -> None:
    jobs = Jobs()

    def again() -> None:
        jobs.post(again)

    jobs.post(again)
    assert jobs.run() == 1 and jobs.waiting()


def drained(jobs: Jobs, count: int) -> None:
    """Hand out results until `count` came."""
    end = time.monotonic() + PATIENCE_SECONDS
    while count > 0 and time.monotonic() < end:
        count -= jobs.run()
        time.sleep(0.002)


def test_the_worker_answers_in_order_with_progress_and_errors_as_values() -> None:
    woken = threading.Event()
    jobs = Jobs(woken.set)
    worker = Worker(jobs)
    news: list[Any] = []

    def work(job: Job) -> int:
        job.report("half")
        return 7

    def broken(_job: Job) -> None:
        raise OSError("disk full")

    worker.submit("first", work, news.append, news.append)
    worker.submit("second", broken, news.append)
    worker.submit("third", lambda _job: refuse(KnowledgeError("no", "Not now")), news.append)
    drained(jobs, 4)
    assert news[:2] == ["half", Ok(7)] and woken.is_set() and not worker.open_jobs
    assert isinstance(news[2], KnowledgeError) and "disk full" in news[2].error.message
    assert isinstance(news[3], KnowledgeError) and str(news[3].error) == "Not now."
    assert worker.dispose()


def test_cancel_stops_a_running_job_and_spares_a_waiting_one() -> None:
    jobs = Jobs()
    worker = Worker(jobs)
    begun, results = threading.Event(), []

    def long(job: Job) -> str:
        begun.set()
        while not job.cancelled:
            time.sleep(0.001)
        return "stopped after a step"

    first = worker.submit("long", long, results.append)
    second = worker.submit("never", lambda _job: "ran", results.append)
    assert begun.wait(PATIENCE_SECONDS)
    second.cancel()
    first.cancel()
    drained(jobs, 2)
    assert results[0] == Ok("stopped after a step")
    assert isinstance(results[1], KnowledgeError) and results[1].error.code == "cancelled"
    assert worker.dispose()
    late: list[Any] = []
    worker.submit("late", lambda _job: "ran", late.append)
    jobs.run()
    assert late == []


KEYS = [
    Shortcut("K", "search", "Search", ("Ctrl",)),
    Shortcut("D", "digest", "Digest in prompt"),
    Shortcut("Z", "undo", "Undo", ("Ctrl",)),
    Shortcut("F5", "refresh", "Look again"),
]


def test_plain_letters_belong_to_the_text_while_somebody_types() -> None:
    ctrl = frozenset({"Ctrl"})
    found = find(KEYS, "D")
    assert found is not None and found.command == "digest"
    assert find(KEYS, "D", typing=True) is None
    assert find(KEYS, "Z", ctrl, typing=True) is None  # the field undoes its own letters
    assert find(KEYS, "K", ctrl, typing=True) == KEYS[0] and find(KEYS, "F5", typing=True) == KEYS[3]
    assert find(KEYS, "K") is None and label_of(KEYS, "search") == "Ctrl+K"


@pytest.mark.parametrize(
    ("chosen", "command"),
    [
        ("code --wait", ["code", "--wait", "-g", "/a b.yaml:7"]),
        ("/usr/bin/vim", ["x-terminal-emulator", "-e", "/usr/bin/vim", "+7", "/a b.yaml"]),
        ("emacs", ["emacs", "+7", "/a b.yaml"]),
        ("emacs -nw", ["x-terminal-emulator", "-e", "emacs", "-nw", "+7", "/a b.yaml"]),
        ("kate", ["kate", "-l", "7", "/a b.yaml"]),
        ("'kate", []),
        ("notes-of-mine", []),
        ("", []),
    ],
)
def test_what_is_wrong_is_opened_at_its_line_where_the_editor_knows_how(chosen: str, command: list[str]) -> None:
    """Else a user looks for one wrong character in a thousand lines."""
    assert editor_at("/a b.yaml", 7, {"VISUAL": chosen}, lambda name: name) == command
    assert editor_at("/a b.yaml", 7, {"EDITOR": chosen}, lambda name: name) == command
    assert editor_at("/a b.yaml", 7, {"VISUAL": chosen}, lambda _name: None) == []
    assert editor_at("/a b.yaml", 0, {"VISUAL": chosen}, lambda name: name) == []


def test_the_window_comes_back_where_it_was(tmp_path: Path) -> None:
    kept = Geometry(10, 20, 1000, 700, False, 1.5, {"theme": "light"})
    assert isinstance(attempt(write_geometry, kept, tmp_path / "new"), Ok)
    assert read_geometry(tmp_path / "new") == (kept, "")
    assert [path.name for path in (tmp_path / "new").iterdir()] == [FILE_NAME]
    big = remembered(kept, Geometry(0, 0, 1920, 1080, True, 2.0, {"view": "files"}))
    assert (big.x, big.width, big.maximized, big.choices) == (10, 1000, True, {"view": "files"})


@pytest.mark.parametrize(
    "torn", ["", "{", "[]", '"x"', '{"x": "a", "width": -4, "height": true, "choices": 3}', "\x00"]
)
def test_a_torn_memory_of_the_window_never_stops_the_panel(tmp_path: Path, torn: str) -> None:
    (tmp_path / FILE_NAME).write_text(torn)
    assert read_geometry(tmp_path)[0] == Geometry()


def test_good_values_beside_bad_ones_are_kept(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text(json.dumps({"x": 5, "width": "wide", "choices": {"a": 1, "b": "x", "c": True}}))
    geometry, problem = read_geometry(tmp_path)
    assert (geometry.x, geometry.width, geometry.choices, problem) == (5, 1280, {"b": "x"}, "")


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = attempt(write_geometry, Geometry(), tmp_path / "file")
    assert isinstance(result, KnowledgeError) and result.error.code == "state-not-written"


def test_a_window_on_a_screen_that_is_gone_comes_into_sight() -> None:
    screen = (0, 0, 1440, 900)
    assert on_screen(Geometry(100, 50, 1000, 700), [screen]) == Geometry(100, 50, 1000, 700)
    back = on_screen(Geometry(5000, 50, 1000, 700), [screen])
    assert (back.x, back.y) == (220, 100)
    small = on_screen(Geometry(100, 50, 3000, 2000), [screen])
    assert (small.x, small.y, small.width, small.height) == (0, 0, 1440, 900)
    second = Geometry(2000, 30, 800, 600)
    assert on_screen(second, [screen, (1440, 0, 1920, 1080)]) == second
    assert on_screen(Geometry(-30, 50), []) == Geometry(0, 50), "Windows tells of no screen"


def test_without_a_display_there_is_a_sentence_instead_of_an_abort() -> None:
    missing = display_problem({})
    assert missing is not None and missing.code == "no-display" and "DISPLAY" in str(missing)
    silent = display_problem({"DISPLAY": ":987"})
    assert silent is not None and silent.code == "no-display"


def test_what_failed_is_told_of_one_and_of_many() -> None:
    assert state_words(BROKEN, 1) == "1 failed, stays where it is"
    assert state_words(BROKEN, 2) == "2 failed, stay where they are"
    assert state_words(WAITING, 22) == "22 not harvested yet"
