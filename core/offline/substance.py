"""What is worth telling of a session's work and what is not: superseded commits, pushes of nothing, one-line edits.

A sentence may be true and still be worth nothing tomorrow. Each gate here keeps one class of them out.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter

from core.conversations.events import Command, Commit, Edit, Push
from core.offline import cues
from core.offline.prose import by_person, looks_like_code
from core.offline.sessions import Closing, Session, is_change, sends_something

SHORT, LONG = 30, 300
LEAST_WORDS = 7
SHORT_UNBROKEN = 12
"""A sentence of Chinese, Japanese or Korean says in so many characters what takes `SHORT` in others."""

CODE = re.compile(r"`[^`\n]*`")
BY_TOOL = re.compile(r"^aider:\s+", re.IGNORECASE)
COMMITS = re.compile(r"\bgit(?:\s+-[cC]\s+\S+)*\s+commit\b")


# --- commits that a tool makes by itself, and pushes ---

_FEATURE = re.compile(
    r"^(?:feat(?:\([^)]*\))?!?: |(?:added|introduced|implemented|created)(?: (?!to\b|in\b|from\b)[\w-]+){0,4} `)",
    re.IGNORECASE,
)
"""What a commit that a tool made by itself is worth though later ones go on with its files: it names a new thing."""


def _by_itself(session: Session, made: Sequence[tuple[int, Commit]]) -> list[tuple[int, Commit, frozenset[str]]]:
    """The commits that the tool made behind an edit without being told, with the files of each: no command line."""
    called = {row.start for row in session.commands if COMMITS.search(row.words)}
    found = []
    for turn, commit in made:
        if commit.start not in called or BY_TOOL.match(commit.subject):
            edits = [row for at, row in session.events if at == turn and isinstance(row, Edit)]
            found.append((turn, commit, frozenset(path for row in edits for path in row.path.split(", ") if path)))
    return found


def overtaken(session: Session, made: Sequence[tuple[int, Commit]]) -> set[str]:
    """The subjects of commits that a tool made by itself and that only led to a later one: it changes their files
    again. One that names a new thing stays, and takes with it the last one that only mends it. One without an edit is
    of something else that lay in the folder, and one of pages for readers alone is soon forgotten."""
    rows = _by_itself(session, made)
    gone: set[str] = set()
    for at, (_, commit, paths) in enumerate(rows):
        title = BY_TOOL.sub("", commit.subject)
        if all(map(DOCUMENT.search, paths)):
            gone.add(commit.subject)
            continue
        if any(paths & later for _, _, later in rows[at + 1 :]) and not _FEATURE.match(title):
            gone.add(commit.subject)
        names = set(CODE.findall(title))
        for _, before, others in rows[:at]:
            new = BY_TOOL.sub("", before.subject)
            if names and not _FEATURE.match(title) and paths & others and _FEATURE.match(new):
                gone |= {commit.subject} if names <= set(CODE.findall(new)) else set()
    return gone


_REF = re.compile(
    r"^\s*[*+ ]?\s*(?:\[[^\]]+\]|(?P<old>[0-9a-f]{7,})\.{2,3}(?P<new>[0-9a-f]{7,}))\s+(?P<ref>\S+) *->", re.M
)


def moved(session: Session, push: Push, commit: Commit, branch: str) -> bool:
    """Whether the output of a push shows that a commit's branch moved; "Everything up-to-date" moved nothing."""
    output = next((row.output for row in session.commands if row.start == push.start and row.words), "")
    refs = list(_REF.finditer(output))
    if not refs:
        return "up-to-date" not in output
    return not branch or any(ref["ref"] in (branch, "HEAD") for ref in refs) or commit.hash[:7] in output


CONVENTIONAL = re.compile(r"[a-z]{2,10}(?:\([^)]*\))?!?: ")
_WORDS = re.compile(r"[^\W\d_][\w-]{2,}")
_FORM = re.compile(r"(?:and|the|for|with|from|into|that|this|when|around|to|of|in|on)", re.IGNORECASE)
LEAST_TELLING = 4


def title_tells(subject: str, names: set[str]) -> bool:
    """Whether a commit's title alone says what it is about: several words, and a named thing, be it the scope in front
    or the files."""
    title = BY_TOOL.sub("", subject)
    scope = CONVENTIONAL.match(title)
    telling = [word for word in _WORDS.findall(title[scope.end() :] if scope else title) if not _FORM.fullmatch(word)]
    named = bool(names or (scope and "(" in scope[0]) or cues.ANCHOR.search(title))
    return (len(telling) + named >= LEAST_TELLING or not title.isascii()) and named


_TRYOUT = re.compile(
    r"\bhello[-_ ,]*world\b|\bfizz[-_ ]?buzz\b|\bfibonacci\b|\b(?:dummy|throwaway)\b|"
    r"\b(?:file|story|poem|joke|haiku|essay|page) about\b",
    re.IGNORECASE,
)


def tryout(session: Session, text: str) -> bool:
    """Whether somebody only tried out a tool: what was asked for belongs to no project."""
    asked = " ".join(turn.text[:300] for turn in session.conversation.turns if by_person(turn))
    return _TRYOUT.search(text) is not None or (len(asked) < 300 and _TRYOUT.search(asked) is not None)


# --- what was left uncommitted ---


def uncommitted(session: Session) -> str:
    """That work was left uncommitted, where git said so behind the last edit: nobody knows what was done outside."""
    edits = [at for at, (_, row) in enumerate(session.events) if is_change(row)]
    behind = [row for _, row in session.events[edits[-1] + 1 if edits else 0 :]]
    if any(isinstance(row, Commit) or sends_something(row) for row in behind):
        return ""
    shown = [row.output for row in behind if isinstance(row, Command) and _STATUS.search(row.words) and row.answered]
    return "not committed when the session ended" if shown and _DIRTY.search(shown[-1]) else ""


_STATUS = re.compile(r"\bgit(?:\s+-[cC]\s+\S+)*\s+(?:status|diff --(?:stat|name-only|name-status))\b")
_DIRTY = re.compile(
    r"^\s*(?:modified|new file|deleted|renamed):|^(?:Changes (?:not staged|to be committed)|Untracked files)|"
    r"^\s?(?:[MADRC]{1,2}|\?\?) +\S|\|\s+\d+ [+-]",
    re.MULTILINE,
)


# --- whether work that no commit tells of is worth telling ---

_LESSER = re.compile(r"^(?:also )?(?:removed|moved|renamed|updated|cleaned|adjusted|tweaked|reworded)\b", re.IGNORECASE)
_WHOLE_THING = re.compile(
    r"\b(?:plugin|package|module|command|service|dependency|endpoint|folder|directory|feature|table|page|workflow|"
    r"script|support|subcommand|job|integration|backend|provider)s?\b",
    re.IGNORECASE,
)
BEHAVES = re.compile(
    r"^(?:the )?`[^`]+`(?: \w+)? (?:no longer|now|never|always|only|does(?:n't| not)|(?:is|are) (?:only|now|no)|"
    r"(?!documents|covers|tests|clarifies|mentions)[a-z]+s)\b|^`[^`]+` ?(?:仅|只|不再|现在|默认|支持|改为)"
)
"""How something behaves since the work."""
_SLIGHT = re.compile(
    r"^\w+ (?:[^.,;]{0,30}\b)?(?:(?:trailing )?newlines?|'\\n'|whitespace|comments?|(?:hyper)?links?|urls?|typos?|"
    r"imports?|s?log(?:ging)?`? calls?|blank lines?|notes?)\b|'\\n'|\btrailing newline\b|"
    r"^(?:dropped|removed|trimmed|reworded|updated)\b.*\bcomments?\W*(?:\(in `[^`]+`\)\W*)?$|"
    r"\b(?:the|this|your) (?:task|request)\b|\bas (?:you )?(?:requested|asked)\b",
    re.IGNORECASE,
)
"""An edit of one line, and words that say no more than that there was a task."""
DOCUMENT = re.compile(r"(?:^|/)(?:readme|changelog|contributing|license|notices?|todo)\b[^/]*$", re.IGNORECASE)
MIN_FILES_OF_LARGE_CHANGE = 3


def written(session: Session, closing: Closing, since: int = -1) -> list[Edit]:
    """The files that were written since the closing message before this one, or since a later turn."""
    first = bisect_right(session.edits, max(closing.before, since), key=itemgetter(0))
    last = bisect_right(session.edits, closing.number, key=itemgetter(0))
    return [row for _, row in session.edits[first:last]]


def of_substance(session: Session, closing: Closing, parts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Of what a closing message tells, what somebody may look for though no commit tells of it: what is new or whole
    stands first; a lone edit of a page for readers, one line and a removal within a file are nothing."""
    edits = written(session, closing)
    names = {path for row in edits for path in row.path.split(", ")}
    if len(names) == 1 and DOCUMENT.search(next(iter(names))) and not any(row.how == "created" for row in edits):
        return []
    if not names and any(DOCUMENT.search(name.strip("`")) for text, _ in parts[:1] for name in CODE.findall(text)):
        return []
    parts = [row for row in parts if not _SLIGHT.search(row[0])]
    # How things behave since stands behind the work, or is all that a list of changes says: then it comes first.
    behind = [row for row in parts[1:] if BEHAVES.match(row[0]) and not BEHAVES.match(parts[0][0])]
    large = [row for row in parts if not _LESSER.match(row[0]) and row not in behind]
    if parts and not large:  # what stands first says what it was about
        removed = re.match(r"(?:also )?removed", parts[0][0], re.IGNORECASE)
        return (
            parts if (_WHOLE_THING.search(parts[0][0]) if removed else len(names) >= MIN_FILES_OF_LARGE_CHANGE) else []
        )
    return large + [row for row in parts if row not in large] if large else []


def with_file(session: Session, closing: Closing, text: str) -> str:
    """A sentence with the file that it is about, where it names none and one alone was written."""
    names = list(dict.fromkeys(name for row in written(session, closing) for name in row.names))
    if len(names) != 1 or names[0] in text or _PATH_IN.search(text):
        return text
    stop = text[-1:] if text[-1:] in ".。" else ""
    return f"{text.rstrip('.。')} (in `{names[0]}`){stop}"


_PATH_IN = re.compile(r"[\w-]/[\w-]|\w\.[a-z]{1,4}\b(?![.(])")


# --- what a fact is about ---

# A sentence that says what something does without what it is: "Falls back to …", "Write-new-only — all new …".
_NO_SUBJECT = re.compile(
    r"^(?:falls?|uses?|returns?|reads?|writes?|runs?|keeps?|skips?|handles?|sends?|stores?|checks?|creates?|adds?|"
    r"allows?|supports?|requires?|prevents?|ensures?|makes?|does|has|is|can|must|only|never|always|no longer|"
    r"defaults?|ignores?|applies|accepts?|loads?|fails?|waits?|works?|guards?|guarded|avoids?|generates?|"
    r"resolves?|updates?|removes?|replaces?|exposes?)\b(?! (?:of|for|that|in which)\b)|"
    r"^(?:(?![`\d])[^`—–.]){3,40}(?<!\w\.\w) [—–] ",
    re.IGNORECASE,
)
FIRST_WORDS = 12
_CALLED = re.compile(r"(?<=\s)[A-Z][A-Za-z]*[a-z]|\b[A-Z]{2,}")


def named_first(text: str) -> bool:
    """Whether a sentence names in its first words what it is about."""
    if not text.isascii() and len(text) != len(text.encode()):
        return _NO_SUBJECT.match(text) is None
    first = " ".join(text.split()[:FIRST_WORDS])
    return _NO_SUBJECT.match(text) is None and bool(cues.ANCHOR.search(first) or _CALLED.search(first))


# --- sentences that stand by themselves ---


def fits(text: str) -> bool:
    """Whether a sentence is long enough to say something and short enough for a line."""
    return (SHORT if text.isascii() or len(text) == len(text.encode()) else SHORT_UNBROKEN) <= len(text) <= LONG


def readable(text: str) -> bool:
    """Whether a sentence reads as a statement of its own: whole, about something named, neither offer nor template."""
    return (
        fits(text)
        and not cues.MONOLOGUE.match(text)
        and not cues.DANGLING.match(text)
        and not cues.OFFER.search(text)
        and not cues.TEMPLATE.search(CODE.sub("", text))
        and not looks_like_code(text)
        and not text.endswith(("?", ":", "…", "：", "？"))
        and not (text[:1].islower() and re.match(r"[a-z]+ ", text))
        and whole_quotes(text)
        and cues.ANCHOR.search(text) is not None
    )


# What a line alone does not tell: a label of a list, a page without its name, a word that points at what stood before.
_LABELS = re.compile(
    r"\b(?i:case|chunk|variant|obs|observation|finding|item|point|cas|caso) (?:#?\d{1,2}|[A-Z])\b(?![.-]?\w)|"
    r"(?:选项|方案|オプション|옵션) ?[A-Z\d]\b"
)
_POINTS_BACK = re.compile(
    r"^the (?:doc|document|list|plan|spec|ticket|page)(?:'s|’s|\b(?! (?:of|for|in|that|at|with|named)\b| [`“\"]))|"
    r"^(?:quest[oaie]|ciò|dies(?:e[rsmn]?)?|cela|ceci|ça|c'est|est[oea]s?|eso|ist?so)\b"
    r"(?! (?:proje|progett|proyect|repo))|"
    r"^(?:这|那|此|该|これ|それ|この|その|이것|그것)(?!个?(?:项目|仓库)|プロジェクト|リポジトリ)",
    re.IGNORECASE,
)
_THIS_ALONE = re.compile(
    r"\b(?:this|these|those)\b(?=\W*$|\s*[,;:]|\s+(?:in|into|on|up|out|off|to|at|by|with|for|as|and|or|but|so|now|is|"
    r"was|are|were|has|had|does|did|will|would|should|can|could|must|needs?|works?|happens?|means)\b)",
    re.IGNORECASE,
)


def lost(text: str) -> bool:
    """Whether a line is about something that only the words around it named."""
    pointed = _THIS_ALONE.search(text)
    before = text[: pointed.start()] if pointed else ""
    if pointed and not cues.ANCHOR.search(before) and len(before.split()) < FIRST_WORDS:
        return True
    return bool(_LABELS.search(text) or _POINTS_BACK.match(text))


def without_labels(text: str) -> str:
    """A text without its sentences that hang on a label."""
    if not _LABELS.search(text):
        return text
    return " ".join(part for part in re.split(r"(?<=[.!?])\s+", text) if not _LABELS.search(part))


def whole_quotes(text: str) -> bool:
    """Whether brackets and quotation marks that open in a text also close in it."""
    pairs = (("(", ")"), ("“", "”"), ("[", "]"))
    return (
        text.count('"') % 2 == 0 and text.count("`") % 2 == 0 and all(text.count(a) == text.count(b) for a, b in pairs)
    )


def shortened(text: str, most: int = LONG) -> str:
    """As many whole sentences of a text from its beginning as `most` characters hold, "" where its first one does not
    fit: a line that breaks off says something else than what was said."""
    if len(text) <= most:
        return text
    ends = [found.end() for found in re.finditer(r"[.!?](?=[\s)])|[。！？]", text[:most])]
    said = text[: ends[-1]].strip() if ends else ""
    return said if whole_quotes(said) else ""


_TELLING = re.compile(r"[A-Za-z][\w-]{3,}|[぀-ヿ一-鿿가-힣]{2}")
_EVERYWHERE = frozenset({
    "added", "adds", "updated", "fixed", "fixes", "with", "from", "that", "this", "into", "tests", "test", "file",
    "files", "code", "commit", "feat", "docs", "chore", "refactor", "instead", "when", "make", "made", "support",
    "created", "new", "removed", "changed", "change", "changes", "update", "remove", "create", "using", "used", "uses",
    "block", "now",
})  # fmt: skip


def stems(text: str) -> set[str]:
    """The words of a text that tell what it is about, cut to five letters."""
    return {word[:5] for word in {word.casefold() for word in _TELLING.findall(text)} - _EVERYWHERE}


def alike(one: str, other: str, share: float = 0.7) -> bool:
    """Whether two texts of work tell mostly the same: `share` of the words of the shorter stand in the other."""
    first, second = (set(re.findall(r"[\w./-]{3,}", text.casefold())) for text in (one, other))
    return len(first & second) >= share * max(1, min(len(first), len(second))) and len(first & second) >= 4
