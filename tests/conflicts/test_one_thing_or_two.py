"""Sentences about two things open no card, sentences that give one thing two values do."""

from __future__ import annotations

import random

import pytest

from memories.core.claims import compare
from tests.conflicts.test_functional_relations import findings

TWO_THINGS = [
    (
        "The firewall at the kiosk leaves port 80 open.",
        "The firewall at the kiosk leaves port 443 open.",
    ),
    ("Patient 4471 is under the care of Dr Orme.", "Patient 5820 is under the care of Dr Orme."),
    ("The north ward is equipped with 30 beds.", "The south ward is equipped with 22 beds."),
    ("Ana Kolb sits on the parks committee.", "Ana Kolb sits on the planning committee."),
    (
        "The grain train enters the freight yard at 10:10.",
        "The grain train leaves the freight yard at 11:45.",
    ),
    (
        "The dialysis group for new patients meets on Tuesday.",
        "The dialysis group for long-term patients meets on Friday.",
    ),
    (
        "The weekly market in Holm is held on Tuesday.",
        "The weekly market in Old Holm is held on Friday.",
    ),
    (
        "An adult ticket for the Dun Museum costs 6 euros.",
        "An adult ticket for the Dun Toy Museum costs 9 euros.",
    ),
    ("The Lindal grant expires on 31 March.", "The Lindal follow-up grant expires on 30 June."),
    ("Marit has a sister named Eva.", "Marit has a sister named Liv."),
    (
        "The 2021 accounts of the trust were audited by Brack Audit.",
        "The 2019 accounts of the trust were audited by Brack Audit.",
    ),
    (
        "The sole material of the Ostley bowl is silver.",
        "The sole material of the Ostley mask is boxwood.",
    ),
    ("Plot 14 covers 150 square metres.", "Plot 14a is 95 square metres in size."),
    ("Ana Kolb was born in Remol.", "Tolba is where Ana Kolb's life ended."),
    (
        "Rust is the only language used in the login portal.",
        "Rust is the only language used in the billing portal.",
    ),
    ("The back door of the lodge is black.", "The front door of the lodge is green."),
    (
        "The actual cost of the roof repair was 4,650 euros.",
        "The plan for the roof repair is to spend 4,000 euros.",
    ),
    (
        "Booth 13 in the call centre is on the north side.",
        "Booth 24 in the call centre is on the north side.",
    ),
    ("Port 443 is open on gw-west.", "Port 443 is open on gw-east."),
    ("The market stall accepts payment by cash.", "The market stall accepts payment by cheque."),
    (
        "The Thursday pottery class has 16 pupils.",
        "The Monday pottery class has 9 pupils.",
    ),
    ("Pallet P-204 is stored in bay 22.", "Pallet P-119 is stored in bay 3."),
    (
        "The ledger database is on PostgreSQL.",
        "The primary copy of the ledger database runs in Frankfurt.",
    ),
    ("The house was insured with Axa.", "The house is insured with Allianz."),
    ("The bridge is made in part of concrete.", "The bridge is made in part of steel."),
    ("The web server runs on port 80.", "The web server also runs on port 443."),
    ("One of our offices is in Rome.", "One of our offices is in Milan."),
    ("Lena works for BMW.", "Lena works for Bayerische Motoren Werke."),
    ("The owner of the barn is Mr. Fischer.", "The owner of the barn is Walter Fischer."),
    ("The table is made of oak.", "The table is made of wood."),
    ("The agency is based in London.", "The agency is based in the UK."),
    ("The keys are kept in the meeting room.", "The keys are kept in the grey cabinet."),
    ("The team uses the Slack app.", "The team uses the Zoom app."),
    ("All employees have access to Slack.", "All employees have access to Jira."),
    ("Nils Arbo is Rik Sand's friend.", "Tea Lund is Rik Sand's friend."),
    ("The film is shown in March.", "The film is shown in Paris."),
    (
        "The TLS certificate of ledger-sync expires on 23 May 2028.",
        "The expiry date of the TLS certificate of pump-log is 8 January 2028.",
    ),
    ("By default, ledger-sync logs at level DEBUG.", "By default, pump-log logs at level INFO."),
    (
        "The thermostat in Annex Room 210 is set to 19 degrees.",
        "The thermostat in Room 210 is set to 17 degrees.",
    ),
    (
        "The explorer Magnus Thole was born in 1811.",
        "The explorer Magnus Thole the Younger was born in 1842.",
    ),
    (
        "The ferry from Gorsk to Remol takes 3 hours.",
        "The ferry from Remol to Gorsk takes 4 hours.",
    ),
    (
        "The town of Marnsted has 5,600 inhabitants.",
        "The town of Marnsted on Sea has 3,020 inhabitants.",
    ),
    (
        "The firewall on gate-1 lets traffic through on port 22.",
        "The firewall on gate-1 lets traffic through on port 443.",
    ),
    (
        "The actual turnout for the walk was 215 people.",
        "The forecast turnout for the walk was 300 people.",
    ),
    ("Olga signs for delivery slip 12.", "Olga signs for delivery slip 14."),
    ("Rik Sand inspects hydrant 41.", "Rik Sand inspects hydrant 52."),
    ("The clerk prints label 20.", "The clerk prints label 30."),
    ("Episode 3 airs when the season starts.", "Episode 4 airs when the season starts."),
    ("Leila Strand's birthplace is Leipzig.", "Leila Strand's date of birth is 3 February 1967."),
    ("Nela Quist was born in 1975.", "Nela Quist's date of birth is 19 October 1975."),
    ("The town museum owns a painting by Ida Orme.", "The town museum owns a painting by Ben Loy."),
    ("The bell of Quell weighs 1600 kilograms.", "The bell of Quell weighs 1.6 tonnes."),
    ("The service has the feature flag Alpha.", "The service has the feature flag Beta."),
]
ONE_THING = [
    ("Bayer was founded in 1863.", "The founding year of Bayer is 1871."),
    (
        '"Winter in Quillan" was painted by Ana Kolb.',
        '"Winter in Quillan" was painted by Bert Moser.',
    ),
    (
        "The Fraim library is licensed under the MIT License.",
        "The licence of the Fraim library is the ISC License.",
    ),
    ("The Birch Room seats 12 people.", "The capacity of the Birch Room is 20."),
    ("Ana Kolb works for Tolka Works.", "Ana Kolb is employed by Remol Optics."),
    ("Ana Kolb is married to Bert Moser.", "Cleo Venn is married to Bert Moser."),
    ("Tenant 1206 is on the Pro plan.", "Tenant 1206 subscribes to the Scale plan."),
    ("The search indexer listens on port 7070.", "The search indexer is exposed on port 8081."),
    ("You will find the new firewall in rack B4.", "The rack of the new firewall is A3."),
    ("The weight of the crate is 66 kg.", "The weight of the crate is 37 kg."),
    (
        "The post of treasurer at the Remol Club is held by Ana Kolb.",
        "The post of treasurer at the Remol Club is held by Bert Moser.",
    ),
    (
        "Responsibility for the payroll service rests with the Payments team alone.",
        "The payroll service is owned by the Platform team.",
    ),
    ("The mouth of the Po is on the Adriatic Sea.", "The Po flows into the Tyrrhenian Sea."),
    (
        "Ana Kolb is the only executor named in the will of Leonard Inskip.",
        "Bert Moser is the only executor named in the will of Leonard Inskip.",
    ),
    (
        "The headteacher of Fell Road Academy is Mrs Fenn.",
        "The headteacher of Fell Road Academy is Mr Dacre.",
    ),
    ("1,460 metres is the height of Crow Fell.", "The height of Crow Fell is 812 metres."),
    ("ledger-sync uses Postgres as its primary database.", "ledger-sync stores its data in MySQL."),
    ("The blood group of patient 4471 is A positive.", "Patient 4471's blood group is B positive."),
    (
        "All performances of the autumn play are in the main house.",
        "All performances of the autumn play are in the Corn Hall.",
    ),
    ("The spare keys are in room 4.", "The spare keys are in room 7."),
    ("The Acme contract ends in May.", "The contract with Acme ends in June."),
    ("The parcel is in box B4.", "The parcel is in box B7."),
    ("The office is in Bonn.", "The office is in Cologne."),
    ("Gorsk F.C. is owned by Ana Kolb.", "Gorsk F.C. is owned by Bert Moser."),
    ("The company that produced the Tolm Falcon is Brack.", "Odra produced the Tolm Falcon."),
    ("Doctor Ferro was created by Ana Kolb.", "The creator of Doctor Ferro is Bert Moser."),
    ("Mavros is written by Ana da Prata.", "Mavros is written by Bert Moser."),
    ("Quell is located in the continent of Asia.", "Quell is located in the continent of Europe."),
    (
        "Lia Prest is associated with the sport of American football.",
        "Lia Prest is associated with the sport of tennis.",
    ),
    (
        "shadow pop was created in the country of Ostria.",
        "shadow pop was created in the country of Narn.",
    ),
    ("The Secretary of State is Odo Falk.", "The Secretary of State is Ida Renn."),
    (
        "The Larch policy's effective date is 26 October 2018.",
        "The Larch policy's effective date is 3 May 2023.",
    ),
    ("The final exam takes place in Hall A.", "The final exam takes place in Hall B."),
    ("The Dog Tax Act was passed in 1974.", "The Dog Tax Act was passed in 1993."),
    ("Ferro Yard's builder is Tolm Brothers.", "Ferro Yard was built by Gebhard and Sons."),
    ("The length of the Petrel is 12 metres.", "The Petrel has a length of 14 m."),
    ("The choir call is at 10:00 UTC.", "The choir call is at 10:00 Berlin time."),
    ("The region of the scan archive is EU.", "The region of the scan archive is US."),
]


@pytest.mark.parametrize("pair", TWO_THINGS)
def test_statements_about_two_things_open_no_card(pair: tuple[str, str]) -> None:
    assert findings(pair) == []
    assert findings(pair[::-1]) == []


@pytest.mark.parametrize("pair", ONE_THING)
def test_two_values_of_one_thing_open_a_card(pair: tuple[str, str]) -> None:
    [card] = findings(pair)
    assert card.kind == "ambiguity"
    assert compare(*pair).relation == compare(*pair[::-1]).relation == "contradicts"


@pytest.mark.parametrize(
    "pair",
    [
        ("Ana starts on Monday.", "Ana Kolb starts on Friday."),
        ("The warranty lasts 2 years.", "The warranty only lasts 1 year."),
    ],
)
def test_a_short_name_or_an_adverb_makes_no_other_thing(pair: tuple[str, str]) -> None:
    assert len(findings(pair)) == 1


def test_each_contradiction_of_a_workspace_has_a_card_of_its_own() -> None:
    """All pairs at once, in random order: no card joins two of them, and no other pair has one."""
    texts = [text for pair in (*TWO_THINGS, *ONE_THING) for text in pair]
    random.Random(5).shuffle(texts)
    carded = [{texts[int(i)] for i in card.fact_ids} for card in findings(texts)]
    assert sorted(map(sorted, carded)) == sorted(sorted(pair) for pair in ONE_THING)
