"""Sentences, and words that put into one copy of a sentence change what it states.

A base sentence marks its places: `@` before a plural that may be counted ("some", "most"), `~`
before the verb ("never", "only"), `^` behind an auxiliary ("not"), `%` before a word that "un"
denies, `+` before a noun that a modifier may take back ("draft", "former").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_BASES = """
@Vaccines ~are ^stored at 20 degrees.
The +sample freezer ~is ^kept at 18 °C.
The seed vault ~stays at 4 °C with a +spare compressor.
The greenhouse vents ~open at 25 degrees.
@Uploads ~hold 5 MB.
The mail gateway ~accepts @attachments of 20 MB.
Each tenant ~gets 50 GB of storage.
The uplink ~carries 300 MB per day.
The health check ~times out after 200 ms.
The search index ~answers after 150 ms.
@Webhooks ~are ^retried 6 times.
@Payloads ~are ^%signed with HMAC-SHA256.
@Backups ~are ^%encrypted with AES-256.
The billing service ~runs on PostgreSQL 17.
The checkout page ~loads the +payment widget from Adyen.
The API ~allows 100 requests per hour.
Nadia ~approves the +travel budget.
@Contractors ~need a +badge for the lab.
@Employees ~get 28 days of leave.
@Interns ~earn 900 EUR a month.
The annual fee ~is ^120 USD.
@Refunds ~are ^paid after 14 days.
@Invoices ~are ^sent every Monday.
The board ~meets every month in the +council room.
The lease ~ends on 30 June 2027.
The tenant ~pays 740 EUR of rent.
@Dogs ~are ^allowed in the +garden.
@Guests ~may ^smoke on the +terrace.
@Visitors ~must ^wear a +helmet.
The pool ~is ^%heated to 28 degrees.
@Passengers ~may ^carry 2 bags.
Flight LH123 ~leaves from gate 7 at 9:40.
The ferry ~crosses the lake every hour.
The bridge ~carries @trucks of 40 tonnes.
The patient ~takes 5 mg of ramipril.
The patient ~is ^allergic to penicillin.
The ward ~gives heparin with the +evening meal.
The infusion ~runs at 80 ml per hour.
@Nurses ~check the +drug cupboard every day.
The clinic ~is ^open on Saturday.
@Pupils ~bring a +packed lunch on Fridays.
The exam ~lasts 90 minutes.
@Students ~may ^use a +calculator.
The thesis ~is ^supervised by Professor Okafor.
The choir ~rehearses in the +parish hall on Tuesday.
@Volunteers ~clean the beach every weekend.
The bakery ~uses @eggs from Lindenhof.
The bread dough ~rests for 12 hours.
The menu ~has 4 courses with a +cheese plate.
@Chefs ~taste the +stock with a clean spoon.
The orchestra ~plays at 442 Hz.
The film ~was ^shot in Iceland with a +drone crew.
The museum ~shows @paintings by Klimt.
The goalkeeper ~wears number 12.
@Teams ~may ^change 5 players.
The marathon ~starts at the +harbour at 8:00.
The court ~hears the +appeal on 12 May.
@Witnesses ~are ^paid 60 EUR per day.
The notary ~keeps the +original deed.
The insurer ~covers @storms with a deductible of 300 EUR.
@Cows ~are ^milked twice a day.
The tractor ~needs 9 litres of oil.
The field ~is ^%fertilised with compost.
The reactor ~is ^cooled with helium.
The telescope ~points to Vega.
@Turbines ~produce 3 MW.
The crane ~lifts 900 kg.
@Windows ~are ^made of oak.
The plumber ~replaces the +boiler in March.
The roof ~is ^%insulated with hemp.
Jonas ~owns the +release calendar.
@Engineers ~review the +deploy script with Marta.
The on-call phone ~rings at the +operations desk.
@Logs ~are ^kept for 30 days.
The cache ~expires after 10 minutes.
@Passwords ~are ^hashed with argon2.
The newsletter ~goes out on Thursday with a +discount code.
The shop ~ships @parcels with DHL.
"""
BASES = tuple(line for line in _BASES.strip().splitlines())

_NUMBER = re.compile(
    r"(?<![\w.:-])(?=\d+ ?(?!June|May)\S)(?<!gate )(?<!number )(?<!LH)\d+(?![\w:])"
)
_AUXILIARY = re.compile(r"\b(is|are|was|must) \^")
_MARK = re.compile(r"[@~^%+]")


def plain(base: str) -> str:
    """Return a base sentence without its marks."""
    return _MARK.sub("", base)


def _at(mark: str, word: str) -> Callable[[str], Iterator[str]]:
    def insert(base: str) -> Iterator[str]:
        for index, sign in enumerate(base):
            if sign == mark:
                opens = index == 0
                rest = base[index + 1 :]
                put = word.capitalize() + rest[:1].lower() if opens else word + rest[:1]
                yield plain(f"{base[:index]}{put}{rest[1:]}")

    return insert


def _before_numbers(phrase: str) -> Callable[[str], Iterator[str]]:
    def insert(base: str) -> Iterator[str]:
        text = plain(base)
        for match in _NUMBER.finditer(text):
            yield f"{text[: match.start()]}{phrase}{text[match.start() :]}"

    return insert


def _replaced(pattern: str, by: str) -> Callable[[str], Iterator[str]]:
    compiled = re.compile(pattern)

    def replace(base: str) -> Iterator[str]:
        text = plain(base)
        for match in compiled.finditer(text):
            yield f"{text[: match.start()]}{match.expand(by)}{text[match.end() :]}"

    return replace


def _at_end(phrase: str) -> Callable[[str], Iterator[str]]:
    def insert(base: str) -> Iterator[str]:
        yield f"{plain(base).removesuffix('.')}{phrase}."

    return insert


def _contracted(base: str) -> Iterator[str]:
    for match in _AUXILIARY.finditer(base):
        yield plain(f"{base[: match.start()]}{match[1]}n't {base[match.end() :]}")


def _opening(word: str) -> Callable[[str], Iterator[str]]:
    def insert(base: str) -> Iterator[str]:
        text = plain(base)
        head = text.split(" ", 1)[0]
        is_name = head in ("Nadia", "Jonas", "Flight")
        yield f"{word} {text}" if is_name else f"{word} {text[:1].lower()}{text[1:]}"

    return insert


INSERTIONS: dict[str, Callable[[str], Iterator[str]]] = {
    **{f"sign {s!r}": _before_numbers(s) for s in ("minus ", "-", "negative ", "\u2212", "\u2013")},
    **{
        f"bound {b!r}": _before_numbers(b)
        for b in ("below ", "above ", "at least ", "at most ", "up to ", "under ", "over ",
                  "more than ", "less than ", "fewer than ", "about ", "<", "< ", "\u2264 ", "> ",
                  "\u2265 ", "\u2265", "no more than ", "some ", "only ")
    },
    **{
        f"verb {v!r}": _at("~", v)
        for v in ("never ", "no longer ", "only ", "rarely ", "usually ")
    },
    "not": _at("^", "not "),
    "n't": _contracted,
    "un": _at("%", "un"),
    "without": _replaced(r"\bwith\b", "without"),
    **{
        f"modifier {m!r}": _at("+", m)
        for m in ("draft ", "proposed ", "optional ", "former ", "planned ", "backup ", "old ")
    },
    **{
        f"quantifier {q!r}": _at("@", q)
        for q in ("some ", "all ", "most ", "many ", "few ", "no ", "half the ", "a number of ")
    },
    "every second": _replaced(r"\bevery ", "every second "),
    "only opens": _opening("Only"),
    **{
        f"heading {h!r}": _opening(h)
        for h in ("Draft:", "Proposed:", "Optional:", "In staging,", "In Europe,", "For guests,",
                  "Until June,", "Formerly,")
    },
    **{
        f"end {e!r}": _at_end(e)
        for e in (" in staging", " for guests", " on mobile", " in Europe", " until June",
                  " since 2024", " until further notice", " except on Sundays", " only",
                  ", except for members", " unless the manager agrees", " but not in winter",
                  ", but not for children", " other than on Sundays", " if it rains", " (draft)",
                  " (in staging)", ", proposed", ", optional", ", in staging", " for now",
                  " without exception for members", ", at least in Europe", " during the pilot",
                  " on weekdays", " or not", ", which is optional", ". This is only a draft",
                  ". It is optional", ". Not in Europe", ". That is no longer so")
    },
    "Mb": _replaced(r"(?<=\d )MB", "Mb"),
    "Gb": _replaced(r"(?<=\d )GB", "Gb"),
    "mW": _replaced(r"(?<=\d )MW", "mW"),
    "s": _replaced(r"(?<=\d )ms", "s"),
    "Fahrenheit": _replaced(r"°C", "°F"),
    "degrees F": _replaced(r"(?<=\d )degrees", "degrees F"),
    "currency": _replaced(r"\bEUR\b", "USD"),
    "other currency": _replaced(r"\bUSD\b", "EUR"),
    "per hour": _replaced(r"per day", "per hour"),
    "per day": _replaced(r"per hour", "per day"),
    "a rate": _replaced(r"(?<=\d )(MB|GB|EUR|mg|requests|litres|bags)(?! per)", r"\1 per day"),
}  # fmt: skip


def changed(base: str, insertion: str) -> list[str]:
    """Return every copy of a base sentence that an insertion makes."""
    return list(INSERTIONS[insertion](base))
