"""Records whose methods are made late behave as those of `dataclasses`, to the words of their errors."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from core.base import late

T = TypeVar("T")


def same(number: int) -> int:
    return number


def made(dataclass: Any, field: Any) -> dict[str, Any]:
    """The same classes, made by one or the other."""

    @dataclass(frozen=True)
    class Plain(Generic[T]):
        """A record."""

        first: T
        words: str = "none"
        rows: tuple[int, ...] = ()

        @property
        def twice(self) -> str:
            return self.words * 2

        @cached_property
        def length(self) -> int:
            return len(self.words)

    @dataclass(frozen=True)
    class Filled:
        names: list[str] = field(default_factory=list)
        change: Callable[[int], int] = field(default=same)
        total: int = 0

        def __post_init__(self) -> None:
            if self.total < 0:
                raise ValueError("below nothing")

        def __repr__(self) -> str:
            return "its own"

    @dataclass
    class Open:
        words: str
        names: dict[str, int] = field(default_factory=dict)

    @dataclass(frozen=True)
    class Below(Filled):
        more: str = "more"

    @dataclass(frozen=True)
    class Special:
        kind: ClassVar[str] = "special"
        words: str = "w"

    @dataclass(frozen=True, order=True)
    class Ordered:
        number: int

    @dataclass
    class Named:
        self: int
        _assign: int
        _factories: int
        _Factory: list[int] = field(default_factory=list)

    class Counting:
        def __setattr__(self, name: str, value: int) -> None:
            object.__setattr__(self, name, value + 1)

    @dataclass
    class Counted(Counting):
        number: int

    return {one.__name__: one for one in (Plain, Filled, Open, Below, Special, Ordered, Named, Counted)}


REAL, LATE = made(dataclasses.dataclass, dataclasses.field), made(late.dataclass, late.field)


def told(work: Callable[[], Any]) -> Any:
    """What comes of it, or the error."""
    try:
        found = work()
    except (TypeError, ValueError, AttributeError) as error:
        return type(error), str(error).replace("made.<locals>.", "")
    return found if not hasattr(type(found), "__dataclass_fields__") else (type(found).__name__, vars(found))


QUESTIONS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "repr": lambda of: repr(of["Plain"](1, "a")),
    "own repr": lambda of: repr(of["Filled"]()),
    "values": lambda of: of["Plain"](1, rows=(2,)),
    "missing": lambda of: of["Plain"](),
    "too many": lambda of: of["Plain"](1, 2, 3, 4),
    "unknown": lambda of: of["Plain"](1, none=2),
    "equal": lambda of: (of["Plain"](1) == of["Plain"](1), of["Plain"](1) == of["Plain"](2), of["Plain"](1) == (1,)),
    "not a number": lambda of: (lambda nan: of["Plain"](nan) == of["Plain"](nan))(float("nan")),
    "hash": lambda of: hash(of["Plain"](1, "a")) == hash((1, "a", ())),
    "hash of a list": lambda of: hash(of["Filled"]()),
    "hash of an open one": lambda of: hash(of["Open"]("a")),
    "equal open ones": lambda of: of["Open"]("a") == of["Open"]("a"),
    "open": lambda of: (lambda one: [setattr(one, "words", "b"), one.words, repr(one)])(of["Open"]("a")),
    "frozen": lambda of: setattr(of["Plain"](1), "words", "b"),
    "frozen to more": lambda of: setattr(of["Plain"](1), "more", "b"),
    "frozen to deletion": lambda of: delattr(of["Plain"](1), "words"),
    "frozen below": lambda of: setattr(of["Below"](), "total", 1),
    "below": lambda of: of["Below"](["a"], more="b"),
    "checked": lambda of: of["Filled"](total=-1),
    "a list of its own": lambda of: of["Filled"]().names is of["Filled"]().names,
    "a function": lambda of: of["Filled"]().change(3),
    "no list on the class": lambda of: of["Filled"].names,
    "cached": lambda of: (of["Plain"](1, "abc").length, of["Plain"](1).twice),
    "equal where one has cached": lambda of: (lambda one: (one.length, one == of["Plain"](1)))(of["Plain"](1)),
    "asdict": lambda of: dataclasses.asdict(of["Plain"](of["Open"]("x", {"a": 1}))),
    "fields": lambda of: [(one.name, one.type, one.default) for one in dataclasses.fields(of["Plain"])],
    "is one": lambda of: [dataclasses.is_dataclass(one) for one in of.values()],
    "replace": lambda of: dataclasses.replace(of["Plain"](1), words="b"),
    "replace wrongly": lambda of: dataclasses.replace(of["Plain"](1), none="b"),
    "replace checks": lambda of: dataclasses.replace(of["Filled"](), total=-1),
    "signature": lambda of: str(inspect.signature(of["Plain"])),
    "match": lambda of: of["Plain"].__match_args__,
    "special": lambda of: of["Special"](),
    "names of ours": lambda of: of["Named"](1, 2, 3),
    "set in its own way": lambda of: of["Counted"](1),
    "order": lambda of: of["Ordered"](1) < of["Ordered"](2),
    "copy": lambda of: copy.deepcopy(of["Plain"]([1])),
    "doc": lambda of: of["Plain"].__doc__,
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_late_record_answers_as_one_of_the_standard_library(name: str) -> None:
    """The first question of a class makes its methods: each is asked of classes that nobody has used, and once more."""
    fresh = made(late.dataclass, late.field)
    for of in (fresh, fresh, LATE):
        assert told(lambda of=of: QUESTIONS[name](of)) == told(lambda: QUESTIONS[name](REAL))


def test_our_own_replace_is_that_of_the_standard_library() -> None:
    for of in (REAL, made(late.dataclass, late.field)):
        plain, filled = of["Plain"](1), of["Filled"]()
        assert vars(late.replace(plain, words="b")) == {"first": 1, "words": "b", "rows": ()}
        with pytest.raises(ValueError, match="below nothing"):
            late.replace(filled, total=-1)
        assert late.asdict(of["Open"]("a")) == {"words": "a", "names": {}}


@late.dataclass(frozen=True)
class Sent:
    """One that goes to another process."""

    words: str
    number: int = 0


def test_one_that_comes_from_another_process_is_equal_before_any_was_made_here() -> None:
    data = pickle.dumps(Sent("a"))
    assert pickle.loads(data) == pickle.loads(data) and repr(pickle.loads(data)) == "Sent(words='a', number=0)"


def test_nothing_is_made_before_it_is_needed() -> None:
    """A start loads hundreds of records and uses a few: what it does not use must cost it next to nothing."""
    unused = made(late.dataclass, late.field)["Plain"]
    kept = {name for name, value in vars(unused).items() if type(value).__name__ == "_LateMethod"}
    assert kept == {"__init__", "__repr__", "__eq__", "__hash__"}
    unused(1)
    assert [type(vars(unused)[name]).__name__ for name in ("__init__", "__eq__")] == ["function", "_LateMethod"]
