"""Visible texts of a new survey: no hidden characters, and no two labels that look alike.

A label with a hidden character is another label to the program and the same one to the person, so an answer can be
counted where nobody meant it. Surveys that exist already keep their texts, since their versions depend on them; these
rules are for drafts and for what is published from now on.

Hidden are controls, characters that Unicode calls default-ignorable, and those for private use or without a meaning.
Joiners and variation selectors stay where scripts and emoji need them. Two labels look alike if they are the same
after compatibility normalization (NFKC), without ignorable characters, with one blank for several, and with letters
and marks that other scripts share written as Latin ones. That finds whole labels that most fonts show alike. It does
not find letters that are merely similar, such as ``O`` and ``0`` or ``rn`` and ``m``, and it knows only the scripts
in ``_TWINS_BY_SCRIPT``.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from fldp.support.validation import MistakeList, show

ZWNJ, ZWJ = "\u200c", "\u200d"

# Default-ignorable in Unicode, though not of the category of formats; and the blank of Braille.
_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
_BLANKS = re.compile(r"\s{2,}")
_VISIBLE_FORMATS = re.compile(
    "[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd]"
)  # signs around numbers
_SUBDIVISION_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,8}\U000e007f")  # Scotland, ...
_DIRECTION_MARKS = "\u200e\u200f\u061c"  # ordinary in long texts that mix directions; they reorder no letters

# Scripts whose letters take other forms beside each other, so that joiners between them are spelling.
_JOINING = (
    *("ARABIC", "SYRIAC", "MANDAIC", "NKO", "MONGOLIAN", "PHAGS-PA", "ADLAM", "HANIFI ROHINGYA"),
    *("DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI", "ORIYA", "TAMIL", "TELUGU", "KANNADA", "MALAYALAM", "SINHALA"),
    *("KHMER", "MYANMAR", "TIBETAN", "BALINESE", "JAVANESE", "CHAKMA"),
)  # fmt: skip

# Letters of other scripts that fonts draw as Latin ones, and marks that are drawn alike.
_TWINS_BY_SCRIPT = (
    # Cyrillic
    ("aeopcyxijshd", "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501"),
    ("qwlABEKMHOPC", "\u051b\u051d\u04cf\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421"),
    ("TYXIJSGQW", "\u0422\u0423\u0425\u0406\u0408\u0405\u050c\u051a\u051c"),
    ("vyVY", "\u0475\u04af\u0474\u04ae"),
    # Greek
    ("ABEZHIKMNOPT", "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4"),
    ("YXovpjcJC", "\u03a5\u03a7\u03bf\u03bd\u03c1\u03f3\u03f2\u037f\u03f9"),
    # Armenian
    ("uohngqOSL", "\u057d\u0585\u0570\u0578\u0581\u0566\u0555\u054f\u053c"),
    # dashes
    ("---------", "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\u02d7"),
    # slashes, colons and commas
    ("//::,,", "\u2044\u2215\u2236\ua789\u201a\u066b"),
    # apostrophes
    ("''''''''", "\u2018\u2019\u201b\u2032\u02bc\u02b9\u00b4\ua78c"),
    # quotation marks
    ('""""', "\u201c\u201d\u201e\u2033"),
)
_TWINS = str.maketrans({twin: latin for pair in _TWINS_BY_SCRIPT for latin, twin in zip(*pair, strict=True)})


def check_texts(texts: dict[str, str], mistakes: MistakeList) -> None:
    """Note hidden characters in the question and the other texts around it."""
    for key, text in texts.items():
        for place, character in hidden(text.replace("\n", " "), allowed=_DIRECTION_MARKS):
            mistakes.note((key,), f"{key} has a hidden character, {_named(character)} at {place}; leave it out")
            break


def check_labels_visible(key: str, labels: Sequence[str], mistakes: MistakeList) -> None:
    """Note labels that hide characters, have several blanks in a row, or look like another one."""
    seen: dict[str, int] = {}
    for position, label in enumerate(labels):
        mistake = _mistake(label)
        if mistake is not None:
            mistakes.note((key,), f"{key}: label {position}, {show(label)}, {mistake}")
            continue
        first = seen.setdefault(skeleton(label), position)
        if first != position:
            other = labels[first]
            mistakes.note(
                (key,),
                f"{key}: label {position}, {show(label)}, looks like label {first}, {show(other)}"
                f"{_difference(label, other)}; word one of them differently",
            )


def _mistake(label: str) -> str | None:
    for place, character in hidden(label):
        return f"has a hidden character, {_named(character)} at {place}; leave it out"
    if _BLANKS.search(label) or label != label.strip():
        return "must have single blanks, between words only"
    return None


def hidden(text: str, allowed: str = "") -> Iterator[tuple[int, str]]:
    r"""Yield the places and characters that nobody sees, or that turn what others see around.

    >>> list(hidden("a\u200bb")), list(hidden("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"))
    ([(1, '\u200b')], [])
    """
    if text.isascii() and text.isprintable():
        return
    flags = [match.span() for match in _SUBDIVISION_FLAG.finditer(text)]
    for place, character in enumerate(text):
        if character in allowed or any(start <= place < end for start, end in flags):
            continue
        if _is_hidden(character) and not _is_spelling(text, place):
            yield place, character


def _is_hidden(character: str) -> bool:
    category = unicodedata.category(character)
    if category == "Cn":
        return not _is_pictograph(character)  # this version of Python may not know the newest of them
    if category == "Cf":
        return not _VISIBLE_FORMATS.match(character)
    return category in ("Cc", "Co", "Cs", "Zl", "Zp") or bool(_IGNORABLE.match(character))


def _is_pictograph(character: str) -> bool:
    """Whether this is in the blocks that Unicode keeps for emoji, those to come included."""
    return "\U0001f000" <= character <= "\U0001faff"


def _is_emoji(character: str) -> bool:
    return _is_pictograph(character) or unicodedata.category(character) in ("So", "Sm")


def _is_spelling(text: str, place: int) -> bool:
    """Whether an invisible character is a part of how its neighbours are written."""
    character, before, after = text[place], text[place - 1 : place], text[place + 1 : place + 2]
    if not before:
        return False
    if character in (ZWJ, ZWNJ):
        return _joins(character, text[:place], after)
    if "\ufe00" <= character <= "\ufe0f":
        return _is_emoji(before) or before in "0123456789#*\u203c\u2049" or _is_ideograph(before)
    if "\U000e0100" <= character <= "\U000e01ef":
        return _is_ideograph(before)
    return "\u180b" <= character <= "\u180f" and character != "\u180e" and _name(before).startswith("MONGOLIAN LETTER")


def _joins(joiner: str, text: str, after: str) -> bool:
    """Whether a joiner stands where it may: in emoji, after a virama, or within a word of a script that joins."""
    before = text[-1]
    if unicodedata.combining(before) == 9:  # a virama: RFC 5892, appendix A
        return True
    if joiner == ZWJ and after and _is_emoji(after):
        return _is_emoji(text.rstrip("\ufe0f")[-1:] or " ")
    return bool(after) and all(_name(letter).startswith(_JOINING) and _is_letter(letter) for letter in (before, after))


def _is_letter(character: str) -> bool:
    return unicodedata.category(character)[0] in "LM"


def _is_ideograph(character: str) -> bool:
    return _name(character).startswith("CJK ")


def _name(character: str) -> str:
    return unicodedata.name(character, "")


def skeleton(label: str) -> str:
    r"""Return what a label looks like: two labels of one skeleton cannot be told apart.

    >>> skeleton("\u0440\u0430\u0443"), skeleton("18\u201324"), skeleton("\uff21\u00a0\u00a0b")
    ('pay', '18-24', 'A b')
    """
    if label.isascii():
        return label
    shown = unicodedata.normalize("NFKC", label.translate(_TWINS))
    visible = "".join(c for c in shown if not (_IGNORABLE.match(c) or unicodedata.category(c) == "Cf"))
    return " ".join(unicodedata.normalize("NFKC", visible.translate(_TWINS)).split())


def _difference(label: str, other: str) -> str:
    """Name the first character in which two labels differ that look alike."""
    for character, twin in zip(label, other, strict=False):
        if character != twin:
            return f" ({_named(character)} where the other has {_named(twin)})"
    return ""


def _named(character: str) -> str:
    """Return the code point of a character, and its name if it has one.

    >>> _named("\u200b")
    'U+200B ZERO WIDTH SPACE'
    """
    return f"U+{ord(character):04X} {_name(character)}".rstrip()
