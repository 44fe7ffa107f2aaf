"""List synonyms, antonyms, and nouns and verbs with one value at a time, as plain words.

Curated and general; `lexicon` reads them into concepts.
"""

from __future__ import annotations

# One line, one meaning. The first word names it.
SYNONYMS = """
production prod
staging stage
development dev
database db
repository repo
configuration config cfg configure
documentation docs doc document
application app
environment env
administrator admin
authentication auth authenticate
infrastructure infra
specification spec
kubernetes k8s
utc gmt
postgres postgresql pg psql
nodejs node.js
javascript js
typescript ts
python py
golang go-lang
elasticsearch es
rabbitmq rabbit
mongodb mongo
terraform tf
maximum max maximal highest
minimum minimal lowest
average mean
limit cap ceiling threshold
keep retain store save persist preserve
delete remove erase purge wipe
begin start commence
finish end conclude
buy purchase
use utilise utilize
build construct
create generate produce
choose select pick
repair mend fix
forbid forbidden prohibit ban disallow outlaw
allow permit
disable deactivate
enable activate
require need
mandatory obligatory compulsory
help assist
employee staff
doctor physician
child kid
man guy
woman lady
picture image photo photograph
holiday vacation
colleague coworker
car automobile
bicycle bike
motorcycle motorbike
failure fault
bug defect
own belong
supply provide
exclude omit
include contain
speak talk
obtain receive
deploy rollout deployment
encrypt cipher
near close-to
company firm business
live reside dwell
like enjoy
hate dislike detest
big large
little small tiny
fast quick rapid
sync synchronous synchronously
async asynchronous asynchronously
euro eur
dollar usd
second sec
autoscaling autoscale
cost price
answer reply respond
modify edit alter
happen occur
license licence
laptop notebook-computer
film movie
shop store-front
sofa couch
street road
trash garbage rubbish waste
lift elevator
autumn fall-season
ill sick
smart clever
error exception
folder directory
email mail e-mail
phone telephone smartphone
locale language-setting
verify validate
forward relay
halt stop
yearly annual annually
pullrequest pr
approve authorise authorize
invoice bill
customer client
request req
fiscalyear fy
money funds
consume drink
shout yell
jump leap
infant baby
kitten kitty
puppy pup
rock stone
ocean sea
woods forest
slice cut chop
grandmother grandma granny gran nan
grandfather grandpa granddad
mother mum mom mummy
father dad daddy
veterinarian vet
headteacher headmaster
"""

# Left side against right side; "|" parts them. "~" marks scales with a middle ("big | small"):
# there, "not big" does not yet mean "small".
ANTONYMS = """
enable on | disable off
allow permitted let | forbid deny block refuse reject blacklist
accept | reject refuse decline deny
approve | reject decline veto
always | never
mandatory required require must | optional voluntary
open | close closed shut
open unresolved pending ongoing outstanding | resolved resolve closed fixed done completed
blocker blocking blocked | resolved unblocked resolve
sync | async asynchronous background
public | private confidential secret
before | after
include | exclude omit
internal | external
inside indoors | outside outdoors
online | offline
active | inactive dormant
valid | invalid
true | false
succeed success successful | fail failure
pass | fail
increase raise grow | decrease reduce lower shrink
rise | fall drop
start begin resume | stop halt cease
oldest | newest latest
old | new
first | last
ascending asc | descending desc
earliest | latest
early | late
left | right
top | bottom
above | below
north northern | south southern
east eastern | west western
inbound incoming | outbound outgoing
upstream | downstream
readonly immutable | writable mutable editable
encrypt encrypted | unencrypted plaintext cleartext
signed | unsigned
free | paid chargeable charged
manual manually hand | automatic automatically automated
locked lock | unlocked unlock
armed arm | disarmed disarm
visible show | hidden hide invisible
strict | lenient loose
single | multiple several
same identical | different
shared | separate dedicated exclusive
centralised centralized central | distributed decentralised decentralized
local | remote
present | absent missing
full | empty
safe secure | unsafe dangerous insecure
available | unavailable
stable | unstable
pending unfinished incomplete | complete finished done
broken | working fixed repaired
alive | dead
married | single divorced
buy | sell
love like | hate
agree | disagree
possible | impossible
legal | illegal
necessary | unnecessary
onsite | online remote remotely virtual virtually
active | suspended
inclusive | exclusive
written | oral
direct | indirect
keep | delete discard
add | remove delete
install | uninstall
attach | detach
connect | disconnect
subscribe optin | unsubscribe optout
inhouse | outsourced outsource
permanent permanently | temporary temporarily
parttime | fulltime
wired | wireless
odd | even
fixed | variable floating adjustable
everyone everybody all every | nobody none
static | dynamic
sequential serial sequentially serially | parallel concurrent concurrently
horizontal horizontally | vertical vertically
optimistic | pessimistic
eager eagerly | lazy lazily
stateless | stateful
monolith monolithic | microservice
push | pull
up running | down
healthy | unhealthy degraded
awake | asleep sleep
guilty | innocent
deep~ | shallow
big~ | little
fast~ | slow slowly
high~ | low
long~ | short
strong~ | weak
hard~ | easy soft
hot~ | cold
warm~ | cool
wet~ | dry
rich~ | poor
wide~ | narrow
thick~ | thin
clean~ | dirty
heavy~ | light
young~ | old
happy~ | sad unhappy
cheap~ | expensive
loud~ noisy | quiet silent
many~ | few
more~ | less fewer
better~ | worse
best | worst
major | minor
daytime | nighttime
lead | follow
win | lose
deprecated retired obsolete abandoned decommissioned decommission retire | supported active current
lend | borrow
import | export
encode | decode
upload | download
expand | collapse
sitting sit~ | standing stand
clockwise | counterclockwise anticlockwise
inwards inward | outwards outward
upwards upward | downwards downward
forwards | backwards
upstairs | downstairs
domestic | foreign
urban | rural
male | female
digital | analog analogue
acidic | alkaline
edible | poisonous toxic inedible
portable | stationary
soluble | insoluble
solid | liquid
sterile | contaminated
waterproof | leaky permeable
rigid | flexible
sharp~ | blunt dull
rough~ | smooth
sturdy~ | fragile
tight~ | loose
wild | tame
upper | lower
paved | unpaved
"""

# Nouns with one value at a time: "status", "default", "deadline".
FUNCTIONAL = (
    "status state default name version capital maximum minimum deadline address color leader"
    " manager head lead location region license type primary master priority severity plan tier"
    " currency timezone birthday favorite port url host hostname domain branch size"
    " age owner price cost salary rent budget truthsource contact supplier vendor venue destination"
    " origin target title headquarters office duration frequency interval"
    " dose dosage weight height length width depth temperature locale theme director ceo cto cfo"
    " president chair winner result outcome cause author editor nickname password username"
    " successor predecessor boss spouse wife husband mother father hometown birthplace nationality"
    " profession occupation format encoding charset engine backend provider base isolation"
)

# Verbs with one object at a time, with the prepositions before it ("" = none).
EXCLUSIVE_OBJECT = {
    "run": "in on",
    "live": "in at",
    "host": "in on at by",
    "locate": "in at",
    "base": "in at on",
    "default": "to",
    "name": "",
    "cost": "",
    "begin": "at on in with",
    "finish": "at on in with",
    "open": "at on",
    "close": "at on",
    "own": "by to",
    "report": "to",
    "keep": "in on at",
    "archive": "in on at",
    "write": "in",
    "expire": "after on at in",
    "weigh": "",
    "measure": "",
    "deploy": "to in on",
    "target": "",
    "point": "to",
    "bind": "to",
    "listen": "on",
    "sort": "by",
    "order": "by",
    "prefer": "",
    "marry": "to",
    "work": "for at",
    "lead": "by",
    "decide": "by",
    "pay": "by",
    "manage": "by",
    "maintain": "by",
    "move": "to into",
    "migrate": "to",
    "switch": "to",
    "last": "",
    "meet": "at in on",
    "happen": "at in on",
    "launch": "on in at",
    "end": "at on in",
    "start": "at on in",
    "set": "to",
    "sit": "in on at",
    "stay": "in at",
    "bill": "by to in",
    "supply": "by",
    "come": "from",
    "make": "of",
    "handle": "by",
    "approve": "by",
    "author": "by",
    "cause": "by",
    "assign": "to",
    "replace": "by with",
    "study": "at in",
    "cut": "from",
    "tag": "from",
    "branch": "from",
    "shard": "by",
    "partition": "by",
    "group": "by",
    "index": "by",
    "key": "by",
    "sleep": "in on",
    "park": "in on at",
    "collect": "on at",
    "build": "with",
}
# Verbs with one subject at a time, such as "decide".
EXCLUSIVE_SUBJECT = (
    "own decide pay lead manage chair head maintain host win invent cause supply approve"
    " operate administer direct"
)
# Verbs with many objects at once: two different ones are no conflict.
INCLUSIVE = (
    "support include have contain offer like enjoy know speak accept integrate visit read see"
    " log list mention cover track allow monitor send show sell eat import export"
)
# States of a place on some days of the week: it may be closed on another one as well.
CLOSING = "closed shut"
# Pairs of verbs that are synonyms for a place ("runs in", "is hosted in").
INTERCHANGEABLE = """
run host deploy live operate
host sit live stay stand
use run employ work
put keep place pass
go send route ship
have get receive contain hold consist comprise
make do perform conduct execute run
keep hold contain
create make write
"""
# Both sides are alike: "A meets B" is "B meets A".
SYMMETRIC = (
    "meet marry match equal differ talk speak chat border resemble conflict collide coincide fight"
    " integrate communicate agree join merge sync pair share be compare"
)
