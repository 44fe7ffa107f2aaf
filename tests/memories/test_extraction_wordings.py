"""Wordings of requests to remember that name no verb of remembering, and what resembles them."""

from __future__ import annotations

import pytest

from memories.core.extraction.extract import extract
from memories.core.extraction.request_grammar import find_request
from tests.memories.test_extraction_asked import requested

ASKED = [
    ("Keep on file that the surgery is shut on Mondays.", "the surgery is shut on Mondays."),
    ("Please keep it on file that Rosa signs the leases.", "Rosa signs the leases."),
    ("Put on file that the boiler was serviced in May.", "the boiler was serviced in May."),
    ("Keep this on record: the east wing has no lift.", "the east wing has no lift."),
    ("Put it on record that the jury met twice.", "the jury met twice."),
    ("Keep in your files that Nils is the notary.", "Nils is the notary."),
    ("I want it on file that the deposit was paid.", "the deposit was paid."),
    ("Pin this: the rehearsals start at six.", "the rehearsals start at six."),
    ("Pin that - our vet closes at noon.", "our vet closes at noon."),
    ("Pin this to your memory: the goats are vaccinated.", "the goats are vaccinated."),
    ("Bookmark this one: the crane is inspected in spring.", "the crane is inspected in spring."),
    ("Just a reminder that the depot is locked on Sundays.", "the depot is locked on Sundays."),
    ("Quick reminder: Ola is allergic to penicillin.", "Ola is allergic to penicillin."),
    ("Reminder - the tenants pay in advance.", "the tenants pay in advance."),
    ("A gentle reminder that Kim leads the orchestra.", "Kim leads the orchestra."),
    ("Reminder to self: the trout pond freezes in January.", "the trout pond freezes in January."),
    ("I'm just reminding you that the bus stops at the mill.", "the bus stops at the mill."),
    ("Let me remind you that we never ship on Fridays.", "we never ship on Fridays."),
    ("Take this down - the plot number is 88.", "the plot number is 88."),
    ("Could you take this down: Mara owns the patent.", "Mara owns the patent."),
    ("Take down that the well is forty metres deep.", "the well is forty metres deep."),
    ("Take note of this: the museum opens at nine.", "the museum opens at nine."),
    ("Hold on to this: the spare fuse is in drawer two.", "the spare fuse is in drawer two."),
    ("Hold onto this for me: my blood group is A.", "my blood group is A."),
    ("Hang onto the following: the mooring costs 40 euros.", "the mooring costs 40 euros."),
    ("Keep hold of this: the auditor is called Brandt.", "the auditor is called Brandt."),
    ("Please hold on to the fact that Lea is the guardian.", "Lea is the guardian."),
    ("Keep track of the fact that the hens are vaccinated.", "the hens are vaccinated."),
    ("Can you keep track of the fact that Ben is deaf?", "Ben is deaf"),
    ("Keep a record of this: the roof was replaced.", "the roof was replaced."),
    ("Keep a record that the roof was replaced.", "the roof was replaced."),
    ("File this away: the notary charges 300 euros.", "the notary charges 300 euros."),
    ("File that for later: the kiln runs on gas.", "the kiln runs on gas."),
    ("Stick this in your notes: the ferry takes no dogs.", "the ferry takes no dogs."),
    ("Tuck this away: the piano is tuned in March.", "the piano is tuned in March."),
    ("Preserve the fact that the mill burned down.", "the mill burned down."),
    ("Capture this: the client is called Oduya.", "the client is called Oduya."),
    ("Don't let me forget that the visa ends in June.", "the visa ends in June."),
    ("Don't lose track of the fact that Ira chairs the board.", "Ira chairs the board."),
    ("Let it be noted that Paula voted against.", "Paula voted against."),
    ("Let it be on record that the budget was cut.", "the budget was cut."),
    ("Update your memory: the shop moved to Graz.", "the shop moved to Graz."),
    ("Update your notes to say that Ivo is the trainer.", "Ivo is the trainer."),
    ("Worth remembering: the yard floods in autumn.", "the yard floods in autumn."),
    ("You'll want to remember that the gate squeaks.", "the gate squeaks."),
    ("Add this to what you know about me: I am left-handed.", "I am left-handed."),
    ("Keep this handy: the plumber is Mr Vogt.", "the plumber is Mr Vogt."),
    ("Keep this in the back of your mind: the dog bites.", "the dog bites."),
    ("Would you mind keeping track of the fact that Ada steers?", "Ada steers"),
    ("As a reminder, the canteen is shut.", "the canteen is shut."),
    ("One thing you mustn't forget: the boiler leaks.", "the boiler leaks."),
    ("The rule you have to keep in mind: no shoes indoors.", "no shoes indoors."),
    ("What I want you to remember is that Ana is vegan.", "Ana is vegan."),
    ("Here's a fact not to forget: the mill has two doors.", "the mill has two doors."),
    ("The thing to remember is that the fair is in June.", "the fair is in June."),
    ("Mental note: the pump needs oil.", "the pump needs oil."),
    ("Hold this thought: the garage key is under the mat.", "the garage key is under the mat."),
    ("Lock this in: our network is called Heron.", "our network is called Heron."),
    ("Don't let this slip: the lease ends in May.", "the lease ends in May."),
    ("Don't let it slip your mind that Bo is deaf.", "Bo is deaf."),
    ("Burn this into your memory: deploys happen on Tuesdays.", "deploys happen on Tuesdays."),
    ("Reminders for me: the canteen is shut.", "the canteen is shut."),
    ("Update your records to say Bo owns staging.", "Bo owns staging."),
    ("Please have it on record that the fence was paid.", "the fence was paid."),
    ("**Remember:** the ramp is icy.", "the ramp is icy."),
    ("**Note**: Ole is on leave.", "Ole is on leave."),
    ("For your files: the harbour master is Sten.", "the harbour master is Sten."),
    ("It's important you remember that the dog bites.", "the dog bites."),
    ("It's really important you remember the ramp is icy.", "the ramp is icy."),
    ("It is vital you keep in mind that the ferry is late.", "the ferry is late."),
    ("It matters that you never forget that Ana is vegan.", "Ana is vegan."),
    ("It'd help if you kept in mind that the fuse blows.", "the fuse blows."),
    ("I'd love it if you remembered that Petra is deaf.", "Petra is deaf."),
    ("I hope you'll remember that we ship on Fridays.", "we ship on Fridays."),
    ("You'd do well to remember that Ida signs invoices.", "Ida signs invoices."),
    ("Make a point of remembering that the oven runs hot.", "the oven runs hot."),
    ("Just so you remember, Tom left the team.", "Tom left the team."),
    ("So you don't forget: the kiln runs on Tuesdays.", "the kiln runs on Tuesdays."),
    ("Lest you forget: Karim runs the night shift.", "Karim runs the night shift."),
    ("To make sure you remember it: Lea is vegan.", "Lea is vegan."),
    ("Something for you to remember: Bo owns staging.", "Bo owns staging."),
    ("Make a mental note the door code changes in June.", "the door code changes in June."),
    ("It'd be good if you didn't forget that I'm deaf.", "I'm deaf."),
]
NOT_ASKED = [
    "Hold that thought, I need to take a call.",
    "Lock it in the shed.",
    "Make a note the size of a stamp.",
    "Take a note to the office.",
    "Didn't forget that Ana is vegan, good.",
    "Don't let it slip that the shop is for sale.",
    "Don't let this go to waste: the soup is fresh.",
    "One thing you should know: Bo is ill.",
    "Another thing you must remember to do is call Bo.",
    "Burn this disc for the client.",
    "Pin this version in requirements.",
    "Pin this: numpy 1.26",
    "Pin the message in the channel.",
    "Pin down why the pump fails.",
    "Pin this on the wall: the poster of the fair.",
    "Bookmark this page for the meeting.",
    "Take this down from the server.",
    "Take this down.",
    "Take the fence down: it is rotten.",
    "Can you take this down to the cellar?",
    "Hold on to this branch until Friday.",
    "Hold on to the rope.",
    "Hold on: this is the wrong file.",
    "Hold this for a moment.",
    "Hang on to your hat.",
    "Keep on filing the reports.",
    "Keep the receipts on file.",
    "Keep track of the hours.",
    "Keep track of this ticket.",
    "Keep a record of all calls.",
    "Keep hold of the handle.",
    "Set a reminder for Monday.",
    "Send the tenants a reminder that the rent is due.",
    "Is there a reminder that the rent is due?",
    "The reminder that you set has fired.",
    "File this bug under payments.",
    "File the appeal: the court closes at four.",
    "Stick this label on the crate.",
    "Capture this screen: the error shows there.",
    "Preserve the old files.",
    "Bo, did you keep on file that the rent is due?",
    "Do you keep track of the fact that he left?",
    "They keep on file that the rent is due.",
    "She told Bo to hold on to this: the old map.",
    "Don't lose this ticket.",
    "Let it be.",
    "Update your dependencies: the lock file is old.",
    "Update the notes: the release was moved.",
    "Put a pin in this.",
    "Holding on to this: the rope is wet.",
    "Have this on the table: the soup is hot.",
    "A reminder that is late helps nobody.",
    "Reminders, notes and dates sync every hour.",
    "Important reminders - the app - costs 5 euros.",
    "A reminder, which is late, helps nobody.",
    "Worth remembering, but not here.",
    "Reminder emails go out at nine.",
    "It was worth remembering the umbrella.",
    "It's nice you remember that the cake was for Ida.",
    "It's important you finish the slides.",
    "Just so I remember, what was the port again?",
    "So you remember, great!",
    "Just so you don't forget me.",
    "So that we remember how it looked, I took a photo.",
    "I sent a mail around, so you don't forget.",
    "I'm glad you remember that the keys are in the shed.",
]


@pytest.mark.parametrize(("said", "fact"), ASKED)
def test_a_request_is_read_without_a_verb_of_remembering(said: str, fact: str) -> None:
    found = [text.removeprefix("The user said: ") for text in requested(said)]
    assert [text.lower() for text in found] == [fact.lower()]


@pytest.mark.parametrize("said", NOT_ASKED)
def test_what_resembles_such_a_request_asks_for_something_else(said: str) -> None:
    assert find_request(said) is None
    assert requested(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "The editor wrote: just a reminder that the proofs are due.",
        "The letter says to keep on file that the rent is 900.",
        "According to the vendor, hold on to this: the code is 4711.",
        "Vendor: pin this: the account is DE99.",
    ],
)
def test_what_others_ask_in_such_words_is_theirs(said: str) -> None:
    assert requested(said) == []


def test_such_a_request_alone_is_about_what_was_said_before() -> None:
    said = "The spare key hangs in the shed. Pin this to your memory."
    assert requested(said) == ["The spare key hangs in the shed."]
    assert requested("The spare key hangs in the shed. Hold on to this.") == []


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("Write this down \u2014 The spare key hangs in the attic.",
         "The spare key hangs in the attic."),
        ("Jot it down - The spare key hangs in the attic.", "The spare key hangs in the attic."),
        ("Put it on my file that the spare key hangs in the attic.",
         "The spare key hangs in the attic."),
        ("Keep at the back of your mind that the spare key hangs in the attic.",
         "The spare key hangs in the attic."),
        ("Log this for later sessions: the spare key hangs in the attic.",
         "The spare key hangs in the attic."),
        ("The spare key hangs in the attic, bear the key in mind.",
         "The spare key hangs in the attic"),
        ("The spare key hangs in the attic. Keep the key in mind.",
         "The spare key hangs in the attic."),
        ("Bear the key in mind when I ask for it.",
         "The user asked to remember: \u201cBear the key in mind when I ask for it.\u201d"),
    ],
)  # fmt: skip
def test_requests_in_unusual_words_are_kept(said: str, fact: str) -> None:
    found = extract(f"User: {said}\nAssistant: Right.\n")
    assert [one.fact.text for one in found.kept] == [fact]
    assert found.kept[0].is_request


def test_an_order_that_repeats_the_assistants_is_no_request() -> None:
    talk = (
        "User: Exam.\nAssistant: Remember to breathe, and to eat.\nUser: remember to breathe, haha"
    )
    assert not extract(talk).kept
    assert extract("User: Remember to breathe.\nAssistant: Right.\n").kept
