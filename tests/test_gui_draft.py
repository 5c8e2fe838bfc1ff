"""The text of an editor without a window: without these, a user loses letters, or the caret stands where they are
not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.toolkit.draft import (
    Draft,
    Layout,
    after_key,
    erased,
    laid,
    letter_after,
    letter_before,
    moved,
    redone,
    spanned,
    typed,
    undone,
    word_after,
    word_at,
    word_before,
)
from gui.toolkit.editor import added
from gui.toolkit.letters import parted

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
texts = st.lists(
    st.sampled_from([*"ab Z_9.,`-\n", "é", "e\u0301", "漢", "ひ", "、", "ф", "한", FAMILY, "\U0001f1ee\U0001f1f9"]),
    max_size=60,
).map("".join)
texts = texts | st.text(max_size=30)
KEYS = ["Left", "Right", "Up", "Down", "Home", "End", "Page up", "Page down", "Backspace", "Delete", "A", "Z", "Y"]
keys = st.builds(
    "".join, st.tuples(st.sampled_from(["", "Ctrl+"]), st.sampled_from(["", "Shift+"]), st.sampled_from(KEYS))
)
acts = st.lists(keys | st.tuples(st.just("type"), st.text("ab \n`漢", min_size=1, max_size=4)), max_size=25)


def wide(letter: str) -> float:
    """A font: wide letters are twice as wide."""
    return 2.0 if ord(letter) > 0x2E80 else 1.0


def rows_of(text: str, room: float = 9.0) -> list[str]:
    return [text[begin:end] for begin, end in laid(text, room, wide).rows]


@given(texts, st.floats(2.5, 30))
def test_every_letter_stands_in_one_row_that_has_room_for_it(text: str, room: float) -> None:
    """Nothing runs off the edge but blanks, no row could have taken the next word, and nothing is shown twice."""
    layout = laid(text, room, wide)
    at = 0
    for number, (begin, end) in enumerate(layout.rows):
        assert begin == at
        shown = text[begin:end].rstrip()
        if sum(parted(text, at) for at in range(begin, begin + len(shown))) > 1:
            assert layout.offsets[begin + len(shown)] - layout.offsets[begin] <= room + 1e-6, text[begin:end]
        assert parted(text, begin) and parted(text, end)
        assert layout.row_of(begin) == number
        at = end
    assert at == len(text)


@given(texts, acts, st.floats(4, 20))
def test_whatever_is_pressed_the_caret_stands_between_letters_and_all_of_it_can_be_undone(
    text: str, pressed: list[str | tuple[str, str]], room: float
) -> None:
    draft, seen = Draft(text), [text]
    for one in pressed:
        before = draft
        if isinstance(one, tuple):
            begin, end = draft.selection
            draft = typed(draft, one[1])
            assert draft.text == before.text[:begin] + one[1] + before.text[end:] and not draft.selected
        else:
            after = after_key(draft, one, laid(draft.text, room, wide), 3)
            draft = after if after is not None else draft
            if one.split("+")[-1] not in ("Backspace", "Delete", "Z", "Y"):
                assert draft.text == before.text
        assert 0 <= draft.caret <= len(draft.text) and 0 <= draft.anchor <= len(draft.text)
        assert parted(draft.text, draft.caret)
        number, far = laid(draft.text, room, wide).point(draft.caret, draft.upstream)
        assert far >= 0 and number >= 0
        seen.append(draft.text)
    undone_from = [text for text, _, _ in draft.future]
    while draft.past:
        undone_from.append(draft.text)
        draft = undone(draft)
        assert draft.text in seen
    assert draft.text == text
    while draft.future:
        draft = redone(draft)
        assert draft.text == undone_from.pop()


@given(texts)
def test_steps_by_letter_and_by_word_go_through_all_of_it_and_back(text: str) -> None:
    for there, back in ((letter_after, letter_before), (word_after, word_before)):
        at, places = 0, [0]
        while at < len(text):
            assert there(text, at) > at
            at = there(text, at)
            places.append(at)
        while at > 0:
            assert back(text, at) < at
            at = back(text, at)
            assert parted(text, at)
    at = len(text)
    while at > 0:
        assert letter_after(text, letter_before(text, at)) == at
        at = letter_before(text, at)


@given(texts, st.integers(0, 59), st.integers(0, 59), texts)
def test_a_change_is_undone_and_done_again_to_the_letter(text: str, one: int, other: int, words: str) -> None:
    draft = spanned(Draft(text), min(one, len(text)), min(other, len(text)))
    for changed in (typed(draft, words), erased(draft, 0)):
        back = undone(changed)
        if changed is not draft:
            assert (back.text, back.caret, back.anchor) == (draft.text, draft.caret, draft.anchor)
            assert redone(back).text == changed.text


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_up_and_down_keep_their_column_and_home_and_end_mean_the_row(scale: float) -> None:
    """The end of a row that only wraps is a place of its own: End must not jump to the row below."""
    text = "one two three four five six"
    layout = laid(text, 9 * scale, lambda letter: scale)
    assert [text[a:b] for a, b in layout.rows] == ["one two ", "three ", "four five ", "six"]

    def press(draft: Draft, *keys: str) -> Draft:
        for key in keys:
            after = after_key(draft, key, layout)
            assert after is not None, key
            draft = after
        return draft

    begun = moved(Draft(text), 4)
    assert press(begun, "Down", "Down").caret == 18 and press(begun, "Down", "Down", "Down").caret == 27
    assert press(begun, "Home").caret == 0 and press(begun, "Up").caret == 0
    end = press(begun, "End")
    assert end.caret == 8 and layout.point(end.caret, end.upstream)[0] == 0
    assert press(end, "Right").caret == 9 and press(end, "Home").caret == 0
    assert press(begun, "Ctrl+End").caret == len(text) and press(begun, "Ctrl+End", "Ctrl+Home").caret == 0
    assert press(begun, "Ctrl+Shift+End", "Backspace").text == "one "
    assert press(begun, "Shift+Right", "Shift+Right").selected == "tw" and press(begun, "Ctrl+A").selected == text


def test_words_of_several_scripts_and_what_two_clicks_take() -> None:
    text = "don't use `git push` 漢字、かな"
    assert word_at(text, 12) == (11, 14) and word_at(text, 1) == (0, 3)
    assert word_after(text, 6) == 10 and word_before(text, 10) == 6
    assert letter_after("e\u0301x", 0) == 2 and letter_after(FAMILY + "x", 0) == len(FAMILY)
    assert rows_of("漢字かな、漢字") == ["漢字か", "な、漢字"], "no row begins with a comma"


def test_a_word_is_undone_at_once_and_a_rest_of_the_caret_parts_two_changes() -> None:
    draft = Draft()
    for letter in "one two":
        draft = typed(draft, letter)
    assert undone(draft).text == "one " and undone(undone(draft)).text == ""
    draft = typed(moved(draft, 3), "s")
    assert undone(draft).text == "one two"
    for _ in range(3):
        draft = erased(draft, letter_before(draft.text, draft.caret))
    assert draft.text == "o two" and undone(draft).text == "ones two"


@given(st.text("ab漢 ", max_size=8), st.integers(0, 8), st.text("ab漢 ", max_size=4))
def test_what_a_hosts_field_caught_is_what_was_typed(before: str, at: int, words: str) -> None:
    at = min(at, len(before))
    found = added(before, before[:at] + words + before[at:])
    assert sorted(found) == sorted(words)
    assert added(before, before[:at]) == ""


def test_a_layout_is_plain_data() -> None:
    layout = laid("aaaa b", 3, wide)
    assert isinstance(layout, Layout) and [tuple(row) for row in layout.rows] == [(0, 3), (3, 6)]
    assert layout.point(3) == (1, 0.0) and layout.place(0, 99) == (3, True) and layout.place(7, 0) == (3, False)


def test_home_and_end_go_to_the_row_and_then_to_the_whole() -> None:
    """A long text is in several rows, and hands know a key for the beginning of either."""
    draft, layout = moved(Draft("aaa bbb ccc ddd eee fff"), 22), laid("aaa bbb ccc ddd eee fff", 8, wide)
    assert rows_of(draft.text, 8) == ["aaa bbb ", "ccc ddd ", "eee fff"]
    for keys, place in (("Home", 16), ("Home", 0), ("Home", 0), ("End", 8), ("End", 23), ("End", 23), ("Home", 16)):
        draft = after_key(draft, keys, layout) or draft
        assert draft.caret == place and not draft.selected, keys
    draft = after_key(after_key(draft, "Shift+Home", layout) or draft, "Shift+Home", layout) or draft
    assert draft.selected == "aaa bbb ccc ddd "
