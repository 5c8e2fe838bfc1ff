"""From the source of a module to its mutants: one small change each."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

_COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.Mod: ast.Mult,
}


class Mutant(NamedTuple):
    """One change: `line` to `end` are the lines of the statement it is in, `inside` the function ("" for none),
    `what` says it in words and `source` is the whole module with it."""

    line: int
    end: int
    inside: str
    what: str
    source: str

    @property
    def key(self) -> str:
        """A name that stays when lines are added above."""
        return f"{self.inside or '<module>'}: {self.what}"


def mutants_of(source: str) -> list[Mutant]:
    """All mutants of a module, in the order of its lines; equal ones in one function get a number."""
    tree = ast.parse(source)
    made: list[Mutant] = []
    seen: dict[str, int] = {}
    for place, statement, inside in _places(tree):
        for what, change in _changes(place):
            mutated = copy.deepcopy(tree)
            twin = _twin(tree, mutated, place)
            change(twin, mutated)
            try:
                text = ast.unparse(ast.fix_missing_locations(mutated))
                compile(text, "mutant", "exec")
            except (SyntaxError, ValueError, AttributeError):
                continue
            number = seen[f"{inside}{what}"] = seen.get(f"{inside}{what}", 0) + 1
            label = what if number == 1 else f"{what} #{number}"
            made.append(Mutant(statement.lineno, statement.end_lineno or statement.lineno, inside, label, text))
    return made


def _places(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.stmt, str]]:
    """Every node that may be changed, with the smallest statement around it and the function it is in."""

    def walk(node: ast.AST, statement: ast.stmt | None, inside: str) -> Iterator[tuple[ast.AST, ast.stmt, str]]:
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_comment", "bases"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if not isinstance(child, ast.AST):
                    continue
                now = child if isinstance(child, ast.stmt) else statement
                within = inside
                if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                    within = f"{inside}.{child.name}".lstrip(".")
                if now is not None and not _is_text_for_people(child):
                    yield child, now, within
                if not isinstance(child, (ast.JoinedStr, ast.Import, ast.ImportFrom)) and not _is_docstring(child):
                    yield from walk(child, now, within)

    yield from walk(tree, None, "")


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_text_for_people(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and (" " in node.value or not node.value)


def _twin(tree: ast.AST, other: ast.AST, node: ast.AST) -> ast.AST:
    return next(theirs for ours, theirs in zip(ast.walk(tree), ast.walk(other), strict=True) if ours is node)


def _put(tree: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if value is old:
                setattr(node, name, new)
            elif isinstance(value, list) and any(row is old for row in value):
                setattr(node, name, [new if row is old else row for row in value])


def _changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """What can be done to one node: words for it, and a function of its twin in a copy of the tree."""
    shown = _short(node)
    match node:
        case ast.Compare(ops=[op]) if type(op) in _COMPARE:
            other = _COMPARE[type(op)]
            yield f"{other.__name__} in {shown}", lambda twin, tree: setattr(twin, "ops", [other()])
        case ast.BoolOp(op=op):
            turned = ast.Or if isinstance(op, ast.And) else ast.And
            yield f"{turned.__name__} in {shown}", lambda twin, tree: setattr(twin, "op", turned())
            for at in range(len(node.values)):
                yield f"without part {at + 1} of {shown}", lambda twin, tree, at=at: twin.values.pop(at)
        case ast.BinOp(op=sign) if type(sign) in _ARITHMETIC:
            swapped = _ARITHMETIC[type(sign)]
            yield f"{swapped.__name__} in {shown}", lambda twin, tree: setattr(twin, "op", swapped())
        case ast.Constant(value=bool(value)):
            yield f"{not value} for {shown}", lambda twin, tree: setattr(twin, "value", not value)
        case ast.Constant(value=int(number)):
            yield f"{number + 1} for {shown}", lambda twin, tree: setattr(twin, "value", number + 1)
        case ast.Constant(value=str(text)):
            yield f"other text for {shown}", lambda twin, tree: setattr(twin, "value", f"XX{text}")
        case ast.Constant(value=bytes(raw)):
            yield f"other bytes for {shown}", lambda twin, tree: setattr(twin, "value", b"XX" + raw)
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            told = f"negated: {_short(test)}"
            yield told, lambda twin, tree: setattr(twin, "test", ast.UnaryOp(ast.Not(), twin.test))
        case ast.comprehension(ifs=[_, *_]):
            yield f"without the filter of {shown}", lambda twin, tree: setattr(twin, "ifs", [])
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield f"None for {shown}", lambda twin, tree: setattr(twin, "value", ast.Constant(None))
        case ast.Raise() | ast.Break():
            yield f"left out: {shown}", lambda twin, tree: _put(tree, twin, ast.Pass())
        case ast.Continue():
            yield "break for continue", lambda twin, tree: _put(tree, twin, ast.Break())
        case ast.Expr(value=ast.Call()) | ast.AugAssign():
            yield f"left out: {shown}", lambda twin, tree: _put(tree, twin, ast.Pass())
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield f"left out: {shown}", lambda twin, tree: _put(tree, twin, ast.Pass())


def _short(node: ast.AST) -> str:
    text = " ".join((ast.unparse(node) if not isinstance(node, ast.comprehension) else "a comprehension").split())
    return text if len(text) <= 70 else text[:69] + "…"
