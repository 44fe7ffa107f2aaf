"""Write the beginning of a sentence as it stands inside another one.

English opens a sentence with a capital, names or not. A first word is written with a small letter
only where something shows that it is none: it is an article or another function word, a known
common word, a word formed as one ("registration", "annual"), or a plural subject ("Refunds are").
What nothing shows keeps its capital: "Immingham gates", "Postgres backups".
"""

from __future__ import annotations

import re
from typing import Final

from memories.core.function_words import DETERMINERS, OPERATORS, PREPOSITIONS, words_of
from memories.core.kinds import PRODUCT_NAMES
from memories.core.number_words import NUMBER_WORDS
from memories.core.tokeniser import stem, stems
from memories.core.vocabulary import VERBS

# Verbs that are names of companies, people or software as often.
_NAMES_TOO: Final = stems("bill chase docker fly grant mark render sage slack target will wing")
_NOUNS: Final = words_of(
    "access account activity address admin advice agency agenda agent air airport alarm album "
    "alert aligner allergy amount analysis animal apartment api app appendix applicant "
    "appointment apprentice architecture archive area arrival art article asset assistant audio "
    "auditor author average background backtest backup badge bag bakery balcony baler band bank "
    "banner bar basement bath battery beach bed beer bench benefit bicycle bike birthday blood "
    "boat body boiler bonus booth bottle box boy bread breakfast bridge briefing brochure "
    "broker browser budget bug building bundle bus business button cabin cabinet cable cake "
    "calendar camera canary canteen car card care cargo carpet cash catalogue catering ceiling "
    "cellar chair changelog chapter chargeback chart checklist checkout cheese chef chemical "
    "chemistry child chimney chlorine church circuit citizen claim class classroom client "
    "clinic clock cloth clothes club coal coat code coffee colleague college colour column "
    "comment committee company complaint component compressor computer concert conference "
    "console contact container content contractor cookie copy core corner cost council country "
    "courier course court coverage crate credit crew crop cupboard currency curriculum cursor "
    "customer dairy dashboard data database date day deadline death debt degree delivery demo "
    "dentist department deposit depot desk desktop device diary digest dinner director "
    "dishwasher disk district doc doctor document dog domain door dough draft drama driver "
    "driveway duty editor egg egress elevator email emergency employee enclosure energy engine "
    "engineer environment equipment error essay event evidence exam exception expense "
    "experiment expert fabric factory family farm feature fee female fence festival field film "
    "finance firewall firewood fish flag flat flea fleet flight floor florist flour flower food "
    "foot footer forest forklift form freezer freight fridge frontend fruit fuel furniture game "
    "garage garden gas gate gateway gift girl glass goal good goodwill goose grade grain graph "
    "grass greenhouse grocery guard guest guide guideline gym hall handbook handover "
    "hardware harvest headline health hedge history holiday home homework horse hospital hotel "
    "hotfix hour house household ice idea identity incident industry ingredient instrument "
    "insurance intern interval invoice island issue item job journal journey judge juice key "
    "keyboard kindergarten kitchen laboratory ladder lake lamp landlord language laptop launch "
    "law lawyer leaflet lecture ledger lesson letter library licence lifecycle lift light line "
    "linen locker logbook login lorry luggage lunch machine macro magazine mail mailer "
    "maintenance male mandate manual manuscript map margin market marketing master meal meat "
    "medal media medicine meeting member membership memory menu merchant message metal meter "
    "method metric microphone microscope mileage milk mill mine model money month morning motor "
    "mountain mouse museum music namespace neighbour network newsletter night node noise note "
    "notebook notice notification number nurse nursery object observation office officer oil "
    "old online option orchestra organ outage oven oxygen package packet page paint painter "
    "pallet panel paper parcel parent parking part partner party passenger passport password "
    "patient patrol payroll peak pen pension people permit person pet pharmacy phone photo "
    "photograph piano picture pipeline plane plastic plate platform plugin pocket podcast poem "
    "police policy pond pool population port postcard poster postmortem potato prescription "
    "preview primary printer priority prison prize problem product profile profit programme "
    "project property proposal protocol pump pupil purchase quality quarter question quota "
    "quote race radio rail rain reader recipe region registry rehearsal religion rent report "
    "repository request requirement restaurant result revenue rice risk river road role roof "
    "room rope rota row rule runner safety salad salary sale salt sample sandbox sandwich sauna "
    "scaffold scene schema school science screenshot script sea search season seat secondary "
    "secret section security seed seminar sender sensor serum server service session settlement "
    "severity sheet shelf shelter shift ship shipment shirt shoe shop shortlist shower shuttle "
    "signature site skill snow soap software soil solution song soup source souvenir spare "
    "speech sport square stable staff staging stair stamp standard station statistic step stock "
    "stone storage story street string student studio study subject sugar suitcase summary "
    "supervisor supplier surgery survey sweet switchboard symptom synonym table tablet tank "
    "task taxi teacher team technician telephone template tenancy tenant tent term terrace text "
    "theatre thermostat thesis thing ticket tide tile toll tomato tool tour tourist tourniquet "
    "towel town toy trademark traffic trailer train training tram translation trap treasurer "
    "tree trial trip trolley truck tutor tyre uniform unit university user valuable value van "
    "variant vector vegetable vehicle vendor venue video village violin virus visitor voicemail "
    "volunteer vote voucher wage wall ward warehouse warranty waste water weather web webhook "
    "webinar website wedding week weekend wheel wheelchair widget window wine winter wire wood "
    "word work worker workload workshop yard year yoga zone"
)
_ADJECTIVES: Final = words_of(
    "able autumn big bulk cheap clean cold common correct daily damaged dark dead deep digital "
    "direct dirty domestic double dry early easy electric empty external extra fast favourite "
    "final fine first foreign formal former fragile free frequent fresh front frozen full green "
    "hard hazardous heavy high hot hourly huge idle injured interim internal junior large last "
    "late legacy legal light little live local long loose lost low loyal maximum medical "
    "minimum mixed mobile monthly narrow nearby new next nightly noisy offsite old oldest open "
    "outdoor outgoing overdue own past plain poor premium private public quick quiet rare raw "
    "ready recent red related remote rental rich safe seasonal second secure senior shared "
    "short sick silent simple single slow small social soft solid spare special spring stale "
    "steep strict strong sudden summer thick thin third tight tiny toxic unpaid unused upper "
    "urgent used vacant valid warm weak weekly wet white wide wild wooden wrong yearly young"
)
_WORDS: Final = _NOUNS | _ADJECTIVES | NUMBER_WORDS.keys()
_VERBS: Final = VERBS - _NAMES_TOO
_STEMS: Final = _VERBS | frozenset(map(stem, _NOUNS))
_ENDING: Final = re.compile(r"^\w{2,60}(?:s|ed|ing)$")  # "Halle" has the stem of "hall"
_FUNCTION_WORDS: Final = DETERMINERS | OPERATORS | PREPOSITIONS
_FORMED: Final = re.compile(
    r"^[a-z]{3,60}(?:tion|sion|ness|bility|ality|ency|ancy|ical|ional|ual|ural|ular|less|ful|able)s?$"
)
_PLAIN: Final = re.compile(r"[A-Z][a-z]+(?:-[a-z]+)*")
# A plural; names end like this, too, but few are subjects of "are".
_PLURAL: Final = re.compile(r"[A-Z][a-z]{2,}(?<!is)(?<!us)(?<!ss)s")
_ENDS_THE_SUBJECT: Final = PREPOSITIONS | words_of("that which who whose and or")


def in_mid_sentence(subject: str, *, is_plural: bool = False) -> str:
    """Return the subject that opens a sentence as it stands inside one.

    Parameters
    ----------
    subject
        "Travel requests", "The depot".
    is_plural
        Whether its verb shows that it is a plural ("Refunds are …").
    """
    first, blank, rest = subject.partition(" ")
    is_small = _is_function_word(first) or (
        _PLAIN.fullmatch(first) and _is_common(first, rest, is_plural)
    )
    return f"{first.lower()}{blank}{rest}" if is_small else subject


def _is_function_word(word: str) -> bool:
    is_capital_alone = word[1:].islower() or word == "A"
    return is_capital_alone and word.lower() in _FUNCTION_WORDS


def _is_common(first: str, rest: str, is_plural: bool) -> bool:
    """Return whether the first word of a subject is known to be no name."""
    second = rest.partition(" ")[0]
    word = first.lower().partition("-")[0]
    if word in PRODUCT_NAMES or (second[:1].isupper() and second[1:2].islower()):
        return False  # "Redis keys", "Orchard Clinic"
    is_head = not second or second in _ENDS_THE_SUBJECT
    if is_head and is_plural and _PLURAL.fullmatch(first):
        return True
    if not second:  # a thing without an article has a name: "Ledger runs on …"
        return False
    if word in _WORDS or _FORMED.fullmatch(word):
        return True
    return stem(word) in (_STEMS if _ENDING.fullmatch(word) else _VERBS)
