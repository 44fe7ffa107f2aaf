"""Phrases by which people limit, date, doubt, quote or take back what a sentence states.

Each fits any base sentence of `insertions.py`: behind its last word, in brackets there, before its
first word, or as a sentence of its own behind it.
"""

from __future__ import annotations

from tests.memories.insertions import plain


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.strip().splitlines())


_CONDITIONS = _lines("""
    with a ticket
    with notice
    with prior permission
    with a doctor's note
    with supervision
    by appointment
    on request
    through a waiver
    provided the fee is paid
    subject to approval
    given enough staff
    as long as stocks last
    assuming good weather
    in case of fire
    upon written consent
    after a safety check
    once the audit is done
    depending on the season
    pending review
""")
_SCOPES = _lines("""
    at the Bremen site
    on the second floor
    within the free plan
    for the premium tier
    under the old contract
    in the new building
    across two regions
    outside office hours
    north of the river
""")
_TIME_LIMITS = _lines("""
    as of next year
    from Monday
    through March
    by the end of the quarter
    over the holidays
    this week
    for the first month
    before noon
    as from 1 May
    within 3 days
    during winter
    temporarily
    at weekends
    tonight
    from 2030 on
""")
_ALTERNATIVES = _lines("""
    or something similar
    or by hand
    and/or later
    or whatever Marta prefers
""")
_HEDGES = _lines("""
    as far as I know
    by rumour
    according to Ines
    in theory
    in principle
    by all appearances
    if I remember correctly
    as a rule of thumb
    supposedly
    in most cases
    with any luck
    by my guess
    more or less
    as a first approximation
""")
_AUDIENCES = _lines("""
    for testers
    for members of the club
    among adults
    to VIPs
    with children
    by volunteers
""")
_EXCEPTIONS = _lines("""
    by exception
    with some exceptions
    with one exception
    apart from holidays
    save for emergencies
    barring strikes
    aside from Ural
    bar the last one
    excluding Etna
    minus the weekends
""")
_JOKES = _lines("""
    as a joke
    in the novel
    in a dream
    in the simulation
    by legend
    as a thought experiment
    as an April fool
    in the demo
    in the cartoon
""")
_DRAFTS = _lines("""
    as a stopgap
    as a draft
    as proposed by Ines
    as an experiment
    in the second draft
    as a workaround
    on a trial basis
    for testing
    as a fallback
    as a backup
    as planned for 2031
    by mistake
    by accident
""")
_WAYS = _lines("""
    by injection
    by hand
    by courier
    with a crowbar
    with gloves
    via a proxy
    via the old tunnel
    through a reseller
    using a stand-in
    from memory
    from a template
    into quarantine
""")
_REMARKS = _lines("""
    , or 40
    , 40
    , or so
    , alternatively none
    , I think
    , apparently
    , or so the joke goes
    (testers)
    (joke)
    (first month)
    (by appointment)
    (pending)
    ("maybe")
    (see exceptions)
    (winter)
    (Bremen)
    (or 40)
""")
_SENTENCES = _lines("""
    Just kidding
    This was a joke
    Or maybe 40
    From next year on
    That was last year
    Nobody does it any more
    Exceptions apply
    This ends in May
    In the novel, that is
""")
_OPENINGS = _lines("""
    For testers:
    Joke:
    Hypothesis:
    Once upon a time
    According to rumour,
    If approved,
    Ideally,
    On paper,
    In the brochure:
    Question:
    With luck,
    In case of fire,
    From Monday,
    Under the old rules,
    Apart from Etna,
    Allegedly,
    Imagine:
    Not true:
    Myth:
    Wish:
    To do:
    By mistake,
    As a joke,
    Somebody wrote:
    Ines doubts that
    Ines claims that
    It is untrue that
    It would be nice if
    Nobody believes that
    Marta asked whether
""")
# Forms that running prose ends its sentences with, drawn by their leading word, other names put in.
_FROM_PROSE = _lines("""
    with Joanna
    with Ana-Maria
    with annual pauses
    via Great Hazel Pass
    via a play-off
    into the Hotel Miramar
    into old habits
    as head of the Bremen office
    as a warm-up
    as inspiring
    by a series of narrow votes
    by starting a business
    by being around friends
    through the council's fund
    through Hazel Township
    through adoption
    from a film studio
    from Western Silesia
    from 1916 to 1930
    among large cities
    amid the chaos
    at London during the night
    despite having already passed
    like a reset button
    on Hazel Records
    or twice a year
    or the parts of it
    under its original name
    under the age of 35
    unless a tropical storm comes
    which would be verified
    which took long research
    who would separate them
    while hiking
    while the others do not
    without the second round
""")
_NAMES = ("Nadia", "Jonas", "Flight")

ENDINGS = (
    *(f" {phrase}" for phrase in (
        *_CONDITIONS, *_SCOPES, *_TIME_LIMITS, *_ALTERNATIVES, *_HEDGES, *_AUDIENCES, *_EXCEPTIONS,
        *_JOKES, *_DRAFTS, *_WAYS, *_FROM_PROSE,
    )),
    *(phrase if phrase.startswith(",") else f" {phrase}" for phrase in _REMARKS),
    *(f". {sentence}" for sentence in _SENTENCES),
)  # fmt: skip
OPENINGS = _OPENINGS
QUALIFIERS = (*ENDINGS, *OPENINGS)


def qualified(base: str, qualifier: str) -> str:
    """Return a base sentence with one qualifier put into it."""
    text = plain(base)
    if qualifier not in OPENINGS:
        return f"{text.removesuffix('.')}{qualifier}."
    if text.split(" ", 1)[0] in _NAMES:
        return f"{qualifier} {text}"
    return f"{qualifier} {text[:1].lower()}{text[1:]}"
