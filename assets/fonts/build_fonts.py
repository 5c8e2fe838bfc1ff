"""Build the three merged fonts of the panel.

Dear PyGui draws a text with one font and has no fallback, so every font must hold all scripts by itself:

* `text.ttf`     Inter Regular       + CJK + emoji + icons   (text, small)
* `heading.ttf`  Inter SemiBold      + common CJK + emoji + icons   (headings, big numbers)
* `mono.ttf`     JetBrains Mono      + CJK two cells wide + emoji + icons   (paths, numbers, source)

CJK covers JIS X 0208 (Japanese), KS X 1001 (Korean) and GB 2312 (Simplified Chinese); the heading font takes only the
first level of the Chinese characters. The capitals stand in the middle of the line, so that roles can share one line;
a size in the panel is the height of a line (1.08 em for text, 1.2 em for mono). Outlines are unhinted: the rasteriser
of Dear PyGui ignores hints.

Needs `fonttools` and these sources, which are packages of Debian and npm:

    apt-get install fonts-inter fonts-jetbrains-mono fonts-noto-cjk
    npm pack @expo-google-fonts/noto-emoji lucide-static        (unpack both)

    python assets/fonts/build_fonts.py --emoji NotoEmoji_400Regular.ttf --lucide lucide-static/font

`--debian` names the folder where Debian puts fonts. The icons are those of `gui/toolkit/icons.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from gui.toolkit.icons import ICONS  # noqa: E402

EM = 1000
CAP_MIDDLE = 364  # height of the middle of a capital letter
TEXT_LINE, MONO_LINE = 1080, 1200  # height of a line
ICON_EM = 1080  # an icon fills the line
CJK_ERROR = 1.5  # how far, in units, a simplified outline may stray; Latin letters get 1.0

# Characters that must be there but show nothing: joiners, selectors, skin tones, the byte order mark.
INVISIBLE = [0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF, *range(0xFE00, 0xFE10), *range(0x1F3FB, 0x1F400)]


@dataclass(frozen=True)
class Source:
    """One font to take glyphs from; `fixed` is the advance in units of a 1000 em, 0 for its own; `zoom` scales it."""

    font: TTFont
    zoom: float = 1.0
    fixed: int = 0

    @property
    def scale(self) -> float:
        """Factor from this font's units to ours."""
        return EM / float(self.font["head"].unitsPerEm) * self.zoom


def two_byte(codec: str, rows: range) -> set[int]:
    """Code points of the given rows (1-94) of a 94 x 94 character set, as Python's codec knows it."""
    found: set[int] = set()
    for row in rows:
        for cell in range(1, 95):
            try:
                text = bytes((0xA0 + row, 0xA0 + cell)).decode(codec)
            except UnicodeDecodeError:
                continue
            found.update(ord(letter) for letter in text)
    return found


def cjk_points(common_only: bool) -> tuple[set[int], set[int], set[int]]:
    """Code points taken from the Japanese, the Korean and the Chinese face."""
    extra = {*range(0x3000, 0x3100), *range(0xFF00, 0xFFF0), *range(0x2460, 0x2500), *range(0x2500, 0x2600)}
    japanese = two_byte("euc_jp", range(1, 48 if common_only else 85)) | extra
    korean = two_byte("euc_kr", range(1, 13)) | two_byte("euc_kr", range(16, 41)) | set(range(0x3130, 0x3190))
    chinese = two_byte("gb2312", range(1, 56 if common_only else 88))
    return japanese, korean, chinese


def draw(
    source: Source, name: str, dx: float = 0.0, dy: float = 0.0, reverse: bool = False, error: float = 1.0
) -> object:
    """One glyph as quadratic outlines in our units."""
    glyphs = source.font.getGlyphSet()
    recording = DecomposingRecordingPen(glyphs)
    glyphs[name].draw(recording)
    pen = TTGlyphPen(None)
    quadratic = Cu2QuPen(pen, error, reverse_direction=reverse)
    recording.replay(TransformPen(quadratic, (source.scale, 0, 0, source.scale, dx, dy)))
    return pen.glyph()


def advance_of(source: Source, name: str) -> tuple[int, float]:
    """Advance width, and how far to shift the outline so that it stands in the middle of a fixed one."""
    own = source.font["hmtx"][name][0] * source.scale
    if not source.fixed:
        return round(own), 0.0
    return source.fixed, (source.fixed - own) / 2


class Merge:
    """Glyphs by code point; the first source that has a character wins."""

    def __init__(self) -> None:
        self.glyphs: dict[int, object] = {}
        self.widths: dict[int, int] = {}

    def take(self, source: Source, points: set[int] | None = None, below: int = 0x110000) -> int:
        """Add what `source` has of `points` (all without), skipping private-use characters; returns how many."""
        table = source.font.getBestCmap()
        reverse = "glyf" not in source.font
        taken = 0
        for point, name in table.items():
            wanted = point < below and (points is None or point in points)
            private = 0xE000 <= point < 0xF900 or point >= 0xF0000
            if not wanted or private or point < 0x20 or point in self.glyphs or point in INVISIBLE:
                continue
            width, shift = advance_of(source, name)
            self.glyphs[point] = draw(source, name, shift, reverse=reverse, error=CJK_ERROR if point > 0x2E80 else 1.0)
            self.widths[point] = width
            taken += 1
        return taken

    def take_icons(self, source: Source, names: dict[str, int]) -> None:
        """Add the icons of `gui/toolkit/icons.py`, in the middle of the capitals of the text beside them."""
        table = source.font.getBestCmap()
        for name, letter in ICONS.items():
            glyph = table[names[name]]
            dy = CAP_MIDDLE - 480 * source.scale  # Lucide draws in 0..961 of 1000
            self.glyphs[ord(letter)] = draw(source, glyph, 0.0, dy)
            self.widths[ord(letter)] = round(source.font["hmtx"][glyph][0] * source.scale)

    def save(self, path: Path, family: str, line: int) -> None:
        """Write a TrueType file that holds nothing but outlines, widths and the character map."""
        for point in INVISIBLE:
            self.glyphs[point], self.widths[point] = TTGlyphPen(None).glyph(), 0
        if 0xFFFD not in self.glyphs:  # what stands for a character that no font has: an empty square
            self.glyphs[0xFFFD], self.widths[0xFFFD] = self.glyphs[0x25A1], self.widths[0x25A1]
        if 0x09 not in self.glyphs:
            self.glyphs[0x09], self.widths[0x09] = TTGlyphPen(None).glyph(), self.widths[0x20] * 4
        order = [".notdef", *(f"u{point:04X}" for point in sorted(self.glyphs))]
        ascent, descent = CAP_MIDDLE + line // 2, CAP_MIDDLE - line // 2
        builder = FontBuilder(EM, isTTF=True)
        builder.setupGlyphOrder(order)
        builder.setupCharacterMap({point: f"u{point:04X}" for point in self.glyphs})
        outlines = {f"u{point:04X}": glyph for point, glyph in self.glyphs.items()}
        outlines[".notdef"] = self.glyphs[0xFFFD]
        builder.setupGlyf(outlines)
        widths = {f"u{point:04X}": width for point, width in self.widths.items()}
        widths[".notdef"] = self.widths[0xFFFD]
        table = builder.font["glyf"]
        builder.setupHorizontalMetrics({name: (widths[name], getattr(table[name], "xMin", 0)) for name in order})
        builder.setupHorizontalHeader(ascent=ascent, descent=descent)
        builder.setupNameTable({"familyName": family, "styleName": "Regular"})
        builder.setupOS2(sTypoAscender=ascent, sTypoDescender=descent, usWinAscent=ascent, usWinDescent=-descent)
        builder.setupPost(keepGlyphNames=False)
        builder.font["head"].created = builder.font["head"].modified = 3_786_912_000  # 2024-01-01: same bytes each time
        builder.font.recalcTimestamp = False
        builder.save(path)
        print(f"{path.name}: {len(order):,} glyphs, {path.stat().st_size / 1e6:.1f} MB")


def build(
    latin: Source, second: Source, cjk: list[TTFont], args: argparse.Namespace, *, common: bool, cell: int
) -> Merge:
    """Merge one face; `cell` is the advance of a CJK character or an emoji, 0 for its own."""
    merge = Merge()
    merge.take(latin, below=0x2E80)
    merge.take(second, below=0x2E80)
    for source in (latin, second):
        merge.take(source, {0xFFFD})
    zoom = 1.08 if cell else 1.0
    for font, points in zip(cjk, cjk_points(common), strict=True):
        merge.take(Source(font, zoom, cell), points)
    merge.take(Source(TTFont(args.emoji), 0.94, cell))
    codepoints = json.loads((args.lucide / "codepoints.json").read_text())
    merge.take_icons(Source(TTFont(args.lucide / "lucide.ttf"), ICON_EM / EM), codepoints)
    return merge


def main() -> None:
    """Build all three fonts into this folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--debian", type=Path, default=Path("/usr/share/fonts"))
    parser.add_argument("--emoji", type=Path, required=True)
    parser.add_argument("--lucide", type=Path, required=True)
    args = parser.parse_args()
    inter = args.debian / "opentype" / "inter"
    regular = Source(TTFont(inter / "Inter-Regular.otf"))
    semibold = Source(TTFont(inter / "Inter-SemiBold.otf"))
    jetbrains = args.debian / "truetype" / "jetbrains-mono"
    mono = Source(TTFont(jetbrains / "JetBrainsMono-Regular.ttf"))
    collection = args.debian / "opentype" / "noto" / "NotoSansCJK-Regular.ttc"
    cjk = [TTFont(collection, fontNumber=number) for number in (0, 1, 2)]  # Japanese, Korean, Simplified Chinese
    build(regular, mono, cjk, args, common=False, cell=0).save(HERE / "text.ttf", "Knowledge Text", TEXT_LINE)
    build(semibold, regular, cjk, args, common=True, cell=0).save(HERE / "heading.ttf", "Knowledge Heading", TEXT_LINE)
    fixed = Source(regular.font, 1.0, 600)
    build(mono, fixed, cjk, args, common=False, cell=1200).save(HERE / "mono.ttf", "Knowledge Mono", MONO_LINE)


if __name__ == "__main__":
    main()
