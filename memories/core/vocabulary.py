"""List verbs, irregular forms and phrases of English, for the parser.

No word is here because of one text.
"""

from __future__ import annotations

from functools import lru_cache

from memories.core.function_words import words_of
from memories.core.kinds import PRODUCT_NAMES
from memories.core.spelled_phrases import SPELLED_PHRASES
from memories.core.tokeniser import stem, stems

# Light verbs: a difference between two of them does not matter.
LIGHT_VERBS = stems(
    "be have do make get go use run work put set happen occur exist perform operate involve"
    " conduct undergo act function create consist"
)
_VERBS = (
    "accelerate accept access accredit acknowledge acquire add administer adopt advance "
    "advertise aggregate agree alert allow alternate amend amplify anaesthetise analyse "
    "analyze annotate announce answer append apply appoint approach approve arbitrate archive "
    "arrive ascend ask assay assert assign attach attend auction audit authenticate authorise "
    "autoscale avoid award backfill bake balance ban bandage bargain bark barter batch become "
    "begin belay belong benchmark bend bid bill bind bite blind block boil bolt book bookmark "
    "borrow bounce brake branch break brew bring broadcast build burn buy bypass cache "
    "calculate calibrate call camp cancel cap capture carry catch cause censor centrifuge "
    "certify chair change charge chase check cheer chill choose chop circulate cite clamp "
    "clap clarify classify clean clear climb clone close cluster coach coil collapse collect "
    "combine come commit commute compact compare compile complete comply compose compress "
    "compute configure confirm connect consent consume contain continue contract control "
    "convert cook cool coordinate copy cost count cover crack crash crawl create crowd crush "
    "cry cure cut cycle dance deal debounce debug decide declare decline decode decommission "
    "decompress decrease decrypt dedupe deduplicate default define delegate delete deliver "
    "demonstrate demote deny depart depend deploy deprecate deprovision descend deserialise "
    "deserialize design detach detect determine develop diagnose die dilute disable disallow "
    "discard discount disembark display disseminate distribute dive dodge donate double "
    "downgrade download draft drain dribble drill drink drip drive drop drown dump duplicate "
    "dwell earn eat edit elect embed emit employ enable enact encode encrypt end endorse "
    "enforce enrich enrol enroll ensure enter escalate escape estimate evacuate evade "
    "evaporate evict exceed exclude execute exist exit expect expire explain explode explore "
    "export expose extend extinguish facilitate fail failover fall federate feed fetch file "
    "fill filter finance find finish fire fit fix flag flee fling flood flush fly fold follow "
    "forbid force forecast forget fork format forward found freeze frown fry fund gather "
    "generate get give glue go gossip govern grab graduate grant grasp grill grip group grow "
    "haggle halt hand handle hang happen harvest hash have head heal hear heartbeat heat help "
    "hide highlight hike hire hit hold honk hop host hug hunt hurl hurt hydrate identify "
    "ignite ignore illustrate image immunise impeach implement import improve impute "
    "inaugurate include increase incubate index inform ingest inherit inject insource install "
    "instrument insulate integrate interpret interview invalidate invest invite invoice issue "
    "jog join juggle jump keep kick kill kiss kneel knit knot know label land last laugh "
    "launch lead leak lean learn lease leave legislate lend let level levy license lick lift "
    "like limit link lint list listen litigate live load lock log look loosen lose love lower "
    "maintain make manage map march marinate mark marry marshal match mean measure mediate "
    "meet melt memoise mentor merge migrate mind mirror miss mitigate mock model moderate "
    "monitor mop mount move mow mutate nack nail name navigate nearshore need negotiate "
    "nominate normalise notify obtain occur offer offshore omit onboard open operate order "
    "originate outsource oversee overtake overwrite owe own pack paddle page paint paraphrase "
    "park parse partition pass patch pause pay peel perform permit persist pick pile pilot "
    "pin pitch place plan plant play polish poll post pour predict prefer prepare prescribe "
    "press prevent price print process produce profile prohibit promote proofread propagate "
    "prosecute protect prove provide provision proxy prune publish pull punch purchase purge "
    "push put quantify query queue quit quorum quote raise ran randomise rank rappel ratify "
    "reach read rebase rebuild receive recommend reconcile record recruit reduce reel "
    "refactor reference refresh refund refuse register regulate rehearse reindex reject "
    "release reload relocate rely remain remediate remember remind remove rename render renew "
    "rent repair repay repeal repeat replace replicate reply report represent requeue require "
    "rescue reserve reset reside resign resolve respond restart restore restrict result "
    "resume retain retire retrain retry return reuse reveal reverse revert review revise "
    "revoke rewrite ride ring rinse rip rise roast roll rollback rotate round route run sail "
    "sample sand save saw say scale scan schedule score screen screw scrub seal see seek "
    "seize select sell send sequence serialise serialize serve set settle sew shard share "
    "ship shout show shred shrink shut sign signal simmer simulate sing sit skate skip sleep "
    "slice slide smell smile smoke snapshot solve sort speak spend spin splash split sponsor "
    "spot spray squash squeeze stack stage stain stamp stand standardise staple start stash "
    "state stay steer stir stitch stop store stream stretch strip stroll stub subcontract "
    "submit subscribe sue suffer suggest summarise summarize summit supervise supply support "
    "surf survive suspend suture swap sweep swim switch sync synchronise synchronize tackle "
    "tag take talk tape target taste tax teach tear tell tender terminate test thaw throttle "
    "throw tie tighten time timeout titrate toggle tokenise tokenize toss touch trace track "
    "trade train transfer transform translate transpile transplant trap travel treat trek "
    "trigger trim trust try tunnel turn twist type underline understand unfold uninstall "
    "unload unlock unmount unpack unroll unscrew untie unwrap update upgrade upload use "
    "utilise utilize vaccinate vacuum validate ventilate verify veto visit vote wait wake "
    "walk want warm warn wash watch water watermark wave wear weigh weld whisk whisper win "
    "wind wipe withdraw work wrap write yield "
)
VERBS = stems(_VERBS) | stems(
    "flip slip postpone delay defer reschedule redirect repoint double halve bump relabel reassign"
    " transplant clear back"
    " do"
) - stems("back")
_IRREGULAR = {
    "ran": "run", "kept": "keep", "held": "hold", "sent": "send", "built": "build",
    "made": "make", "took": "take", "taken": "take", "went": "go", "gone": "go", "goes": "go",
    "wrote": "write", "written": "write", "chose": "choose", "chosen": "choose", "paid": "pay",
    "bought": "buy", "sold": "sell", "left": "leave", "lost": "lose", "met": "meet",
    "won": "win", "led": "lead", "fell": "fall", "fallen": "fall", "rose": "rise",
    "risen": "rise", "began": "begin", "begun": "begin", "became": "become", "came": "come",
    "gave": "give", "given": "give", "got": "get", "gotten": "get", "had": "have", "has": "have",
    "does": "do", "did": "do", "done": "done", "knew": "know", "known": "know", "said": "say",
    "told": "tell", "saw": "see", "seen": "see", "ate": "eat", "eaten": "eat", "drank": "drink",
    "drove": "drive", "driven": "drive", "froze": "freeze", "frozen": "freeze", "grew": "grow",
    "grown": "grow", "broke": "break", "broken": "broken", "brought": "bring",
    "caught": "catch", "fed": "feed", "felt": "feel", "found": "find", "hid": "hide",
    "hidden": "hidden", "lent": "lend", "meant": "mean", "rebuilt": "rebuild", "rang": "ring",
    "slept": "sleep", "spoke": "speak", "spoken": "speak", "spent": "spend", "stood": "stand",
    "taught": "teach", "thought": "think", "threw": "throw", "thrown": "throw",
    "understood": "understand", "wore": "wear", "worn": "wear", "withdrew": "withdraw",
    "withdrawn": "withdraw", "overwritten": "overwrite", "dealt": "deal", "sat": "sit",
    "swam": "swim", "children": "child", "men": "man", "women": "woman", "mice": "mouse",
    "feet": "foot", "teeth": "tooth", "indices": "index", "criteria": "criterion",
    "analyses": "analysis", "lives": "live", "leaves": "leave", "dying": "die", "lying": "lie",
    "stored": "store", "storage": "store", "stores": "store", "storing": "store",
    "decision": "decide", "decisions": "decide", "choice": "choose", "choices": "choose",
    "approval": "approve", "approvals": "approve", "removal": "remove", "renewal": "renew",
    "renewals": "renew", "retention": "retain", "expiry": "expire", "expiration": "expire",
    "owner": "own", "owners": "own", "ownership": "own", "payment": "pay", "payments": "pay",
    "payer": "pay", "supplier": "supply", "suppliers": "supply", "delivery": "deliver",
    "deliveries": "deliver", "opening": "open", "closing": "close", "deletion": "delete",
    "response": "respond", "responses": "respond", "smoker": "smoke", "smokers": "smoke",
    "writer": "write", "writers": "write", "reviewer": "review", "reviewers": "review",
    "purchases": "purchase", "encryption": "encrypt", "replacement": "replace",
    "allergic": "allergy", "allergies": "allergy", "runtime": "run", "residence": "reside",
    "birthday": "birthday", "maintenance": "maintain", "maintainer": "maintain",
    "maintainers": "maintain", "agreement": "agree", "resolution": "resolve",
    "compression": "compress", "subscription": "subscribe", "description": "describe",
    "arrival": "arrive", "departure": "depart", "failure": "fail", "failures": "fail",
    "exclusion": "exclude", "inclusion": "include", "permission": "permit", "provider": "provide",
    "providers": "provide", "expensive": "expensive", "outage": "outage",
    "metres": "meter", "litres": "liter", "colour": "color", "colours": "color",
    "licence": "license", "licences": "license", "behaviour": "behavior", "centre": "center",
    "cancelled": "cancel", "cancelling": "cancel", "labelled": "label", "analysed": "analyze",
    "analyse": "analyze", "organise": "organize", "organised": "organize", "favourite": "favorite",
    "grey": "gray", "programme": "program", "catalogue": "catalog", "dialogue": "dialog",
    "synchronise": "sync", "synchronised": "sync", "synchronize": "sync",
    "synchronized": "sync", "synced": "sync", "syncs": "sync", "syncing": "sync",
}  # fmt: skip
# Words whose stem is that of another word: "container" is no form of "contain".
_FIXED = {
    plural: word
    for word in words_of(
        "container customer setting meeting building string past custom trainee intern server"
        " number news physics ethics drawer counter banking filing wedding ceiling"
    )
    for plural in (word, f"{word}s")
}
# Verbs that an infinitive completes; after others "to" introduces a purpose.
INFINITIVE_VERBS = stems(
    "agree decide want need plan start begin continue try tend like prefer allow permit require"
    " expect ask tell use fail refuse have intend hope wish aim choose manage offer promise learn"
    " forget remember help get seem appear force enable configure set"
)
# "port 8080", "patient 7": a number after one of these nouns identifies one of many.
LABEL_NOUNS = stems(
    "port patient phase step room floor gate line issue ticket chapter section table figure sprint"
    " number node worker arm tier building track platform level stage group team ward bed unit"
    " house flat apartment lane case batch lot build run page slide task item exhibit route flight"
    " bus cohort site plot bay dock shelf container shard partition replica epoch zone"
    " tank pump boiler turbine silo machine robot server rack sensor camera printer vehicle truck"
    " tenant customer client account invoice store shop branch plant warehouse tower hall desk"
) | {"building"}  # as written: a "build" is another thing
_MAX_LEMMA = 40
IRREGULAR_PAST = words_of(
    "ate became began begun bought broke broken brought built came caught chose chosen cost "
    "cut dealt did done drank driven drove eaten fallen fed fell felt found froze frozen gave "
    "given gone got gotten grew grown had held hid hidden hit kept knew known led left lent "
    "let lost made meant met overwritten paid put ran rang read rebuilt risen rose said sat "
    "saw seen sent set shut slept sold spent split spoke spoken stood swam taken taught "
    "thought threw thrown told took understood went withdrawn withdrew won wore worn written "
    "wrote "
)

_VERB_FORMS = IRREGULAR_PAST | words_of(
    "goes has does lives leaves dying lying stored stores storing cancelled cancelling labelled"
    " analysed analyse organise organised synchronise synchronised synchronize synchronized synced"
    " syncs syncing done purchases"
)

# Phrases that stand for one word. Keys are lower-case words; "" removes the phrase.
PHRASES: dict[tuple[str, ...], str] = {
    tuple(phrase.split()): word
    for phrase, word in {
        "pull request": "pullrequest", "pull requests": "pullrequests",
        "merge request": "pullrequest", "merge requests": "pullrequests",
        "pr": "pullrequest", "prs": "pullrequests",
        "has to": "must", "have to": "must", "needs to": "must", "need to": "must",
        "had to": "must", "is required to": "must", "are required to": "must",
        "is able to": "can", "are able to": "can", "is allowed to": "may", "are allowed to": "may",
        "is permitted to": "may", "are permitted to": "may",
        "in charge of": "owning", "responsible for": "owning",
        "switched off": "disabled", "switch off": "disable", "turned off": "disabled",
        "turn off": "disable", "is off": "is disabled", "are off": "are disabled",
        "switched on": "enabled", "switch on": "enable", "turned on": "enabled",
        "turn on": "enable", "is on by default": "is enabled by default",
        "set up": "setup", "log in": "login", "logs in": "login", "logged in": "login",
        "sign in": "login", "signs in": "login", "signed in": "login",
        "opt in": "optin", "opt out": "optout", "read only": "readonly",
        "source of truth": "truthsource", "single source of truth": "truthsource",
        "two factor authentication": "2fa", "multi factor authentication": "mfa",
        "multifactor authentication": "mfa",
        "find out": "discover", "in use": "used", "make use of": "use", "makes use of": "use",
        "takes place": "happens", "take place": "happen", "takes part": "participates",
        "such as": "like", "as well as": "and", "in order to": "to", "so as to": "to",
        "due to": "because", "because of": "because", "thanks to": "because",
        "instead of": "instead", "rather than": "instead", "in place of": "instead",
        "in front of": "before", "prior to": "before", "ahead of": "before",
        "subsequent to": "after", "following the": "after the", "by default": "default",
        "fiscal year": "fiscalyear", "financial year": "fiscalyear", "fy": "fiscalyear",
        "fall back to": "default", "falls back to": "default", "fall back on": "default",
        "falls back on": "default",
        "valid for": "expire after", "is valid for": "expires after",
        "are valid for": "expire after", "good for": "expire after",
        "part time": "parttime", "full time": "fulltime", "in house": "inhouse",
        "real time": "realtime", "on prem": "onprem", "on premises": "onprem",
        "on premise": "onprem", "end to end": "endtoend", "up to date": "uptodate",
        "out of date": "outdated", "one way": "oneway", "two way": "twoway",
        "time zone": "timezone", "data center": "datacenter", "data centre": "datacenter",
        "back up": "backup", "backed up": "backup", "backs up": "backup", "backed-up": "backup",
        "roll out": "rollout", "rolled out": "rollout", "code review": "codereview",
        "sends out": "sends", "sent out": "sent", "pays for": "pays for",
        "off limits": "forbidden", "is off limits": "is forbidden",
        "are off limits": "are forbidden", "is off limits to": "is forbidden for",
        "are off limits to": "are forbidden for",
        "out of bounds": "forbidden", "turned away": "refused", "turn away": "refuse",
        "turns away": "refuses", "is out of order": "does not work",
        "is called": "is named", "are called": "are named",
        "github actions": "githubactions", "gitlab ci": "gitlabci",
        "google cloud": "gcp", "sql server": "sqlserver", "spring boot": "springboot",
        "merge commit": "mergecommit", "merge commits": "mergecommit",
        "session cookie": "sessioncookie", "session cookies": "sessioncookie",
        "local time": "localtime", "go live": "launch", "goes live": "launches",
        "went live": "launched", "shut down": "stopped", "at the moment": "", "at present": "",
        "for now": "temporarily", "right now": "", "these days": "", "in general": "usually",
        "as a rule": "usually",
        "of course": "", "in fact": "", "as of now": "", "the fact that": "", "it is": "it is",
        "free of charge": "free", "free of cost": "free", "for free": "free", "charge free": "free",
        "at no charge": "free", "at no cost": "free", "without charge": "free",
        "nobody but": "only", "no one but": "only", "none but": "only", "nobody except": "only",
        "no one except": "only", "nobody other than": "only", "no one other than": "only",
        "is open until": "closes at", "are open until": "close at", "stays open until": "closes at",
        "stay open until": "close at", "is open till": "closes at", "are open till": "close at",
        "runs until": "ends at", "run until": "end at", "lasts until": "ends at",
        "goes on until": "ends at", "continues until": "ends at",
        "in person": "onsite", "on site": "onsite",
        "plant based": "vegan", "end of life": "retired", "by hand": "manually",
        "a group of": "", "a couple of": "several", "a lot of": "many", "lots of": "many",
        "a number of": "several", "a piece of": "",
    }.items()
}  # fmt: skip
_PHRASES_BY_HEAD: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
for _phrase, _word in (PHRASES | SPELLED_PHRASES).items():
    _PHRASES_BY_HEAD.setdefault(_phrase[0], []).append((_phrase, tuple(_word.split())))
for _entries in _PHRASES_BY_HEAD.values():
    _entries.sort(key=lambda entry: -len(entry[0]))


def phrase_at(lowers: list[str], index: int) -> tuple[int, tuple[str, ...]] | None:
    """Return the longest known phrase at `index`: its length and the words it stands for."""
    for phrase, words in _PHRASES_BY_HEAD.get(lowers[index], ()):
        if tuple(lowers[index : index + len(phrase)]) == phrase:
            return len(phrase), words
    return None


def is_verb_form(lower: str) -> bool:
    """Return True for a verb form that may begin a note ("Move", "Moved"), not for its noun."""
    if lower in IRREGULAR_PAST or lower.endswith("ed"):
        return True
    return not is_plural(lower) and lower not in _IRREGULAR


def is_plural(lower: str) -> bool:
    """Return whether a word ends as a plural does ("tickets", but not "boss")."""
    return lower.endswith("s") and not lower.endswith("ss")


def lemma(lower: str) -> str:
    """Return the stem of a lower-case word; irregular forms and nouns of common verbs first.

    Names of products stay as they are ("postgres", not "postgr").
    """
    return _lemma(lower) if len(lower) <= _MAX_LEMMA else lower


@lru_cache(maxsize=65536)
def _lemma(lower: str) -> str:
    if lower in PRODUCT_NAMES:
        return lower
    return _FIXED.get(lower) or stem(_IRREGULAR.get(lower, lower))


def is_noun_of_verb(lower: str) -> bool:
    """Return True for nouns with the lemma of a verb that are never verbs: "approval"."""
    return lower in _IRREGULAR and lower not in _VERB_FORMS
