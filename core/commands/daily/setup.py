"""`knowledge setup`: what lies on this disk, which models are there, what each would cost, and four questions at most.

Looking changes nothing and sends nothing away from this machine. The answers are settings of the user's own
`config.toml`, and connections (connect.py); nothing of what costs money, no hook and no timer is turned on unasked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any

from core.agents.connections import Standing
from core.base.config import Config
from core.base.figures import count, size
from core.base.installed import how_to_install
from core.base.result import ErrorInfo, KnowledgeError, attempt
from core.commands.daily.connect import connect, connections, standing_json
from core.commands.harvest_options import HarvestRequest, harvest_options, keys_of, price_of
from core.commands.row import NO_OR_YES, Ask, flag, nobody, top
from core.commands.settings import config_set
from core.commands.sources import ALL, HOME, SourceFound, expiry_text, sources, table_rows
from core.commands.text import collected
from core.commands.workspace import Clock, Workspace, reopened, utc_now
from core.harvest.estimate import estimate
from core.harvest.meter import UNKNOWN
from core.harvest.plan import plan_harvest
from core.knowledge.ledger import known_entries
from core.knowledge.swap import EDITOR_WAIT
from core.llm.found import FoundModel, found_models
from core.search.embedders import LOCAL_MODELS
from core.sources.artifact import HashCache

SAMPLE_BYTES = 6 << 20
"""The part of the conversations that is read for the estimate; the rest is taken to be like it."""
EMBED_SECONDS_PER_MB = 4.4
"""How long a megabyte of conversations takes one core to embed: 74 turns of users and assistants, 17 a second."""
LARGE_WINDOW = 128_000
"""The window of a model that does not run on this machine, as far as an estimate needs one."""
OFFLINE, LOCAL = "offline", "local"


@dataclass(frozen=True)
class Cost:
    """What harvesting all that was found would cost with a model; `price` in US dollars, None: nobody knows."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    price: float | None = 0.0


@dataclass(frozen=True)
class ModelChoice:
    """One way to have conversations read; `settings` is what choosing it would write."""

    provider: str
    model: str
    where: str
    ready: bool
    problem: str
    free: bool
    estimate: Cost
    settings: dict[str, str]

    @property
    def words(self) -> str:
        """As it stands in a list to choose from."""
        name = "the built-in rules (no model)" if self.provider == OFFLINE else f"{self.provider} {self.model}".strip()
        if self.free:
            cost = "free, on this computer"
        elif self.estimate.price is not None:
            cost = f"about ${self.estimate.price:.2f} for all of it"
        else:
            cost = self.problem or "the price is not known"
        return f"{name}: {cost} ({self.where})" if self.where else f"{name}: {cost}"


@dataclass
class SetupReport:
    """What was found, what the defaults would write (`settings`), and what was written (`changed`). `new` are sentences
    on what has come since the last time."""

    home: str
    sources: list[SourceFound] = field(default_factory=list)
    models: list[ModelChoice] = field(default_factory=list)
    tools: list[Standing] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    changed: dict[str, Any] = field(default_factory=dict)
    set: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    asked: bool = False
    connected: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    errors: list[ErrorInfo] = field(default_factory=list)

    @property
    def found(self) -> list[SourceFound]:
        """The sources that hold anything."""
        return [row for row in self.sources if row.conversations]

    def to_json(self) -> dict[str, Any]:
        return {
            "home": self.home,
            "sources": [
                {key: getattr(row, key) for key in ("name", "title", "conversations", "bytes")}
                | {
                    "new": row.new + row.grown,
                    "picked": row.picked,
                    "deleted_from": row.next_expiry or None,
                    "deleted_after_days": row.expires_days or None,
                }
                for row in self.found
            ],
            "models": [{key: value for key, value in asdict(row).items() if key != "settings"} for row in self.models],
            "tools": [standing_json(row) for row in self.tools if row.there or row.connected],
            **{key: getattr(self, key) for key in ("settings", "changed", "connected", "set", "new", "notes")},
            "errors": self.errors,
        }


def survey(workspace: Workspace, now: Clock = utc_now) -> SetupReport:
    """Look around: what lies where, what could read it and at what price. Changes nothing, sends nothing away."""
    looked = sources(workspace, now=now())
    report = SetupReport(str(workspace.paths.home), looked.rows, tools=connections(workspace))
    report.notes += looked.notes
    report.errors += looked.errors
    models = found_models(workspace.environment, keys_of(workspace))
    costs = cache(partial(_estimated, workspace, tuple(row.name for row in report.found), now()))
    offline = ModelChoice(OFFLINE, "", "", True, "", True, Cost(), {"provider": OFFLINE, "model": "", "base_url": ""})
    report.models = [offline, *(_choice(workspace, row, costs) for row in models)]
    _fill_in_what_is_set(workspace, report)
    if not workspace.config.embedder and report.found:
        report.notes.append(_meaning_offered(report))
    report.settings = wanted(workspace, report, default_model(workspace, report), True)
    return report


def _meaning_offered(report: SetupReport) -> str:
    """What the search by meaning would take: it is offered, and never turned on unasked."""
    minutes = max(1, round(sum(row.bytes for row in report.found) * EMBED_SECONDS_PER_MB / 1e6 / 60))
    ways = " or ".join(
        f"'knowledge config set embedder {name}' ({model.megabytes} MB once, from {model.comes_from}; "
        f"{how_to_install(model.extra)})"
        for name, model in LOCAL_MODELS.items()
    )
    return (
        f"search finds words; to find what says the same in other words too: {ways}, then 'knowledge vectors', about "
        f"{count(minutes, 'minute')} on this computer for what was found"
    )


def _estimated(workspace: Workspace, names: tuple[str, ...], now: datetime, window: int) -> Cost:
    """A harvest of everything found by a model with this window, without its price."""
    found = attempt(harvest_options, workspace, HarvestRequest(provider="ollama", sources=names), EDITOR_WAIT)
    if isinstance(found, KnowledgeError) or not names:
        return Cost()
    options = replace(found.value, distil=replace(found.value.distil, context_tokens=window))
    try:
        plan = plan_harvest(workspace.paths, options, known_entries(workspace.paths), now, HashCache())
    except OSError:
        return Cost()
    total = estimate(plan, options, SAMPLE_BYTES, UNKNOWN).total
    return Cost(total.calls, total.input_tokens, total.output_tokens)


def _choice(workspace: Workspace, row: FoundModel, costs: Callable[[int], Cost]) -> ModelChoice:
    settings = {"provider": row.provider, "model": row.model, "base_url": row.base_url}
    if row.free and row.provider == "openai":
        # A server of the user's own sends no bill, and the price table must not take it for a maker's.
        settings |= {"price_input_per_million": "0", "price_output_per_million": "0"}
    cost = costs(0 if row.free else LARGE_WINDOW)
    if not row.free:
        dollars = price_of(workspace, row.provider, row.model, cost.input_tokens, cost.output_tokens)
        cost = replace(cost, price=dollars)
    return ModelChoice(row.provider, row.model, row.where, row.ready, row.problem, row.free, cost, settings)


def _fill_in_what_is_set(workspace: Workspace, report: SetupReport) -> None:
    """What is set by now, and what has come since."""
    config = workspace.config
    if config.provider != OFFLINE:
        report.set.append(f"conversations are read by {config.provider} {config.model}".rstrip())
    picked = [row.title for row in report.found if row.picked and row.name != HOME]
    if picked:
        report.set.append(f"a harvest reads {', '.join(picked)}")
    report.set += [f"{row.title} is connected" for row in report.tools if row.connected]
    if not report.set:
        return
    report.new += [
        f"{row.title} keeps conversations too" for row in report.found if not row.picked and row.name != HOME
    ]
    report.new += [f"{row.title} is there and not connected" for row in report.tools if row.there and not row.connected]
    waiting = sum(row.new + row.grown for row in report.found if row.picked)
    if waiting:
        report.new.append(f"{waiting} conversations wait to be harvested")


def default_model(workspace: Workspace, report: SetupReport) -> int:
    """The place in `models` of the one that is taken unasked: what is set already, else the first that is served
    on this computer, else the built-in rules. Never one that costs money, nor a file that nobody meant for this."""
    config = workspace.config
    if config.provider != OFFLINE:
        same = (
            at
            for at, row in enumerate(report.models)
            if row.provider == config.provider and (row.model == config.model or not row.model)
        )
        return next(same, -1)
    rows = [at for at, row in enumerate(report.models) if row.free and row.ready]
    return next((at for at in rows if report.models[at].provider not in (OFFLINE, LOCAL)), 0)


def wanted(workspace: Workspace, report: SetupReport, model: int, read_all: bool) -> dict[str, Any]:
    """The settings that these answers would write: only those that are another now. `model` -1 leaves it as it is."""
    config, rows = workspace.config, dict[str, Any]()
    chosen = report.models[model] if model >= 0 else None
    if chosen is not None and (chosen.provider != config.provider or chosen.model not in ("", config.model)):
        rows |= {key: value for key, value in chosen.settings.items() if not _is_set(config, key, value)}
    names = [row.name for row in report.found if row.name != HOME]
    if read_all and ALL not in config.sources and not set(names) <= set(config.sources):
        rows["sources"] = [*config.sources, *(name for name in names if name not in config.sources)]
    return rows


def _is_set(config: Config, key: str, value: str) -> bool:
    now = getattr(config, key)
    return bool(now == value if isinstance(now, str) else now == float(value))


def apply_answers(
    workspace: Workspace, report: SetupReport, model: int, read_all: bool, tools: Sequence[str] = (), archive: str = ""
) -> SetupReport:
    """Write what was chosen: the model at that place of `models` (-1: as it is), whether the tools that were found are
    read, which tools to connect, and which conversations to keep ("": as it is). The report says what came of it."""
    rows = wanted(workspace, report, model, read_all) | ({"archive": archive} if archive else {})
    for key, value in rows.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        with collected(report.errors):
            config_set(workspace, key, text)
            report.changed[key] = value
            with suppress(KnowledgeError):
                workspace = reopened(workspace)
    if tools:
        made = connect(workspace, tools, yes=True)
        report.connected = [row.tool for row in made.tools if row.connected]
        report.notes += made.notes
        report.errors += made.errors
        report.tools = connections(workspace)
    return report


MODELS_SHOWN = 12


def setup(workspace: Workspace, *, yes: bool = False, ask: Ask = nobody, now: Clock = utc_now) -> SetupReport:
    """Look around, ask at most four questions, and write what was answered. `yes` takes the defaults, which turn on
    nothing that costs money, no hook and no timer. Where nobody can be asked and nobody said yes, nothing changes."""
    report = survey(workspace, now)
    shown, archive = overview(report), ""
    model, read_all, tools = default_model(workspace, report), True, list[str]()

    def answered(question: str, choices: Sequence[str], default: int) -> int | None:
        nonlocal shown
        answer = ask(shown, question, choices, default)
        report.asked, shown = report.asked or answer is not None, ""
        return answer

    if not yes:
        ready = [at for at, row in enumerate(report.models) if row.ready]
        if len(ready) > 1:
            words = [report.models[at].words for at in ready]
            answer = answered("Who shall read them?", words, ready.index(model) if model in ready else 0)
            model = ready[answer] if answer is not None and not (model < 0 and answer == 0) else model
        if "sources" in wanted(workspace, report, -1, True):
            names = ", ".join(row.title for row in report.found if row.name != "home" and not row.picked)
            question = f"Read the conversations of {names} in every harvest? (they stay where they are)"
            read_all = answered(question, NO_OR_YES, 1) == 1
        open_tools = [row for row in report.tools if row.there and not row.connected]
        if open_tools:
            names = ", ".join(row.title for row in open_tools)
            answer = answered(CONNECT.format(names), NO_OR_YES, 0)
            tools = [row.tool for row in open_tools] if answer == 1 else []
        deletes = [row for row in report.found if row.expires_days]
        if workspace.config.archive == "off" and deletes:
            habits = " and ".join(
                f"{row.title} deletes a conversation after {row.expires_days} days" for row in deletes
            )
            question = f"{habits}. Keep a copy, without secrets, so that it can still be found and read?"
            archive = KEEPS[answered(question, _archive_choices(report, deletes), 0) or 0]
        if not report.asked:
            return report
    return apply_answers(workspace, report, model, read_all, tools, archive)


def overview(report: SetupReport) -> str:
    """What was found, as lines: conversations and what becomes of them, what is set, what is new."""
    rows = [found_sentence(report), *table_rows(report.found), *filter(None, map(expiry_text, report.found))]
    if report.set:
        rows += ["", "set up already:", *(f"  {words}" for words in report.set)]
        rows += ["new:", *(f"  {words}" for words in report.new)] if report.new else ["nothing new since then"]
    return "\n".join(rows) + "\n"


def found_sentence(report: SetupReport) -> str:
    """`27 Claude Code, 5 Codex conversations; Claude Code deletes the first on 2026-12-22`."""
    counted = [f"{row.conversations} {'of your own' if row.name == 'home' else row.title}" for row in report.found]
    if not counted:
        return "no conversations were found on this computer yet"
    one = sum(row.conversations for row in report.found) == 1
    sentence = f"{', '.join(counted)} conversation{'' if one else 's'}"
    expiring = [row for row in report.found if row.next_expiry]
    if expiring:
        first = min(expiring, key=lambda row: row.next_expiry)
        when = first.next_expiry[:10]
        late = datetime.now(UTC).date().isoformat() > when
        sentence += f"; {first.title} deletes the first {'as soon as it starts' if late else f'on {when}'}"
    return sentence


CONNECT = (
    "Connect {}? Their settings get the MCP server, the context at the start of a session, a harvest at its end and, "
    "where the tool takes them, hints at a prompt, a command and a file ('knowledge connect --all --dry-run' shows the "
    "lines, '--remove' takes them back, 'knowledge hints --off EVENT' ends hints alone)"
)
KEEPS = ("", "expiring", "all")
"""The setting `archive` behind each answer to the fourth question, in their order."""
PACKED_SHARE = 0.06
"""What a byte of a conversation takes in the archive, about: 0.057 over 62 sessions of two tools."""


def _archive_choices(report: SetupReport, deletes: Sequence[SourceFound]) -> list[str]:
    """The answers to the fourth question, with what each takes of the disk."""
    soon = sum(row.bytes for row in deletes)
    everything = sum(row.bytes for row in report.found if row.name != "home")
    return [
        "no",
        f"yes, what is about to be deleted (about {size(round(soon * PACKED_SHARE))} for what is there now)",
        f"yes, of every tool at once (about {size(round(everything * PACKED_SHARE))})",
    ]


def report_text(report: SetupReport) -> str:
    """The whole report."""
    rows = [] if report.asked else [overview(report)]
    if not report.asked and not report.changed:
        rows += ["models:", *(f"  {row.words}" for row in report.models[:MODELS_SHOWN])]
        rows += [f"  and {len(report.models) - MODELS_SHOWN} more"] * (len(report.models) > MODELS_SHOWN) + [""]
    for key, value in report.changed.items():
        rows.append(f"set: {key} = {value}")
    rows += [f"connected: {name}" for name in report.connected]
    following = "next: 'knowledge harvest' shows what a harvest would do, 'knowledge harvest --apply' does it"
    if not report.changed and not report.connected:
        if report.settings and not report.asked:
            rows.append("nothing was changed, for nobody could be asked; this would be set:")
            rows += [f"  {key} = {value}" for key, value in report.settings.items()]
            following = "next: 'knowledge setup --yes' sets this, 'knowledge setup' in a terminal asks first"
        else:
            rows.append("nothing was changed")
    rows += [f"note: {note}" for note in report.notes]
    rows.append(following)
    return "\n".join(rows) + "\n"


COMMANDS = (
    top(
        "setup",
        "",
        setup,
        report_text,
        flag("--yes", "take the defaults: nothing that costs money, no hook, no timer"),
        asks=True,
    ),
)
