"""What one rule gives, and whether a sentence says something by itself: whole, about something named, and no guess."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.rules import words
from core.rules.prose import begun

LONG = 300
FIRST_WORDS = 12
MOSTLY, LEAST_SHARED = 0.7, 4


@dataclass(frozen=True)
class Found:
    """One item with how good it is (higher first) and the number of the turn it comes from; `fields` are the answer's
    fields, `rule` is the name of the rule that gave it."""

    category: str
    fields: dict[str, str]
    score: int
    turn: int
    rule: str = ""


def found(
    category: str, statement: str, turn: int, *, detail: str = "", quote: str = "", score: int = 50, kind: str = ""
) -> Found:
    """An item whose statement begins with a capital and has no half of a pair of backticks."""
    statement = statement.replace("`", "") if statement.count("`") % 2 else statement
    fields = {"statement": begun(statement.strip()), "detail": detail.strip(), "quote": quote.strip()}
    return Found(category, fields | ({"kind": kind} if kind else {}), score, turn)


def is_latin(text: str) -> bool:
    """Whether a text is of Latin letters: nothing of a script without blanks in it, and few characters of two bytes."""
    unbroken = any("\u3000" <= char <= "\uffef" for char in text)
    return not unbroken and len(text.encode("utf-8", "replace")) <= 1.5 * len(text)


_LATIN = re.compile(r"[A-Za-z][\w-]{2,}")


def named(text: str) -> bool:
    """Whether a text names a thing: in the spelling of code, as a path or a number, or in Latin letters within another
    script."""
    return words.ANCHOR.search(text) is not None or (not is_latin(text) and _LATIN.search(text) is not None)


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
    if pointed and not words.ANCHOR.search(before) and len(before.split()) < FIRST_WORDS:
        return True
    return bool(_LABELS.search(text) or _POINTS_BACK.match(text))


def whole_quotes(text: str) -> bool:
    """Whether brackets and quotation marks that open in a text also close in it."""
    pairs = (("(", ")"), ("“", "”"), ("[", "]"))
    return (
        text.count('"') % 2 == 0
        and text.count("`") % 2 == 0
        and "**" not in text
        and all(text.count(a) == text.count(b) for a, b in pairs)
    )


def shortened(text: str, most: int = LONG) -> str:
    """As many whole sentences of a text from its beginning as `most` characters hold, "" where its first one does not
    fit: a line that breaks off says something else than what was said."""
    if len(text) <= most:
        return text
    ends = [stop.end() for stop in re.finditer(r"[.!?](?=[\s)])|[。！？]", text[:most])]
    said = text[: ends[-1]].strip() if ends else ""
    return said if whole_quotes(said) else ""


_TELLING = re.compile(r"[A-Za-z][\w-]{3,}|[぀-ヿ一-鿿가-힣]{2}")
_EVERYWHERE = frozenset({
    "added", "adds", "updated", "fixed", "fixes", "with", "from", "that", "this", "into", "tests", "test", "file",
    "files", "code", "commit", "feat", "docs", "chore", "refactor", "instead", "when", "make", "made", "support",
    "created", "new", "removed", "changed", "change", "changes", "update", "remove", "create", "using", "used", "uses",
    "block", "now", "should", "have", "need", "please",
})  # fmt: skip


def stems(text: str) -> set[str]:
    """The words of a text that tell what it is about, cut to five letters."""
    return {word[:5] for word in {word.casefold() for word in _TELLING.findall(text)} - _EVERYWHERE}


def alike(one: str, other: str) -> bool:
    """Whether two texts tell mostly the same: most of the words of the shorter stand in the other."""
    first, second = (set(re.findall(r"[\w./-]{3,}", text.casefold())) for text in (one, other))
    shared = len(first & second)
    return shared >= LEAST_SHARED and shared >= MOSTLY * min(len(first), len(second))


def names_in(text: str) -> set[str]:
    """What a text names, in lower case, without backticks."""
    return {name.strip("`()").casefold() for name in words.ANCHOR.findall(text)}


# --- that tell a cause ---

STRONG, WEAK, FAINT = 6.0, 3.0, 1.5
FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
ANNOUNCES = re.compile(
    r"\W*(?:(?:now|next|then|good|great|perfect|ok(?:ay)?|first|finally|all)\b|need to\b|let me\b|let['’]s\b|"
    r"(?:i|we)(?:['’]ll| will| need| should|['’](?:m|re) \w+)\b|task \d|step \d|the tests? (?:now )?(?:pass|fail)|"
    r"(?:build|tests?|lint|checks?) (?:is |are )?(?:pass|clean|green))",
    re.IGNORECASE,
)
_STRONG = re.compile(
    r"\ATo [^,.:]{12,100}, (?!(?:run|use|you|I|we|let)\b)[^.]* (?:needs? to|must|ha(?:s|ve) to)\b|"
    r"\b(?:because|since (?!v?\d)|so that|so (?:an?|it|its|no|they|we|the|there|these|this|users?|that)\b|"
    r"due to|otherwise|root cause|reason|"
    r"turn(?:s|ed) out|instead of|rather than|avoid(?:s|ing)?|prevent(?:s|ing)?|in order to|which (?:means|is why|"
    r"causes?)|that's why|(?:the|an?|real|actual|main) (?:problem|issue|bug|cause|culprit|risk|gap)\b|"
    r"needed (?:for|to|by)|relied on|for consistency|race|footgun|never|silently)\b|因为|所以|原因|因此|为了|避免",
    re.IGNORECASE,
)
_WEAK = re.compile(
    r"\b(?:fails?|failed|failing|broke|broken|missing|wrong|leak|crash(?:es)?|must(?: not)?|needs? to|allows?|"
    r"enables?|ensures?|bugs?|fix(?:ed|es)?|incorrect(?:ly)?|consisten(?:t|cy)|backward|deprecated|nobody|no one|"
    r"should|no longer|changed from|stale|misleading|unclear|clarif(?:y|ies)|requires?|cannot|worthwhile|"
    r"to (?:match|keep|ensure|allow|make|support))\b|应该|需要|不能",
    re.IGNORECASE,
)
_FAINT = re.compile(
    r"\b(?:(?:does|do|is|ca)n['’]t|currently|previously|without|unused|instead|already|only|still|means|expects?|but)\b",
    re.I,
)
ENDS = re.compile(r"(?<=[.!?。！？])(?<!\b\d\.)(?<!\be\.g\.)(?<!\bi\.e\.)\s+|(?<=[。！？])|\n+")
_WRAPPED = re.compile(r"(?<=[^\s:：.!?])\n(?=[a-z(`\"“])")
_OF_PROSE = re.compile(r"[^\W\d_]|\s")
_OF_TOOL = re.compile(r"^[|{<$]|</?\w+>")
LEAST_PROSE = 0.72
FILE = re.compile(
    r"(?<![\w@./-])[\w./-]*\w\.(?:[jt]sx?|py|go|rs|md|json|ya?ml|toml|sh|sql|css|html|rb|java|kt|swift|c|cc|cpp|h|php)\b"
)


def rows_of(text: str) -> list[str]:
    """The sentences and lines of a text, without its code."""
    return ENDS.split(_WRAPPED.sub(" ", FENCED.sub("\n\n", text)))


def cue_of(words: str) -> float:
    """How much the words of a sentence tell that it gives a reason: `STRONG`, `WEAK`, `FAINT` or 0."""
    if _STRONG.search(words):
        return STRONG
    return WEAK if _WEAK.search(words) else FAINT if _FAINT.search(words) else 0.0


def is_prose(words: str) -> bool:
    """Whether it is words, and no code or call."""
    return len(_OF_PROSE.findall(words)) >= LEAST_PROSE * max(1, len(words)) and not _OF_TOOL.search(words)
