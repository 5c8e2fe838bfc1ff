"""Source code into its functions and classes, by a real parser: Python's own, tree-sitter for other languages.

A block begins with the comment and the decorators above it. What stands between definitions is a block too. Where no
parser knows the language, or the file cannot be parsed, blocks are what empty lines part, at the left margin.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any

from core.library.foreign_formats import Part

Fits = Callable[[str], bool]


@dataclass(frozen=True)
class _Definition:
    """Lines from 0, the last one not in it. `inside` are the definitions of a class or module; a function is whole."""

    first: int
    last: int
    name: str
    inside: tuple[_Definition, ...] = ()


GRAMMARS = {
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "rust": ("tree_sitter_rust", "language"),
    "go": ("tree_sitter_go", "language"),
    "java": ("tree_sitter_java", "language"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
    "bash": ("tree_sitter_bash", "language"),
    "c_sharp": ("tree_sitter_c_sharp", "language"),
}
"""Language -> the package of its grammar, and the function in it. The extra `documents` has them."""
_DEFINES = re.compile(
    r"(?:function|method|class|interface|enum|struct|trait|impl|module|namespace|type_alias|constructor|record|union|mod)"
    r"(?:_(?:declaration|definition|item|specifier|statement))?\Z|type_declaration\Z|singleton_method\Z|macro_definition\Z"
)
_FUNCTION = re.compile(r"function|method|constructor|singleton_method|lexical|macro")
_WRAPS = {
    "export_statement", "decorated_definition", "template_declaration", "ambient_declaration", "lexical_declaration",
}  # fmt: skip
_COMMENTS = ("//", "/*", "*", "--", ";", "%", "@", "#[")


def code_blocks(text: str, language: str, fits: Fits) -> list[Part]:
    """The blocks of a source file in their order, each with what it defines (`Pool.acquire`); together they are the
    whole file. A definition that does not fit (by the text of it) is told as the definitions inside it, where there are
    any."""
    found = _python(text) if language == "python" else _by_tree(text, language)
    if found is None:
        return list(_by_margin(text, fits))
    # In the languages of C a hash begins no comment.
    marks = _COMMENTS if language in ("c", "cpp", "c_sharp") else (*_COMMENTS, "#")
    return list(_blocks(text, marks, line_starts(text), found, fits))


def line_starts(text: str) -> list[int]:
    """Where each line begins; and the end of the text."""
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    return starts if starts[-1] == len(text) else [*starts, len(text)]


def _blocks(
    text: str, marks: tuple[str, ...], lines: Sequence[int], found: Sequence[_Definition], fits: Fits
) -> Iterator[Part]:
    rows, done = text.split("\n"), 0
    for row in _flat(text, lines, found, fits):
        first = max(done, _with_comment(rows, row.first, marks))
        yield from _between(text, lines, done, first, fits)
        last = max(min(row.last, len(lines) - 1), first)
        if last > first:
            yield Part(lines[first], lines[last], row.name)
        done = max(done, last)
    yield from _between(text, lines, done, len(lines) - 1, fits)


def _flat(text: str, lines: Sequence[int], found: Sequence[_Definition], fits: Fits) -> Iterator[_Definition]:
    """Definitions that fit; of one that does not, its head and what is inside it."""
    for row in found:
        if not row.inside or fits(text[lines[row.first] : lines[min(row.last, len(lines) - 1)]]):
            yield row
            continue
        yield _Definition(row.first, row.inside[0].first, row.name)
        yield from _flat(text, lines, row.inside, fits)


def _between(text: str, lines: Sequence[int], first: int, last: int, fits: Fits) -> Iterator[Part]:
    """What stands between definitions: one block, or as many as it takes."""
    if first >= last or not text[lines[first] : lines[last]].strip():
        return
    if fits(text[lines[first] : lines[last]]):
        yield Part(lines[first], lines[last])
        return
    part, shift = text[lines[first] : lines[last]], lines[first]
    for row in _by_margin(part, fits):
        yield Part(row.begins + shift, row.ends + shift)


def _with_comment(rows: Sequence[str], first: int, marks: tuple[str, ...]) -> int:
    while first > 0 and rows[first - 1].strip().startswith(marks):
        first -= 1
    return first


def _by_margin(text: str, fits: Fits) -> Iterator[Part]:
    """Blocks begin behind an empty line, where a line stands at the left margin; neighbours that fit are together."""
    lines, starts = line_starts(text), [0]
    for at in range(1, len(lines) - 1):
        line = text[lines[at] : lines[at + 1]]
        if line[:1] not in ("", " ", "\t", "\n", "}", ")", "]") and not text[lines[at - 1] : lines[at]].strip():
            starts.append(lines[at])
    begins = 0
    for stop, after in pairwise([*starts[1:], len(text), len(text)]):
        if not fits(text[begins:after]) or after == stop:
            if text[begins:stop].strip():
                yield Part(begins, stop)
            begins = stop


# --- Python -----------------------------------------------------------------------------------------------------------


def _python(text: str) -> list[_Definition] | None:
    """None for what this Python cannot parse: an old or broken file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return list(_python_definitions(tree, ""))


def _python_definitions(tree: ast.AST, owner: str) -> Iterator[_Definition]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = f"{owner}{node.name}"
            first = min([node.lineno, *(row.lineno for row in node.decorator_list)]) - 1
            inside = tuple(_python_definitions(node, f"{name}.")) if isinstance(node, ast.ClassDef) else ()
            yield _Definition(first, node.end_lineno or node.lineno, name, inside)
        elif isinstance(node, (ast.If, ast.Try)):
            yield from _python_definitions(node, owner)


# --- other languages --------------------------------------------------------------------------------------------------


@cache
def _parser(language: str) -> Any:
    """A parser, None where there is no grammar for the language, or it is not installed."""
    package, function = GRAMMARS.get(language, ("", ""))
    if not package:
        return None
    try:
        import tree_sitter

        grammar = tree_sitter.Language(getattr(import_module(package), function)())
    except ImportError:
        return None
    return tree_sitter.Parser(grammar)


def _by_tree(text: str, language: str) -> list[_Definition] | None:
    parser = _parser(language)
    if parser is None:
        return None
    root = parser.parse(text.encode("utf-8", "replace")).root_node
    found = list(_tree_definitions(root, "", 0))
    return found if found or not root.has_error else None


def _tree_definitions(node: Any, owner: str, depth: int) -> Iterator[_Definition]:
    for child in node.children:
        if not child.is_named or depth > 40:
            continue
        inner = child
        if child.type in _WRAPS:
            inner = next((row for row in child.children if _DEFINES.match(row.type)), child)
        if _DEFINES.match(inner.type) or _is_arrow(inner):
            name = _name_of(inner)
            whole = f"{owner}{name}" if name else owner.rstrip(".")
            holds = not _FUNCTION.match(inner.type)
            inside = tuple(_tree_definitions(inner, f"{whole}." if whole else "", depth + 1)) if holds else ()
            yield _Definition(child.start_point[0], child.end_point[0] + 1, whole, inside)
        else:
            yield from _tree_definitions(child, owner, depth + 1)


def _is_arrow(node: Any) -> bool:
    """`const name = (…) => …` at the top of a file is a function like any other."""
    if node.type != "lexical_declaration":
        return False
    values = (row.child_by_field_name("value") for row in node.children if row.type == "variable_declarator")
    return any(value is not None and value.type in ("arrow_function", "function_expression") for value in values)


def _text(node: Any) -> str:
    return str(node.text.decode("utf-8", "replace")) if node is not None else ""


def _name_of(node: Any) -> str:
    for field in ("name", "declarator", "type"):
        child = node.child_by_field_name(field)
        while child is not None and field == "declarator" and child.child_by_field_name("declarator") is not None:
            child = child.child_by_field_name("declarator")
        if child is not None:
            owner = re.findall(r"\w+", _text(node.child_by_field_name("receiver")))  # of a method in Go: (p *Pool)
            return ".".join([*owner[-1:], _text(child)])[:120]
    inner = next((row for row in node.children if row.type in ("variable_declarator", "type_spec")), None)
    return _name_of(inner) if inner is not None else ""
