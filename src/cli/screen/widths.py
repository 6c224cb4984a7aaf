"""widths.py OUTPUT: the tables of width.c, from the Unicode data of Python.

Python is there wherever Meson is, so the build needs no package for them and the program no library.
"""
import sys
import unicodedata

LAST = 0x10FFFF
# Format characters that are seen: the soft hyphen, and the signs that embrace the digits behind them (Prepended_Concatenation_Mark,
# which Python does not know).
SEEN = {0xAD, *range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}


def columns_of(code):
    """0, 1 or 2; None of a code point that no character has."""
    character = chr(code)
    kind = unicodedata.category(character)
    if 0x20000 <= code <= 0x3FFFD:  # planes of ideographs, also of those to come
        return 2
    if kind == "Cn":
        return None
    # Vowels and finals of Hangul are drawn into the syllable before them.
    if kind in ("Mn", "Me", "Cf") and code not in SEEN or 0x1160 <= code <= 0x11FF or 0xD7B0 <= code <= 0xD7FB:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def ranges_of(columns):
    """The ranges of code points that take so many columns. They run across code points that are not assigned."""
    found, first, last = [], None, None
    for code in range(LAST + 1):
        seen = columns_of(code)
        if seen == columns:
            first, last = code if first is None else first, code
        elif seen is not None and first is not None:
            found.append((first, last))
            first = None
    return found + [(first, last)] * (first is not None)


def main(output):
    with open(output, "w", encoding="ascii") as out:
        out.write("/* Made by src/cli/screen/widths.py from Unicode %s. */\n" % unicodedata.unidata_version)
        for name, columns in (("no_columns", 0), ("two_columns", 2)):
            out.write("static const struct range %s[] = {\n" % name)
            for first, last in ranges_of(columns):
                out.write("    { 0x%04X, 0x%04X },\n" % (first, last))
            out.write("};\n")


if __name__ == "__main__":
    main(sys.argv[1])
