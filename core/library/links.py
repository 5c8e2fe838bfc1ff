"""How things in the library stand to each other, in words: for who reads one of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, select

from core.library import schema
from core.library.records import Link
from core.library.rows import in_parts, links_of

BY_HAND = "manual"
"""Who made a link that a user made."""
TOLD = ("contradicts", "better_for", "supersedes")
"""Relations that are told whoever found them; the others where a user made them."""
_BACK = {
    "supports": "supported by", "supersedes": "superseded by", "elaborates": "elaborated by", "applies": "applied by",
    "derived_from": "a source of",
}  # fmt: skip
_FORTH = {"supersedes": "newer than"}
"""A relation as the other end, and as this one, has it; where neither tells, by its name."""


def told_links(connection: Connection, ids: Iterable[str]) -> dict[str, list[str]]:
    """For documents, chunks and concepts, by their ids, the links that should be known to who trusts them, as
    sentences."""
    wanted = set(ids)
    links = [one for one in links_of(connection, *sorted(wanted)) if one.relation in TOLD or one.created_by == BY_HAND]
    texts = _texts(connection, links)
    sentences: dict[str, list[str]] = {}
    for link in links:
        for here, there in ((link.source_id, link.target_id), (link.target_id, link.source_id)):
            if here in wanted and there in texts:
                said = f"{_relation(link, here == link.source_id)} {texts[there]}"
                why = f" ({' '.join(link.note.split())})" if link.note and link.created_by == BY_HAND else ""
                sentences.setdefault(here, []).append(said + why)
    return sentences


def _relation(link: Link, forward: bool) -> str:
    if link.relation == "better_for":
        return f"{'better' if forward else 'worse'} for {link.task_type or 'some tasks'} than"
    return (_FORTH if forward else _BACK).get(link.relation, link.relation.replace("_", " "))


def _texts(connection: Connection, links: Iterable[Link]) -> Mapping[str, str]:
    """The ends of links, each by its kind and what it says: `chunk 3f2a91c0: "…"`."""
    c, d, k = schema.chunk.c, schema.document.c, schema.concept.c
    ends = sorted({end for link in links for end in (link.source_id, link.target_id)})
    texts: dict[str, str] = {}
    for part in in_parts(ends):
        for key, summary, content in connection.execute(select(c.id, c.summary, c.content).where(c.id.in_(part))):
            texts[key] = f"chunk {key[:8]}: {_quoted((summary or content)[:160])}"
        for key, title in connection.execute(select(d.id, d.title).where(d.id.in_(part))):
            texts[key] = f"document {key[:8]}: {_quoted(title)}"
        for key, name in connection.execute(select(k.id, k.name).where(k.id.in_(part))):
            texts[key] = f"concept {_quoted(name)}"
    return texts


def _quoted(text: str) -> str:
    return f'"{" ".join(text.split())}"'
