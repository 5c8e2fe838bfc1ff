"""How the user says that a thing has to be: kept where work followed, and nothing that only the moment wants."""

from __future__ import annotations

import pytest

from core.conversations.conversation import Conversation
from core.offline import wishes
from core.offline.rules import distil_offline
from core.offline.wishes import MAX_WANTED
from tests.cpu_time import grows_faster
from tests.test_offline_person import edited, harvest, ran, says, user

START = (user("rates"), edited("feed.py"), says("Done."))


def wanted(*texts: str) -> list[dict[str, str]]:
    """What is kept of these messages, each followed by work."""
    turns = [turn for text in texts for turn in (user(text), edited("feed.py"), says("OK"))]
    return harvest(*START, *turns)["decisions"]


WANTED = {
    "en": "When a bank sends no date, `feed.py` should take the date of its file.",
    "de": "Wenn eine Bank nichts schickt, soll `feed.py` das Datum der Datei nehmen.",
    "fr": "Les taux de `feed.py` doivent avoir deux chiffres.",
    "es": "Los tipos de `feed.py` tienen dos cifras y la fecha debe ser la del archivo.",
    "zh": "银行没有给日期时，`feed.py` 应使用文件的日期。",
    "ja": "銀行が日付を送らないとき、`feed.py` はファイルの日付を使うようにしてください。",
    "ko": "은행이 날짜를 보내지 않으면 `feed.py`는 파일의 날짜를 써야 합니다.",
}


@pytest.mark.parametrize("language", WANTED)
def test_how_a_thing_has_to_be_is_kept_in_seven_languages(language: str) -> None:
    (row,) = wanted(WANTED[language])
    assert row["statement"] == WANTED[language] == row["quote"]
    assert row["detail"] == "wanted by the person, worked on in `feed.py`"


@pytest.mark.parametrize(
    ("before", "statement"),
    [
        ("can you make sure that ", "`feed.py` takes only one date"),
        ("maybe you should make it so ", "The bank's name has to be given to `load`"),
        ("Please ", "Use `rates.csv` as the source of `load`."),
        ("the list is fine. ", "Rates of `bank.py` need to be sorted by date"),
        ("", "We don't want a limit in `load`."),
        ("", "We want the rates of `load` to be those of the bank."),
        ("", "If the value of a rate is negative, the list has to show brackets around its amount"),
    ],
)
def test_a_wish_stands_without_what_is_said_around_it(before: str, statement: str) -> None:
    text = before + (statement if not before else statement[0].lower() + statement[1:])
    assert [row["statement"] for row in wanted(text)] == [statement]


@pytest.mark.parametrize(
    "text",
    [
        "should `feed.py` take the date of the file, and only that?",
        "还有什么地方的 `feed.py` 应该改吗",
        "fix `feed.py`, the rates have to be rounded",
        "run only the tests of `feed.py` and not the slow ones",
        "It should take the date of `feed.py` from the file name",
        "`feed.py` only gives an error for the second bank",
        "`feed.py` needs to be changed for the other banks",
        "`feed.py` should perhaps take the date of its file",
        "The page of `feed.py` says that rates must be rounded",
        "Rates must be written as [what the bank sends] in `feed.py`",
        "make the heading of the page a bit darker without any lines around the box",
        "only edit feed.py",
        "keep the comments of the bank",
        "For now `feed.py` should take the date of its file",
        "We want to talk to the bank about `feed.py`",
        "the rates of `feed.py` don't show up in the list of the bank",
        "add a test to `feed.py` so that the date is seen",
        "When reading `feed.py`, make sure to keep to its style",
        "Write to `rates.txt` the word hello only",
        "The following list of `feed.py` should have no doubles",
        "The footer of the page should be bold and have no margin at all",
        "`feed.py` feels slow, so that should not be so",
        "The rates of the bank should have a name and not a number",
        "When `load` runs, it should not touch the rates",
        "Rates of ____ need to be read by `feed.py`",
        "In `feed.py` around lines 12 - 20, the date should be taken from the file.\n\nlet's discuss",
        "`feed.py` should not log so much\n\nUncaught TypeError: rates is undefined\n    at load (rates.js:12:5)",
    ],
)
def test_what_the_moment_wants_is_no_wish(text: str) -> None:
    assert wanted(text) == []


def test_how_a_thing_is_comes_in_as_a_fact() -> None:
    text = "Um, the second value of `load` is the bank, not the date."
    found = harvest(*START, user(text), edited("feed.py"), says("OK"))
    assert found["decisions"] == [] and found["facts"][0]["detail"] == "told by the person"


def test_of_two_wishes_that_say_the_same_the_longer_is_kept() -> None:
    longer = "When a bank sends negative rates, `feed.py` should show brackets around their values."
    found = wanted("`feed.py` should show brackets around negative values.", longer)
    assert [row["quote"] for row in found] == [longer]


@pytest.mark.parametrize(
    ("first", "title"),
    [
        ("Read the rates of all banks.", " in “Read the rates of all banks”"),
        ("look at /home/m/rates/feed.py and the rest", ""),
        ("rates", ""),
    ],
)
def test_a_wish_names_what_the_session_was_for_where_that_is_a_sentence(first: str, title: str) -> None:
    (row,) = harvest(user(first), says("OK"), user(WANTED["en"]), edited("feed.py"), says("OK"))["decisions"]
    assert row["detail"] == f"wanted by the person{title}, worked on in `feed.py`"


def test_a_wish_that_nobody_worked_on_is_not_kept() -> None:
    text = WANTED["en"]
    chat = Conversation("c", "chatgpt", (user("rates"), says("Yes."), user(text), says("OK.")))
    assert distil_offline(chat)["decisions"] == []
    assert harvest(*START, user(text), says("I would do that."))["decisions"] == []
    assert len(harvest(user("rates"), ran("ls"), says("Here."), user(text), says("```py\nx\n```"))["decisions"]) == 1


@pytest.mark.parametrize(
    ("later", "kept"),
    [
        ("revert that, `feed.py` is fine", 0),
        ("turns out I didn't need the change to `feed.py`", 0),
        ("no, `feed.py` does not take it, use the date of its file instead", 1),
    ],
)
def test_a_wish_that_is_taken_back_is_not_kept_and_one_that_is_said_again_is(later: str, kept: int) -> None:
    found = [row for row in wanted(WANTED["en"], later) if row["quote"] == WANTED["en"]]
    assert len(found) == kept


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("shouldn't we take the date of the bank in `load`?", "Take the date of the bank in `load`"),
        (
            "I doubt these, maybe we just need one test of what `load` sets?",
            "We just need one test of what `load` sets",
        ),
        ("I think we take the date in `load` now, right?", "We take the date in `load` now"),
        ("should we run `load` once more?", ""),
        ("shouldn't we read the date of the bank?", ""),
    ],
)
def test_a_wish_in_the_form_of_a_question_counts_where_work_follows(text: str, statement: str) -> None:
    assert [row["statement"] for row in wanted(text)] == [statement] * bool(statement)
    assert harvest(*START, user(text), says("Yes."), user("go on"), edited("feed.py"), says("OK"))["decisions"] == []


def test_of_many_wishes_the_last_are_kept() -> None:
    said = [
        ("dates", "load"),
        ("banks", "list"),
        ("names", "show"),
        ("codes", "read"),
        ("sums", "feed"),
        ("keys", "save"),
    ]
    texts = [f"The {what} of `{name}.py` should go by {what[:-1]}_{name}" for what, name in said[: MAX_WANTED + 2]]
    assert [row["quote"] for row in wanted(*texts)] == texts[2:]


def test_a_long_request_is_read_whole_where_it_names_pictures_and_how_a_command_is_called() -> None:
    more = "The banks send their rates once a day and nobody looks at them before noon. " * 14
    text = f"""We want a new command. {more}

It is in the picture [Image #1] that I took at the bank.

The code of `load <bank>` and of the list should be one, without copies.

All good?"""
    assert [row["statement"] for row in wanted(text)] == [
        "The code of `load <bank>` and of the list should be one, without copies."
    ]


def test_the_items_below_a_heading_of_limits_are_wishes() -> None:
    limits = "Constraints:\n- Preserve the order of the `BANKS` list\n\n"
    text = f"Sort the rates of `load`.\n\n{limits}Steps:\n- Begin with `load`, then `list_rates`"
    assert [row["statement"] for row in wanted(text)] == ["Preserve the order of the `BANKS` list"]


@pytest.mark.parametrize(
    "texts",
    [
        ("금리 `a.py`는 두 자리로 해야 합니다.", "`b.py`의 날짜는 파일 날짜만 써야 합니다."),
        ("`a.py` 的 金额 只 保留 两位，不要 舍入 到 整数。", "`feed.py` 的 日期 应 用 文件 的 日期。"),
        ("`a.py` has to be at 3 and not at 5 or 6", WANTED["en"]),
        ("Always use tabs in the `Makefile`.", "Always use spaces in the `*.py` files."),
        ("Never push to the branch `main` by hand.", "Never write to the table `rates` by hand."),
        (WANTED["en"], "`feed.py` should no longer read the cache of yesterday's rates"),
    ],
)
def test_a_wish_of_another_thing_takes_none_away(texts: tuple[str, str]) -> None:
    assert [row["quote"] for row in wanted(*texts)] == list(texts)


@pytest.mark.parametrize(
    "text",
    [
        "Im Modul `feed.py` sollen die Kurse nach Datum sortiert werden.",
        "Die Kurse in `feed.py` müssten nach Datum sortiert sein.",
        "Die Kurse in `feed.py` dürfen später nicht gerundet werden.",
        "Los tipos de `feed.py` deberían tener dos cifras.",
        "Los tipos de `feed.py` tienen que tener dos cifras.",
    ],
)
def test_a_wish_about_many_things_is_kept_like_that_about_one(text: str) -> None:
    assert [row["statement"] for row in wanted(text)] == [text]


def test_what_somebody_else_answered_is_no_wish() -> None:
    assert wanted("A forum answered: `load` should always be called with the bank's key and never without") == []


def test_a_rule_for_the_same_thing_takes_the_place_of_the_first() -> None:
    texts = ("Always use tabs in the `Makefile`.", "Always use spaces in the `Makefile`.")
    assert [row["quote"] for row in wanted(*texts)] == [texts[1]]


@pytest.mark.parametrize(
    "later", ["undo the last commit. And `feed.py` has one test too few", "No longer an error.\nnow `feed.py`"]
)
def test_only_a_sentence_that_names_the_thing_takes_its_wish_back(later: str) -> None:
    assert WANTED["en"] in [row["quote"] for row in wanted(WANTED["en"], later)]


def test_commas_and_blank_lines_cost_no_more_than_words() -> None:
    def question(commas: int) -> None:
        wishes._suggested("`load` " + ", " * commas + "?")

    def message(lines: int) -> None:
        wishes._OF_REVIEW.search("load" + "\n" * lines + "rates")

    assert not grows_faster(lambda: question(60), lambda: question(480), 24)
    assert not grows_faster(lambda: message(1000), lambda: message(16_000), 40)
