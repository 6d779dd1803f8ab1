"""How hard a text is to read: the grade of Flesch and Kincaid (1975), which is about the years of school it takes.

0.39 words per sentence + 11.8 syllables per word - 15.59. As Flesch says, a sentence is what a period, a colon, a
semicolon, a question or an exclamation mark ends. Syllables are counted by groups of vowels, without a silent e.
"""

import re

_WORD = re.compile(r"[A-Za-z][A-Za-z'\u2019-]*|\d[\d.,]*")
_END = re.compile(r"(?<=[.!?:;])\s+|\n+")


def syllables(word):
    """Count the syllables of a word; a number counts as one that is spoken short.

    >>> [syllables(word) for word in ("report", "answer", "device", "noise", "privacy", "chosen", "people", "stored")]
    [2, 2, 2, 1, 3, 2, 2, 1]
    """
    if not word[0].isalpha():
        return 1
    word = re.sub(r"(?<=[a-z])(?:es|ed)$", lambda end: _kept(word.lower(), end[0]), word.lower())
    word = re.sub(r"(?<![aeiouyl])e$|(?<=[aeiouy])le$|(?<=[^aeiouyl]l)(?<!l)e$", "", word) if len(word) > 2 else word
    return max(1, len(re.findall(r"[aeiouy]+", word)))


def _kept(word, end):
    """Keep an ending that is spoken: "started", "changes"."""
    stem = word[: -len(end)]
    spoken = stem.endswith(("t", "d")) if end == "ed" else stem.endswith(("s", "x", "z", "ch", "sh", "g", "c"))
    return end if spoken else "" if end == "ed" else "s"


def sentences(text):
    return [part for part in _END.split(text) if _WORD.search(part)]


def grade(text):
    words = _WORD.findall(text)
    return 0.39 * len(words) / len(sentences(text)) + 11.8 * sum(map(syllables, words)) / len(words) - 15.59
