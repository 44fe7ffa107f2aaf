"""Look up symbols of units, which may differ only in case: "mJ" and "MJ", "Mb" and "MB".

One table lists the symbols. A symbol in exactly the case of the table has that meaning. In any
other case ("5 mb", "10 KHZ") it is read as the most usual symbol of these letters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

# Written before each capital letter of a symbol when case is folded. No text contains it:
# invisible characters are removed from a text first.
CAPITAL = "\u2060"

PREFIXES = {
    "f": 1e-15, "p": 1e-12, "n": 1e-9, "μ": 1e-6, "u": 1e-6, "m": 1e-3, "c": 1e-2, "d": 1e-1,
    ".": 1.0, "h": 1e2, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
}  # fmt: skip
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}

# Symbol, base unit, factor, prefixes that are usual however the case is spelled, prefixes that
# count only as written; "." is the symbol alone. Of symbols with the same letters the first is the
# usual one. Siemens have no mega: "20 MS" is "20 ms" in capitals.
_TABLE = (
    ("s", "s", 1.0, ". m μ u n", "p f k M"),
    ("min", "s", 60.0, ".", ""),
    ("h", "s", 3600.0, ".", ""),
    ("d", "s", 86400.0, ".", ""),
    ("m", "m", 1.0, ". k c m", "d μ u n M"),
    ("mi", "m", 1609.344, ".", ""),
    ("NM", "m", 1852.0, "", "."),
    ("cM", "centimorgan", 1.0, "", "."),
    ("g", "kg", 1e-3, ". k m μ u", "n p M G T P"),
    ("mt", "kg", 1e3, ".", ""),
    ("t", "kg", 1e3, ".", "k M G"),
    ("l", "l", 1.0, ". m c d", "μ u n h k M G"),
    ("Hz", "hz", 1.0, ". k M G", "T P m μ u"),
    ("W", "watt", 1.0, "k M G", ". T P m μ u n p"),
    ("w", "s", 604800.0, "", "."),
    ("PS", "watt", 735.49875, "", "."),
    ("Wh", "watt-hour", 1.0, ". k M G", "T P m μ u"),
    ("V", "volt", 1.0, ". k m", "μ u n M"),
    ("VA", "volt-ampere", 1.0, "k", ". M G m"),
    ("Pa", "pascal", 1.0, ". h k M", "G m μ u"),
    ("bar", "pascal", 1e5, ". m", "k M"),
    ("A", "ampere", 1.0, "m", ". μ u n p f k M"),
    ("Ah", "ampere-hour", 1.0, "m", ". k M"),
    ("J", "joule", 1.0, "k", ". M m G T P μ u n p f"),
    ("eV", "electronvolt", 1.0, "k", ". M m G T"),
    ("cal", "kcal", 1e-3, ". k", "M m"),
    ("Cal", "kcal", 1.0, "", "."),
    ("N", "newton", 1.0, "", ". k m M G μ u n p"),
    ("Nm", "newton-metre", 1.0, "", ". k m M"),
    ("Ns", "newton-second", 1.0, "", "."),
    ("kn", "m/s", 0.514444, "", "."),
    ("k", "", 1e3, "", "."),
    ("K", "kelvin", 1.0, "", ". m M k μ u n"),
    ("M", "", 1e6, "", "."),
    ("mn", "", 1e6, "", "."),
    ("M", "mol/l", 1.0, "", "m μ u n"),
    ("mol", "mol", 1.0, ". m", "μ u n p k M"),
    ("cd", "candela", 1.0, "", ". m k M"),
    ("Ω", "ohm", 1.0, ". k M", "m μ u n G T"),
    ("ohm", "ohm", 1.0, ". k M", "m μ u G"),
    ("F", "farad", 1.0, "", "μ u n p m k M"),
    ("H", "henry", 1.0, "", "m μ u n p k M G T"),
    ("C", "coulomb", 1.0, "", "m μ u n p k M"),
    ("S", "siemens", 1.0, "", ". m μ u n p k"),
    ("T", "tesla", 1.0, "", ". m μ u n p"),
    ("Wb", "weber", 1.0, "", ". m μ u k M"),
    ("Sv", "sievert", 1.0, "", ". m μ u n k M"),
    ("Gy", "gray", 1.0, "", ". m c μ u k M"),
    ("Bq", "becquerel", 1.0, "", ". k M G T m μ u"),
    ("dB", "decibel", 1.0, ".", ""),
)  # fmt: skip
_DECIMAL_OF_DATA = "k M G T P E"
POWERS = "23²³"  # may end the symbol of a length
_OTHERWISE_WRITTEN = {"l": "L", "mn": "Mn"}  # ends of symbols with two exact spellings


class Symbol(NamedTuple):
    """A symbol with its base unit ("" of a mere multiple, "k") and factor.

    `is_usual`: the symbol is read in any other case, too ("10 KHZ").
    """

    text: str
    unit: str
    factor: float
    is_usual: bool


def _of_table() -> Iterator[tuple[Symbol, tuple[str, ...]]]:
    """Yield every symbol with its other exact spellings, of each row the usual ones first."""
    for base, unit, factor, usual, exact in _TABLE:
        other = _OTHERWISE_WRITTEN.get(base)
        for prefixes, is_usual in ((usual, True), (exact, False)):
            for prefix in prefixes.split():
                lead = prefix.removesuffix(".")
                found = Symbol(lead + base, unit, factor * PREFIXES[prefix], is_usual)
                yield found, (lead + other,) if other else ()


def _of_data() -> Iterator[tuple[Symbol, tuple[str, ...]]]:
    """Yield bytes and bits, their plurals, and both per second, which are mostly bits."""
    byte, bit = ("B", 1.0), ("b", 0.125)
    kinds = (
        ("", "byte", (byte, bit, ("bit", 0.125))),
        ("s", "byte", (byte, bit, ("bit", 0.125))),
        ("ps", "byte/s", (bit, byte)),
    )
    for ending, unit, bases in kinds:
        for base, factor in bases:
            for prefix in _DECIMAL_OF_DATA.split():
                text = prefix + base + ending
                size = factor * PREFIXES[prefix]
                # "KB" is as usual as "kB".
                yield Symbol(text, unit, size, True), ("K" + text[1:],) if prefix == "k" else ()
            for prefix, size in _BINARY.items():
                yield Symbol(prefix + base + ending, unit, factor * size, True), ()
            if base != "bit" and ending != "s":
                yield Symbol(base + ending, unit, factor, False), ()
    for prefix in ("Ki", "Mi", "Gi", "Ti"):  # of bytes, as schedulers of containers write them
        yield Symbol(prefix, "byte", _BINARY[prefix], True), ()


def fold(text: str) -> str:
    """Return a text without differences of case.

    Upper before fold: some letters (ı, ŉ) match their upper case only this way.
    """
    return text.upper().casefold()


SYMBOLS: dict[str, Symbol] = {}  # by each exact spelling
BY_LETTERS: dict[str, list[Symbol]] = {}  # by folded spelling, the usual one first
for _symbol, _others in (*_of_table(), *_of_data()):
    for _spelling in (_symbol.text, *_others):
        SYMBOLS.setdefault(_spelling, _symbol)
    if SYMBOLS[_symbol.text] is _symbol:
        BY_LETTERS.setdefault(fold(_symbol.text), []).append(_symbol)


def symbol_of(word: str, *, attached: bool = False) -> Symbol | None:
    """Return the symbol of a unit after a number, None when the word is not one.

    Parameters
    ----------
    word : str
        As written.
    attached : bool
        Written without a space after the number: "300K" is 300,000, as "300k", not kelvin.
    """
    if attached and word == "K":
        return SYMBOLS["k"]
    if word in SYMBOLS:
        return SYMBOLS[word]
    alike = BY_LETTERS.get(fold(word))
    if not alike:
        return None
    if not (word.islower() or word.isupper()):  # "Mpa": in mixed case the first letter is right
        return next((symbol for symbol in alike if symbol.text[0] == word[0]), alike[0])
    return alike[0]


def folded_symbol(word: str, *, attached: bool = False) -> str:
    """Fold the case of a word after a number, unless the case identifies a symbol."""
    stem = word.rstrip(POWERS)
    symbol = symbol_of(stem, attached=attached)
    if symbol is None or len(BY_LETTERS[fold(symbol.text)]) == 1:
        return fold(word)
    if stem != word and not symbol.unit:
        return fold(word)  # "50 M2" are no millions
    letters = (CAPITAL + fold(one) if one.isupper() else one for one in symbol.text)
    return "".join(letters) + word[len(stem) :]
