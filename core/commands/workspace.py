"""One home with its settings: what every command is given."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from core.base import files
from core.base.config import Config, LoadedConfig, load_config, writable_config_file
from core.base.entry import Embed
from core.base.homes import ADVICE, closed_folder, refuse_newer, why_foreign
from core.base.marks import without_invisible
from core.base.paths import Paths, cache_folder, choose_home
from core.base.result import KnowledgeError
from core.base.secrets.redact import redact

Clock = Callable[[], datetime]
"""Who tells the time: `utc_now`, unless a command is handed another."""
VECTOR_BYTES = 64 << 20
"""The longest answer of an embedder: 64 texts, 4096 numbers each, written out."""


@dataclass(frozen=True)
class Workspace:
    """A home, its places and its effective settings. Opening one reads config.toml, asks whether
    the home may be entered, and does nothing else."""

    paths: Paths
    loaded: LoadedConfig
    environment: Mapping[str, str]
    cwd: Path
    named: Path | None = None
    """The settings file that the user named, None where it was looked for."""

    @property
    def config(self) -> Config:
        return self.loaded.config

    @property
    def credentials(self) -> Path:
        """Where keys of providers are written: beside the user's own settings, whether or not these exist yet."""
        return writable_config_file(self.loaded, self.environment).with_name("credentials.toml")

    @property
    def cache(self) -> Path:
        """Where the projections of this home lie."""
        return cache_folder(self.paths.home, self.environment)


def open_workspace(
    home: str = "",
    config_file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Workspace:
    """Find the settings and the home. `home` and `config_file` are what the user asked for, "" and None for nothing.

    Raises KnowledgeError for settings that cannot be read or are wrong, for a home that this user may not enter, and
    for one that is a symbolic link to what is not theirs alone; one that does not exist yet is fine.
    """
    variables = os.environ if environment is None else environment
    try:
        folder = Path.cwd() if cwd is None else cwd
    except FileNotFoundError:
        message = "the folder that you are in does not exist any more"
        raise KnowledgeError("no-folder", message, hint="go to another one (cd)") from None
    loaded = load_config(config_file, variables, folder)
    paths = Paths(choose_home(home, loaded.home_setting, variables))
    closed = closed_folder(paths)
    if closed is not None:
        raise KnowledgeError("closed-home", "you do not have permission to open this home", closed, ADVICE)
    if files.exists(paths.home) and not paths.home.is_dir():
        raise KnowledgeError("bad-home", "the home is a file, not a folder", paths.home, "name another with --home")
    if files.exists(paths.knowledge) and not paths.knowledge.is_dir():
        raise KnowledgeError("bad-home", "a file stands where the knowledge belongs", paths.knowledge, "move it away")
    above = next(folder for folder in paths.home.parents if files.exists(folder))
    if not above.is_dir():
        raise KnowledgeError("bad-home", "the home would lie below a file", above, "name another with --home")
    for part in (paths.home, paths.knowledge, paths.memories):
        if os.path.islink(part) and os.path.exists(part) and (why := why_foreign(os.stat(part))):
            message = f"the home is, or holds, a symbolic link to {os.path.realpath(part)}, which {why}"
            hint = "take that right away, or name another home with --home"
            raise KnowledgeError("foreign-home", message, part, hint)
    refuse_newer(paths)
    return Workspace(paths, loaded, variables, folder, config_file)


def reopened(workspace: Workspace) -> Workspace:
    """The same home with the settings as they are on disk now; their file is looked for again."""
    loaded = load_config(workspace.named, workspace.environment, workspace.cwd)
    return replace(workspace, loaded=loaded)


def utc_now() -> datetime:
    """The time now."""
    return datetime.now(UTC)


def embedder_of(workspace: Workspace, *, fetch: bool = False) -> Embed:
    """The embedder that the settings name; what leaves this computer has no secrets. Raises KnowledgeError for a
    missing one."""
    config = workspace.config
    if config.embedder != "openai":
        from core.search.embedders import local_embedder

        return local_embedder(config.embedder, fetch=fetch)
    from core.llm.credentials import keys_from
    from core.llm.openai_compatible import connect_embeddings

    keys = keys_from(workspace.credentials, workspace.environment)
    embed = connect_embeddings(
        config.embedder_model,
        config.embedder_base_url,
        credentials=keys,
        seconds=config.request_timeout_seconds,
        max_bytes=VECTOR_BYTES,
    )
    if not config.redact:
        return embed
    # Of what leaves this computer, every text: the query as well.
    return lambda texts: embed([redact(text).text for text in texts])


def embedder_name(workspace: Workspace) -> str:
    """Whose vectors are made with these settings: those of another embedder are not compared with them."""
    config = workspace.config
    return f"{config.embedder} {config.embedder_model} {config.embedder_base_url}".rstrip()


# --- secrets in what a user or an agent writes down --------------------------------------------------------------

BY_COMMAND = "to write them as they are: knowledge {} --keep-secrets"


def without_secrets(workspace: Workspace, text: str, keep: bool) -> tuple[str, str]:
    """The text with placeholders for its secrets, and a sentence that names their kinds, "" for none. Nothing is
    replaced when the user insists (`keep`) or the setting `redact` is off."""
    rows, note = all_without_secrets(workspace, (text,), keep, BY_COMMAND.format("add or edit"))
    return rows[0], note


def all_without_secrets(workspace: Workspace, texts: Sequence[str], keep: bool, way: str) -> tuple[list[str], str]:
    """The same for several texts, with one sentence; `way` says how to insist."""
    if keep or not workspace.config.redact:
        return list(texts), ""
    kinds: Counter[str] = Counter()
    rows = []
    for text in texts:
        # What cannot be seen is taken out before anything is written: neither it nor its absence may hide a key.
        clean = redact(text)
        clean = clean if clean.counts else redact(without_invisible(text))
        kinds.update(clean.counts)
        rows.append(clean.text if clean.counts else text)
    named = ", ".join(f"{kind}:{number}" for kind, number in sorted(kinds.items()))
    return rows, f"secrets replaced: {named} ({way})" if kinds else ""
