"""What Python makes when a module is loaded, put off until it is first used.

It compiles a regular expression in a tenth of a millisecond to ten, and the methods of a dataclass in half of one, for
which it loads two libraries first. The tables of this program hold hundreds of expressions and its modules hundreds of
records, and a command that adds one line needs a handful of them: all together took longer than everything else that
it does.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from dataclasses import asdict, dataclass, field, replace

    __all__ = ["asdict", "dataclass", "field", "late", "replace"]


# --- expressions -----------------------------------------------------------------------------------------------------


class _Late:
    """Stands for a pattern: the first look at any of its attributes compiles it, every other finds what is there."""

    def __init__(self, expression: str, flags: int) -> None:
        self._made_from = (expression, flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(re.compile(*self._made_from), name)
        setattr(self, name, found)
        return found


def late(expression: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, put off. Only its methods and attributes may be used: `re.sub(late(…), …)` does not know it."""
    return cast("re.Pattern[str]", _Late(expression, flags))


# --- records ---------------------------------------------------------------------------------------------------------

_SPECIAL = ("ClassVar", "InitVar", "KW_ONLY", "typing.", "dataclasses.", '"', "'")
"""Annotations that begin so say more to `dataclasses` than a type."""
_NAMED = {"self", "_assign", "_factories", "_Factory"}
"""What the text of a method calls its own: a field cannot be called so."""


class _Factory:
    """The default of a field that is made anew for each record."""

    def __init__(self, make: Callable[[], object]) -> None:
        self.make = make


class _Shape:
    """What a record is made of."""

    def __init__(self, kind: type, frozen: bool) -> None:
        self.kind, self.frozen = kind, frozen
        own = vars(kind)
        self.notes: dict[str, str] = own["__annotations__"]
        self.fields = tuple(self.notes)
        given = {name: own[name] for name in self.fields if name in own}
        self.factories = {name: value.make for name, value in given.items() if isinstance(value, _Factory)}
        self.values = {name: value for name, value in given.items() if name not in self.factories}

    def all_of(self, one: str) -> str:
        return f"({''.join(f'{one}.{name},' for name in self.fields)})"

    def text_of(self, method: str) -> str:
        """The method in Python; `_assign`, `_factories` and `_Factory` are handed to it."""
        if method == "__repr__":
            shown = "', '".join(f"{name}={{self.{name}!r}}" for name in self.fields).replace("', '", ", ")
            return f"def __repr__(self):\n  return f'{{self.__class__.__qualname__}}({shown})'"
        if method == "__eq__":
            same = f"{self.all_of('self')} == {self.all_of('other')}"
            kinds = "other.__class__ is self.__class__"
            return f"def __eq__(self, other):\n  return {same} if {kinds} else NotImplemented"
        if method == "__hash__":
            return f"def __hash__(self):\n  return hash({self.all_of('self')})"
        optional = {**self.values, **self.factories}
        head = ", ".join(["self", *(f"{name}=None" if name in optional else name for name in self.fields)])
        made = [f"if {name} is _Factory: {name} = _factories[{name!r}]()" for name in self.factories]
        made += [f"_assign(self, {name!r}, {name})" for name in self.fields]
        made += ["self.__post_init__()"] * hasattr(self.kind, "__post_init__")
        return f"def __init__({head}):\n  " + "\n  ".join(made)


class _LateMethod:
    """A method of a record, compiled when it is first looked up, on the class or on one of its instances."""

    def __init__(self, shape: _Shape, name: str) -> None:
        self._shape, self._name = shape, name

    def __get__(self, one: object, owner: type) -> Any:
        shape, name, kind = self._shape, self._name, self._shape.kind
        text = f"def make(_assign, _factories, _Factory):\n {shape.text_of(name)}\n return {name}"
        space: dict[str, Any] = {}
        exec(text, vars(sys.modules[kind.__module__]), space)  # as `dataclasses` does
        made = space["make"](object.__setattr__, shape.factories, _Factory)
        made.__qualname__ = f"{kind.__qualname__}.{name}"
        if name == "__init__":
            defaults = {**shape.values, **dict.fromkeys(shape.factories, _Factory)}
            made.__defaults__ = tuple(defaults[field] for field in shape.fields if field in defaults)
            made.__annotations__ = {**shape.notes, "return": None}
        setattr(kind, name, made)
        return made.__get__(one, owner)


class _LateFields:
    """What `dataclasses` knows of a record, made when somebody asks for it: `asdict`, `fields`, a class below it."""

    def __init__(self, shape: _Shape) -> None:
        self.shape = shape

    def __get__(self, one: object, owner: type) -> Any:
        import dataclasses

        shape: _Shape = self.shape
        kind: Any = shape.kind
        body = {"__annotations__": shape.notes, "__module__": kind.__module__, "__doc__": kind.__doc__, **shape.values}
        body |= {name: dataclasses.field(default_factory=make) for name, make in shape.factories.items()}
        made: Any = dataclasses.dataclass(frozen=shape.frozen)(type(kind.__name__, (), body))
        kind.__dataclass_params__ = made.__dataclass_params__
        kind.__dataclass_fields__ = made.__dataclass_fields__
        return made.__dataclass_fields__


def _late_dataclass(kind: Any, frozen: bool) -> Any:
    """The class with the methods of a dataclass."""
    shape = _Shape(kind, frozen)
    for name in shape.factories:
        delattr(kind, name)
    for name in ("__init__", "__repr__", "__eq__", *["__hash__"] * frozen):
        if name not in kind.__dict__:
            setattr(kind, name, _LateMethod(shape, name))

    def refuse(self: object, name: str, *value: object) -> None:
        from dataclasses import FrozenInstanceError

        if type(self) is kind or name in shape.fields:
            raise FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")
        (object.__setattr__ if value else object.__delattr__)(self, name, *value)

    if frozen:
        kind.__setattr__ = kind.__delattr__ = refuse
    else:
        kind.__hash__ = None
    for name, value in (("__match_args__", shape.fields), ("__dataclass_fields__", _LateFields(shape))):
        setattr(kind, name, value)
    return kind


def _is_plain(kind: type, options: dict[str, bool]) -> bool:
    """Whether a class has nothing of which only `dataclasses` knows what it means."""
    own = kind.__dict__
    notes = own.get("__annotations__", {})
    values = [own[name] for name in notes if name in own]
    begun = [name in own for name in notes]
    return (
        options in ({}, {"frozen": True})
        and bool(notes)
        and begun == sorted(begun)
        and all(isinstance(note, str) and not note.startswith(_SPECIAL) for note in notes.values())
        and not any(type(one).__hash__ is None or hasattr(type(one), "__set__") for one in values)
        and not any(type(one).__name__ == "Field" for one in values)
        and not _NAMED & notes.keys()
        and not any("__setattr__" in vars(base) for base in kind.__mro__[:-1])
        and not {"__delattr__", "__hash__", "__eq__", "__slots__"} & own.keys()
        and not any(hasattr(base, "__dataclass_fields__") for base in kind.__mro__[1:])
    )


if not TYPE_CHECKING:

    def dataclass(kind: type | None = None, /, **options: bool) -> Any:
        """As in `dataclasses`; the methods of a plain one are made when they are first used."""

        def made(kind: type) -> type:
            if _is_plain(kind, options):
                return _late_dataclass(kind, bool(options))
            import dataclasses

            for name, value in [*vars(kind).items()]:
                if isinstance(value, _Factory):
                    setattr(kind, name, dataclasses.field(default_factory=value.make))
            return dataclasses.dataclass(**options)(kind)

        return made if kind is None else made(kind)

    def field(**options: Any) -> Any:
        """As in `dataclasses`."""
        if options.keys() == {"default_factory"}:
            return _Factory(options["default_factory"])
        if options.keys() == {"default"}:
            return options["default"]
        import dataclasses

        return dataclasses.field(**options)

    def asdict(record: Any) -> dict[str, Any]:
        """As in `dataclasses`."""
        import dataclasses

        return dataclasses.asdict(record)

    def replace(record: Any, /, **changes: Any) -> Any:
        """As in `dataclasses`."""
        kind = type(record)
        late_fields = kind.__dict__.get("__dataclass_fields__")
        if isinstance(late_fields, _LateFields):
            return kind(**{name: getattr(record, name) for name in late_fields.shape.fields} | changes)
        import dataclasses

        return dataclasses.replace(record, **changes)
