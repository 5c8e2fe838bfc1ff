"""The one notion of a project: what a folder belongs to, by what it is known again, and what it is called.

A project is a repository or, where there is none, a folder in which somebody works; a work tree belongs to its
repository. The home directory, the folders for temporary files, `/` and folders of the system are none.

Two folders are one project where they have a root commit or a remote in common: a clone, or a repository that was
moved. That is a claim and no proof, for anybody can publish a copy of a history: who goes by it must have the user's
word for every place but the first (`knowledge/projects.py`).

A repository may come from a stranger. Its settings are read as text, and git is asked one question that runs nothing
the repository could name: no hook, no monitor, no transport, no prompt.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PureWindowsPath

from core.base import files

GLOBAL = "global"
"""The domain of what is the user's in every project."""
UNPLACED = "unplaced"
"""The domain of what conversations taught of which nobody knows the project."""
DOMAIN_CHARACTERS = 60
_LEVELS = 24
MAX_COMMITS = 5000
MAIN = ("main", "master", "trunk", "develop")
NO_BRANCH = (*MAIN, "HEAD", "detached", "")
"""What tools write where somebody works on no branch of its own."""
"""The root commit is looked for in a history of fewer commits than this (0.02 s of git's time); a longer one is known
by its remote alone."""
GIT_SECONDS = 2.0
MAX_CONFIG_BYTES = 256 << 10
_OTHER = re.compile(r"[^\w.-]+|_*-+_*")
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]")
_WORK_TREES = re.compile(r"(?P<name>[^.].*?)[._-]{1,2}worktrees")
_SECTION = re.compile(r'\s*\[remote "(?P<name>[^"]*)"\]\s*(?:[#;].*)?')
_URL = re.compile(r'\s*url\s*=\s*"?(?P<url>[^"\s]+)"?\s*', re.IGNORECASE)
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]*://(?:[^/@]*@)?(?P<host>\[[^\]/]+\]|[^/:@\[]+)(?::\d*)?/(?P<path>[^?#]*)(?:[?#].*)?", re.I
)
_SHORT = re.compile(r"(?:[^/@:]+@)?(?P<host>[^/@:]{2,}):(?P<path>[^?#:][^?#]*)(?:[?#].*)?")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SYSTEM = frozenset({
    "etc", "usr", "bin", "sbin", "lib", "lib64", "boot", "proc", "sys", "dev", "run", "var", "net", "system", "library",
})  # fmt: skip
_HOMES = frozenset(("home", "users"))
_RESERVED = frozenset(
    ("global", "con", "prn", "aux", "nul", *(f"{port}{at}" for port in ("com", "lpt") for at in range(10)))
)


@dataclass(frozen=True)
class Project:
    """`key` is what makes two folders one project: `commit:…` and `remote:HOST/PATH`, where both are known with a space
    between them, else `path:` and the root. `root` is its top folder here, a normal absolute path."""

    key: str
    root: str


def project_at(folder: str) -> Project | None:
    """The project that a folder belongs to, None for none. The folder need not exist. It asks git, some milliseconds
    for each repository; `project_root` does not."""
    root = project_root(folder)
    if not root:
        return None
    key = identity_of(root) or f"path:{root}"
    return Project(key, root)


def same_key(one: str, other: str) -> bool:
    """Whether two keys have a root commit, a remote or a path in common."""
    return bool(one and other) and not set(one.split(" ")).isdisjoint(other.split(" "))


def domain_of(folder: str) -> str:
    """The domain of the facts that are learned in a folder (any system's path): its project's name in lower case, every
    run of characters other than letters, digits, `.`, `_` and `-` as one hyphen; `global` for no project."""
    return domain_named(project_root(folder))


def domain_named(root: str) -> str:
    """The same of the top folder of a project, "" for none. Looks at nothing on the disk."""
    plain = slug(re.split(r"[\\/]", root)[-1]) if root else ""
    return f"{plain}-repo" if plain in (GLOBAL, UNPLACED) else plain or GLOBAL


def slug(name: str) -> str:
    """A name as a domain, "" when nothing is left of it. A slug comes back unchanged."""
    plain = _OTHER.sub("-", name.strip().casefold()).strip("-._")[:DOMAIN_CHARACTERS].rstrip("-._")
    return f"{plain}-repo" if plain.split(".")[0] in _RESERVED and plain != GLOBAL else plain


# --- where it is ------------------------------------------------------------------------------------------------------


def project_root(folder: str) -> str:
    """The top folder of the project that a folder belongs to, "" for none: the repository around it, for a work tree
    its repository's, else the folder itself. Looks at names and at the file `.git` of a work tree alone. A path of
    another system is taken as it is."""
    if not folder or len(folder) > 4096 or "\0" in folder:
        return ""
    if _WINDOWS.match(folder) and os.name != "nt":
        return str(PureWindowsPath(folder)) if is_working_place(folder) else ""
    if not os.path.isabs(folder) or folder[:2] in ("//", "\\\\"):  # another computer's
        return ""
    path = os.path.normpath(folder)
    if not is_working_place(path):
        return ""
    with suppress(OSError):  # a folder that is closed is known by its name
        path = os.path.realpath(path)
    if not is_working_place(path):
        return ""
    root = repository_root(path) or path
    if os.path.isdir(f"{root}/.git"):
        return root
    above = _repository_of_tree(root) or outside_work_trees(root)
    return above if above == root else repository_root(above) or above


def place_of(folder: str) -> str:
    """The top folder of the project that a session worked in; else its own folder."""
    return project_root(folder) or folder


def outside_work_trees(path: str) -> str:
    """The same place in the repository itself where a path (normal, absolute) lies in one of its work trees, judged by
    the names alone: `cli/.worktrees/1` and `cli-worktrees/1` are `cli`; any other path as it is."""
    parts = path.split("/")
    for at, part in enumerate(parts[:-1]):
        if beside := _WORK_TREES.fullmatch(part):
            return "/".join((*parts[:at], beside["name"]))
    hidden = next((at for at, part in enumerate(parts[:-1]) if part.startswith(".")), 0)
    above = "/".join(parts[:hidden])
    return above if hidden and is_working_place(above) else path


def is_below(folder: str, top: str) -> bool:
    """Whether a folder is another one or lies in it, whole names compared: `/src/shop-old` is not in `/src/shop`."""
    return folder == top or folder.startswith(top.rstrip("/\\") + ("\\" if _WINDOWS.match(top) else os.sep))


def is_working_place(path: str) -> bool:
    """Whether somebody works in a folder of that (normal, absolute) path: not the root, a folder of the system, a home
    directory itself or a folder for temporary files itself."""
    if _WINDOWS.match(path):
        names = PureWindowsPath(path).parts
        own = names[2:] if len(names) > 1 and names[1].casefold() == "users" else names
        return len(own) > 1 and path not in _own_places()
    parts = path.removeprefix("/private").strip("/").split("/")  # where macOS keeps /tmp and /var
    if parts[0] in ("var", "usr") and parts[1:2] == ["home"]:  # where Fedora's atomic desktops and FreeBSD keep /home
        parts = parts[1:]
    if parts[:2] == ["run", "media"]:  # a disk that somebody plugged in: /run/media/USER/DISK
        return len(parts) > 3
    if not parts[0] or parts[0].casefold() in _SYSTEM or path in _own_places():
        return False
    if parts[0].casefold() in _HOMES:
        return len(parts) > 2
    return len(parts) > 1 or parts[0] not in ("tmp", "root", "mnt", "opt", "srv", "media")


def _own_places() -> frozenset[str]:
    """The home directory and the folder for temporary files of this process, also where links lead to them."""
    return _real_places(os.path.expanduser("~"), *(os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")))


@lru_cache(maxsize=8)
def _real_places(*named: str) -> frozenset[str]:
    places = {os.path.normpath(place) for place in named if place}
    return frozenset(places | {os.path.realpath(place) for place in places})


def repository_root(path: str) -> str:
    """The nearest folder at or above `path` (normal, absolute) with a `.git` in it, "" for none. Only names are looked
    for, and not in places where nobody works, nor in one of GIT_CEILING_DIRECTORIES or above it."""
    ceilings = _ceilings()
    for step in range(_LEVELS):
        if step and path in ceilings:
            return ""
        if not is_working_place(path):
            return ""
        if os.path.lexists(f"{path}/.git"):
            return path
        path = os.path.dirname(path)
    return ""


def _ceilings() -> frozenset[str]:
    """Where the search upward ends for git, and so for us (git's documentation, GIT_CEILING_DIRECTORIES)."""
    return frozenset(filter(None, os.environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep)))


def folders_around(folder: Path) -> list[Path]:
    """The folder and those above it that may speak for it: up to the root of its repository (the nearest `.git`, a
    folder or the file of a work tree, behind which the repository itself comes) or to the user's home, whichever comes
    first. Where neither is above, the folder alone: what lies further up (`/tmp`, `/`) is anybody's."""
    home, ceilings = os.path.realpath(os.path.expanduser("~")), _ceilings()
    found: list[Path] = []
    for one in (folder, *folder.parents):
        if found and str(one) in ceilings:
            break
        found.append(one)
        if os.path.lexists(one / ".git") or os.path.realpath(one) == home:
            repository = _repository_of_tree(str(one))
            return [*found, Path(repository)] if repository else found
    return [folder]


def _repository_of_tree(root: str) -> str:
    """The repository whose work tree a folder is, "" for none. The repository itself must name the folder in turn, in
    its own `.git/worktrees`: the file `.git`, and what it names elsewhere, could be anybody's."""
    try:
        pointer = _small(f"{root}/.git").removeprefix("gitdir:").strip()
        inside = os.path.realpath(os.path.join(root, pointer))
        common = os.path.realpath(os.path.join(inside, _small(f"{inside}/commondir").strip()))
        named = os.path.realpath(os.path.join(inside, _small(f"{inside}/gitdir").strip()))
    except (OSError, ValueError):
        return ""
    is_its_own = os.path.dirname(inside) == os.path.join(common, "worktrees")
    if os.path.basename(common) != ".git" or not is_its_own or named != os.path.realpath(f"{root}/.git"):
        return ""
    return os.path.dirname(common)


def in_repository(path: str) -> str:
    """The same file of the repository where a path (normal, absolute) lies in one of its work trees; else the path."""
    root = repository_root(os.path.dirname(path))
    repository = _repository_of_tree(root)
    return os.path.join(repository, os.path.relpath(path, root)) if repository else path


# --- by what it is known again ----------------------------------------------------------------------------------------


def identity_of(root: str) -> str:
    """The key of a repository by its root commit and its remote, "" for a folder that has neither."""
    git = f"{root}/.git"
    try:
        changed = os.stat(git).st_mtime_ns  # the first commit changes it, so does each later one
    except OSError:
        return ""
    commit = _root_commit(root, changed)
    remote = remote_of(git)
    return " ".join(f"{name}:{value}" for name, value in (("commit", commit), ("remote", remote)) if value)


def remote_of(git: str) -> str:
    """The remote that the settings in a folder `.git` name, `origin` before others, as `HOST/PATH`; "" for none."""
    found: dict[str, str] = {}
    name = None
    try:
        text = _small(f"{git}/config")
    except (OSError, ValueError):
        return ""
    for line in text.splitlines():
        if line.lstrip().startswith("["):
            section = _SECTION.fullmatch(line)
            name = section["name"] if section else None
        elif name is not None and (url := _URL.fullmatch(line)):
            found.setdefault(name, normal_remote(url["url"]))
    return found.get("origin") or next(filter(None, found.values()), "")


def normal_remote(url: str) -> str:
    """An address of a repository as `host/path`, without its scheme, user, password, port and `.git`, in lower case:
    `git@host:a/b.git`, `ssh://git@host/a/b` and `https://host/a/b` are one. "" for a folder of this computer, for a
    program, and for what may still hold a password."""
    found = _ADDRESS.fullmatch(url) or (_SHORT.fullmatch(url) if "://" not in url else None)
    if found is None or url[:5].casefold() == "file:" or "@" in found["path"]:
        return ""
    path = found["path"].strip("/").removesuffix(".git").rstrip("/")
    return f"{found['host']}/{path}".casefold() if path else ""


@lru_cache(maxsize=256)
def _root_commit(root: str, changed: int) -> str:
    """The commit that a repository began with, "" where git does not tell or the history is long or cut off."""
    if os.path.lexists(f"{root}/.git/shallow"):
        return ""
    import subprocess

    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    nowhere = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ALLOW_PROTOCOL": "none"}
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}
    plain = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_CEILING_DIRECTORIES": os.path.dirname(root), "LC_ALL": "C"}
    settings = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "protocol.allow=never")
    asked = ("rev-list", "--first-parent", f"--max-count={MAX_COMMITS}", "HEAD", "--")
    try:
        told = subprocess.run(
            ["git", *settings, *asked], cwd=root, env=kept | nowhere | quiet | plain, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=GIT_SECONDS, check=True,
        ).stdout.decode("ascii", "replace").split()  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return told[-1] if 0 < len(told) < MAX_COMMITS and _COMMIT.fullmatch(told[-1]) else ""


def _small(path: str) -> str:
    """A file of a repository as text. Raises OSError, also for what is no plain file, and ValueError."""
    return files.read_file(path, MAX_CONFIG_BYTES).data.decode("utf-8", "replace")
