"""`knowledge help`: the pages of the documentation that are installed with the program, `assets/docs`.

They are shown whatever is wrong with the settings or the home.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.base.result import KnowledgeError
from core.commands.row import OURS, optional, top


@dataclass(frozen=True)
class Page:
    """One page: the name of its file without the ending, and its heading."""

    topic: str
    title: str


@dataclass(frozen=True)
class Help:
    """All pages, and the text of the one that was asked for, "" for none."""

    pages: tuple[Page, ...]
    text: str


def show_help(topic: str = "") -> Help:
    """The pages and the text of one. An unknown topic is an error that names those there are."""
    from core.base.paths import shipped_root

    folder = shipped_root() / "assets" / "docs"
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))}
    if topic and topic not in texts:
        raise KnowledgeError("usage", f"there is no page {topic!r}; there are {', '.join(texts)}")
    pages = tuple(Page(name, text.partition("\n")[0].lstrip("# ")) for name, text in texts.items())
    return Help(pages, texts.get(topic, ""))


def help_text(found: Help) -> str:
    """The page, or the list of them."""
    if found.text:
        return found.text
    width = max(len(page.topic) for page in found.pages)
    rows = [f"  {page.topic:<{width}}  {page.title}" for page in found.pages]
    return "\n".join(["'knowledge help TOPIC' prints one of these pages:", "", *rows, ""])


COMMANDS = (
    top("help", "sources", show_help, help_text, optional("topic", "the page to print"), words=OURS, anywhere=True),
)
