"""A year as plain data: what a filter leaves, how bright a day is, bars of a strip, tiles of a map. No window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import PurePath

from core.base.figures import count
from core.commands.panel.timeline import FATE_WORDS, LOST, RunCost, Talk
from gui.toolkit.flow_rows import SEPARATOR, FlowRow
from gui.views.looks import CATEGORIES, joined, plain_name, tile

WEEKS = 53
RANGES: Mapping[str, int] = {"4 w": 28, "13 w": 91, "year": WEEKS * 7}
LEAST_DAYS = 7
BY_WEEK = 140
"""A strip of more days than that has a bar for each week."""
LEVELS = ("field", "accent@22", "accent@42", "accent@68", "accent")
TOOL_COLORS = ("muted", "handle", "hint@60", "line")
LONGEST = 90
NO_TOOL, NO_PROJECT = "other", "no project"


@dataclass(frozen=True)
class Wish:
    """What the user wants to see: a tool, a project, a category ("" for all), and the days of the strip."""

    tool: str = ""
    project: str = ""
    category: str = ""
    first: date = date.min
    last: date = date.min
    by_project: bool = False

    @property
    def filters(self) -> bool:
        """Whether anything is left out."""
        return bool(self.tool or self.project or self.category)


@dataclass
class Sum:
    """One day, or some: conversations (by what the strip divides them by), lines by category, what went unread."""

    talks: int = 0
    lost: int = 0
    lines: Counter[str] = field(default_factory=Counter)
    groups: Counter[str] = field(default_factory=Counter)

    @property
    def kept(self) -> int:
        """Lines in all."""
        return sum(self.lines.values())

    def add(self, other: Sum) -> None:
        """Another day is among them."""
        self.talks, self.lost = self.talks + other.talks, self.lost + other.lost
        self.lines.update(other.lines)
        self.groups.update(other.groups)


def tool_of(talk: Talk) -> str:
    """The tool of a conversation in words."""
    return talk.called.tool_title or NO_TOOL


def project_of(talk: Talk) -> str:
    """The project of a conversation, by its last folder."""
    return talk.called.project_name or NO_PROJECT


def title_of(talk: Talk) -> str:
    """What a user calls it; a name as long as a message ends in three points."""
    title = talk.called.title or plain_name(talk.name) or talk.key
    return title if len(title) <= LONGEST else f"{title[:LONGEST].rstrip()}…"


def wanted(talks: Iterable[Talk], wish: Wish) -> list[Talk]:
    """The conversations that a filter leaves, each with the lines that it leaves."""
    if not wish.filters:
        return list(talks)
    found = []
    for talk in talks:
        if (wish.tool and tool_of(talk) != wish.tool) or (wish.project and project_of(talk) != wish.project):
            continue
        if wish.category:
            if not talk.lines.get(wish.category):
                continue
            talk = replace(talk, lines={wish.category: talk.lines[wish.category]})
        found.append(talk)
    return found


def by_day(talks: Iterable[Talk], by_project: bool = False) -> dict[date, Sum]:
    """The sums of each day that had a conversation, without the user's own lines."""
    found: dict[date, Sum] = {}
    for talk in talks:
        here = found.setdefault(talk.day, Sum())
        here.talks += 1
        here.lost += talk.fate == LOST
        here.lines.update(talk.lines)
        here.groups["lost" if talk.fate == LOST else project_of(talk) if by_project else tool_of(talk)] += 1
    return found


def with_own(talks: Iterable[Talk], own: Mapping[date, Mapping[str, int]], wish: Wish, today: date) -> dict[date, Sum]:
    """The sums of each day with the user's own lines, which no tool and no project has. They are dated in UTC, where
    tomorrow may have begun: such a line is of today."""
    found = by_day(talks, wish.by_project)
    for day, lines in own.items() if not (wish.tool or wish.project) else ():
        mine = Sum(lines=Counter({name: number for name, number in lines.items() if wish.category in ("", name)}))
        if mine.kept:
            mine.add(found.get(min(day, today), Sum()))
            found[min(day, today)] = mine
    return found


def first_day(today: date) -> date:
    """The Monday with which the calendar begins: 53 weeks, the last of them with today in it."""
    return today - timedelta(days=today.weekday() + 7 * (WEEKS - 1))


def level(amount: int, most: int) -> int:
    """How bright a day is, 0 to 4: by the root, so that one great day does not darken all others."""
    if amount <= 0 or most <= 0:
        return 0
    return min(4, 1 + int(3.999 * (amount / most) ** 0.5))


def span(wish: Wish, today: date) -> tuple[date, date]:
    """The days that the strip shows."""
    last = min(wish.last, today) if wish.last != date.min else today
    first = wish.first if wish.first != date.min else last - timedelta(days=RANGES["13 w"] - 1)
    return max(first, first_day(today)), last


def reach(wish: Wish, today: date) -> tuple[float, float]:
    """Where the strip begins and ends below the calendar, in columns of it: this week's is there as a whole."""
    first, last = span(wish, today)
    begin = first_day(today)
    return (first - begin).days / 7, WEEKS if last >= today else ((last - begin).days + 1) / 7


def zoomed(wish: Wish, today: date, at: float, steps: int) -> Wish:
    """The strip nearer (`steps` > 0) or farther, with the day under the mouse (0.0 to 1.0 of its width) where it is."""
    first, last = span(wish, today)
    days = (last - first).days + 1
    most = (today - first_day(today)).days + 1
    now = max(LEAST_DAYS, min(most, round(days * 0.75**steps)))
    fixed = first + timedelta(days=round(at * (days - 1)))
    begin = max(first_day(today), min(fixed - timedelta(days=round(at * (now - 1))), today - timedelta(days=now - 1)))
    return replace(wish, first=begin, last=begin + timedelta(days=now - 1))


@dataclass(frozen=True)
class Bar:
    """One bar of the strip: its days, and what they sum up to."""

    first: date
    last: date
    sum: Sum


def bars(days: Mapping[date, Sum], first: date, last: date) -> list[Bar]:
    """The bars of the strip, of a day or of a week each."""
    step = 7 if (last - first).days + 1 > BY_WEEK else 1
    found, at = [], first
    while at <= last:
        end = min(at + timedelta(days=step - 1), last)
        found.append(Bar(at, end, sum_of(days, at, end)))
        at = end + timedelta(days=1)
    return found


def groups_of(days: Iterable[Sum], most: int = 3) -> list[tuple[str, int]]:
    """The tools (or projects) of conversations, most first; what is beyond `most` of them is one more; lost at last."""
    total: Counter[str] = Counter()
    for day in days:
        total.update(day.groups)
    lost = total.pop("lost", 0)
    found = total.most_common(most)
    rest = sum(total.values()) - sum(number for _, number in found)
    found += [("more", rest)] * bool(rest)
    return [*found, ("lost", lost)] if lost else found


def fitting(
    parts: Sequence[tuple[str, str, int]], room: float, wide: Callable[[str], float], beside: float
) -> list[tuple[str, str, int]]:
    """The entries of a legend (name, label, amount) that have room side by side; all others are one, `more`. `beside`:
    what an entry takes beside its words, in the units of `wide`."""
    for number in range(len(parts), -1, -1):
        rest = sum(amount for _, _, amount in parts[number:])
        found = [*parts[:number], *([("more", "more", rest)] if number < len(parts) else [])]
        if sum(wide(f"{label} {amount:,}") + beside for _, label, amount in found) <= room:
            return found
    return []


def grouped(sums: Sum, groups: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """One bar's conversations in the order of `groups`."""
    names = [name for name, _ in groups]
    found = Counter(dict.fromkeys(names, 0))
    for name, number in sums.groups.items():
        found[name if name in names else "more"] += number
    return [(name, found[name]) for name in names if found[name]]


def group_color(at: int, name: str) -> str:
    """The colour of a tool or project: greys; what went unread has the colour of its status."""
    return "deleted" if name == "lost" else TOOL_COLORS[min(at, len(TOOL_COLORS) - 1)]


def known(talks: Iterable[Talk], own: Mapping[str, int], wish: Wish) -> list[tuple[str, dict[str, int]]]:
    """Lines by project and category, the largest project first; the user's own lines are `you`."""
    found: dict[str, Counter[str]] = {}
    for talk in talks:
        if talk.lines:
            found.setdefault(project_of(talk), Counter()).update(talk.lines)
    mine = {name: number for name, number in own.items() if wish.category in ("", name)}
    if mine and not wish.tool and not wish.project:
        found.setdefault("you", Counter()).update(mine)
    order = list(CATEGORIES)
    rows = [(name, dict(sorted(counts.items(), key=lambda one: order.index(one[0])))) for name, counts in found.items()]
    return sorted(rows, key=lambda row: (-sum(row[1].values()), row[0]))


Rect = tuple[float, float, float, float]


def squarified(values: Sequence[float], room: Rect) -> list[Rect]:
    """Rectangles (left, top, width, height) as large as `values`, the largest first, as square as they can be.

    After Bruls, Huizing and van Wijk, "Squarified treemaps" (2000).
    """
    x, y, wide, tall = room
    total = sum(values)
    if not values or total <= 0 or wide <= 0 or tall <= 0:
        return [(x, y, 0.0, 0.0)] * len(values)
    scale = wide * tall / total
    areas, found, at = [max(value, 0.0) * scale for value in values], list[Rect](), 0
    while at < len(areas):
        side = min(wide, tall)
        row = [areas[at]]
        while at + len(row) < len(areas) and _worst([*row, areas[at + len(row)]], side) <= _worst(row, side):
            row.append(areas[at + len(row)])
        thick = sum(row) / side if side else 0.0
        place = 0.0
        for area in row:
            long = area / thick if thick else 0.0
            found.append((x + place, y, long, thick) if wide < tall else (x, y + place, thick, long))
            place += long
        if wide < tall:
            y, tall = y + thick, max(tall - thick, 0.0)
        else:
            x, wide = x + thick, max(wide - thick, 0.0)
        at += len(row)
    return found


def _worst(row: Sequence[float], side: float) -> float:
    total = sum(row)
    if not total or not side or min(row) <= 0:
        return float("inf") if not total else max(side * side * max(row) / (total * total), 1e9)
    return max(side * side * max(row) / (total * total), total * total / (side * side * min(row)))


def sum_of(days: Mapping[date, Sum], first: date, last: date) -> Sum:
    """The sums of some days."""
    total = Sum()
    for back in range((last - first).days + 1):
        if (day := days.get(first + timedelta(days=back))) is not None:
            total.add(day)
    return total


# --- words -----------------------------------------------------------------------------------------------------------


def year_words(
    talks: Sequence[Talk], own: Mapping[str, int], first: date, wish: Wish, fits: Callable[[str], bool] = bool
) -> str:
    """The line beside the calendar's title: as much of it as `fits(line)`, the most important first."""
    kept = sum(talk.kept for talk in talks)
    mine = 0 if wish.tool or wish.project else sum(row for name, row in own.items() if wish.category in ("", name))
    lost = sum(talk.fate == LOST for talk in talks)
    parts = [count(len(talks), "conversation"), f"{count(kept + mine, 'bullet')} kept"]
    parts += [f"{lost:,} lost unread"] if lost else []
    older = sum(talk.day < first for talk in talks)
    parts += [f"{older:,} older than a year"] if older else []
    while len(parts) > 1 and not fits(SEPARATOR.join(parts)):
        parts.pop()
    return SEPARATOR.join(parts)


def day_title(first: date, last: date) -> str:
    """A day, or the days of a bar, as they head their list."""
    if first == last:
        return f"{first:%A} {first.day} {first:%B}"
    return f"{first.day} {first:%b} – {last.day} {last:%b}"


def words_at(days: Mapping[date, Sum], first: date, last: date) -> str:
    """What stands beside the mouse."""
    sums = sum_of(days, first, last)
    when = f"{first:%a} {first.day} {first:%b}" if first == last else day_title(first, last)
    lost = f", {sums.lost:,} lost unread" if sums.lost else ""
    return f"{when}  ·  {count(sums.talks, 'conversation')}, {count(sums.kept, 'bullet')}{lost}"


def talk_rows(talks: Iterable[Talk]) -> tuple[FlowRow, ...]:
    """The conversations of some days, those that taught most first."""
    rows = sorted(talks, key=lambda talk: (-talk.kept, title_of(talk).casefold()))
    return tuple(
        FlowRow(
            (talk.key or talk.name, at), title_of(talk), _about(talk),
            "file-x" if talk.fate == LOST else "message-square", "deleted" if talk.fate == LOST else "hint",
            "text" if talk.kept else "muted",
        )
        for at, talk in enumerate(rows)
    )  # fmt: skip


def _about(talk: Talk) -> str:
    gave = f"+{talk.kept:,}" if talk.kept else FATE_WORDS.get(talk.fate, "nothing new")
    return joined(tile(talk.called.tool), gave, talk.called.project_name)


@dataclass(frozen=True)
class Spending:
    """What harvests have cost in all, and what came of it."""

    dollars: float | None
    runs: int
    sent: int
    received: int
    a_line: float | None
    models: tuple[tuple[str, str], ...] = ()
    prices: tuple[float, ...] = ()


def spending(runs: Sequence[RunCost], kept: int, harvests: Iterable[str] = ()) -> Spending:
    """The sums; a price is given only where that of every run is known. `harvests` are the ids of all that the journal
    knows: of a conversation that was read twice the ledger names the last one only."""
    known_prices = [run.dollars for run in runs if run.dollars is not None]
    whole = sum(known_prices) if len(known_prices) == len(runs) else None
    models: dict[str, list[RunCost]] = {}
    for run in runs:
        models.setdefault(PurePath(run.model).name or run.model, []).append(run)
    costs = []
    for name, some in sorted(models.items(), key=lambda one: -len(one[1])):
        cost = [run.dollars for run in some]
        unknown = any(one is None for one in cost)
        total = sum(one or 0.0 for one in cost)
        costs.append((name, "price unknown" if unknown else f"${total:,.2f}" if total else "free"))
    return Spending(
        whole, len({*harvests, *(run.run for run in runs)}),
        sum(run.sent for run in runs), sum(run.received for run in runs),
        whole / kept if whole and kept else None, tuple(costs[:4]), tuple(run.dollars or 0.0 for run in runs[-30:]),
    )  # fmt: skip
