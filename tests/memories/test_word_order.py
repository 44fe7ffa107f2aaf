"""Texts of the same words are one statement only where their order says the same."""

from __future__ import annotations

from itertools import product

import pytest

from memories.core.claims import compare

# Each pair has nearly the same words; what they tell is not the same.
TELL_OTHERWISE = """
The ledger says that Anna owes Boris 5 euros. | The ledger says that Boris owes Anna 5 euros.
According to the wiki, Lisa trains Mark. | According to the wiki, Mark trains Lisa.
Tom told Anna that Boris lied. | Tom told Boris that Anna lied.
It was Ana who called Ben. | It was Ana who Ben called.
The nurse that the doctor called left. | The doctor that the nurse called left.
Rule 3 overrides rule 5. | Rule 5 overrides rule 3.
The parent of node 3 is node 7. | The parent of node 7 is node 3.
v2 breaks v1 clients. | v1 breaks v2 clients.
retries=3 timeout=5 | retries=5 timeout=3
min: 3 max: 9 | min: 9 max: 3
Oslo flights use gate 3, Rome flights gate 5. | Oslo flights use gate 5, Rome flights gate 3.
Anna works on Monday, Boris on Tuesday. | Anna works on Tuesday, Boris on Monday.
Everyone but Ana may enter. | Everyone and Ana may enter.
The last but one page is blank. | The last page is blank.
I do not know that Ana left. | I know that Ana did not leave.
The test doesn't prove the fix works. | The test proves the fix doesn't work.
It is not certain that it fails. | It is certain that it does not fail.
Not every key works. | Every key does not work.
Few backups failed. | A few backups failed.
Call me in an hour. | Call me for an hour.
Report to the lead. | Report on the lead.
Ana left Ben. | Ana left with Ben.
Ana paid Ben. | Ana paid for Ben.
If the payment fails, the order ends. | If the order ends, the payment fails.
The release is late because the test fails. | The test fails because the release is late.
The test fails so the release is late. | The release is late so the test fails.
Use cache A when B is down. | Use cache B when A is down.
First deploy the API, then the worker. | First deploy the worker, then the API.
a implies b | b implies a
The link carries 5MB-10MB. | The link carries 5Mb-10Mb.
The cable is 5' long. | The cable is 5" long.
The flags are A && B. | The flags are A || B.
The rule is allow. | The rule is !allow.
The edge is a -> b. | The edge is b -> a.
The rest is a - b. | The rest is b - a.
Lena had Tom repair the roof. | Lena had repaired the roof with Tom.
Ana helped. | Ana got helped.
The fish is ready to eat. | The fish is ready to be eaten.
Ana stopped to take the pills. | Ana stopped taking the pills.
The users' key is lost. | The user's key is lost.
Users can edit their own posts. | Users can edit posts.
The disk isn't full yet. | The disk isn't full.
Alpha backs up beta while gamma restores delta. | Gamma backs up beta while alpha restores delta.
The probe waits 3 seconds and retries 5 times. | The probe waits 5 seconds and retries 3 times.
Replica 2 follows replica 9. | Replica 9 follows replica 2.
The lawyer who sued the baker won. | The baker who sued the lawyer won.
Rita thinks that Omar hired Lea. | Omar thinks that Rita hired Lea.
The red valve feeds the blue tank. | The blue valve feeds the red tank.
Prod reads from east and writes to west. | Prod reads from west and writes to east.
Sign the form before you pay the fee. | Pay the fee before you sign the form.
The nightly job never calls the billing job. | The billing job never calls the nightly job.
She promised not to tell him. | She did not promise to tell him.
The old editor of the new journal resigned. | The new editor of the old journal resigned.
Step 4 comes after step 6. | Step 6 comes after step 4.
Because the pump stopped, the tank is empty. | Because the tank is empty, the pump stopped.
The teacher gave the boy to the girl's father. | The girl gave the teacher's father to the boy.
cpu 4, memory 8 | cpu 8, memory 4
Lea expects the driver to call Omar. | Omar expects Lea to call the driver.
The north gate opens at 6, the south gate at 9. | The north gate opens at 9, the south gate at 6.
We ship to Peru through Chile. | We ship to Chile through Peru.
"""

SAY_THE_SAME = """
The team speaks German and English. | The team speaks English and German.
Nadia approves the travel budget. | The travel budget is approved by Nadia.
Deploys run on Monday. | On Monday deploys run.
In summer, breakfast is served at 8. | Breakfast is served at 8 in summer.
If the build fails, tell Rita. | Tell Rita if the build fails.
The limit of uploads is 5 MB. | The upload limit is 5 MB.
We do not deploy on Fridays. | On Fridays we do not deploy.
Uploads are not allowed. | Uploads aren't allowed.
Rita owns billing. | Billing belongs to Rita.
At 9:00 the ferry leaves. | The ferry leaves at 9:00.
"""
# Sentences with two places for things of one kind.
FRAMES = [
    "{} blocks {}.", "It is known that {} blocks {}.", "{} waits until {} is done.",
    "The child of {} is {}.", "{} is older than {}.", "Ask {} before you ask {}.",
    "{} reports on {} every week.",
]  # fmt: skip
THINGS = [("Anna", "Boris"), ("ticket 12", "ticket 15"), ("the red pump", "the blue pump"),
          ("api-7", "api-9"), ("v2", "v3")]  # fmt: skip


def pairs(lines: str) -> list[list[str]]:
    return [line.split(" | ") for line in lines.strip().splitlines()]


def are_one(a: str, b: str) -> bool:
    found = {compare(a, b).relation, compare(b, a).relation}
    return not found.isdisjoint({"same", "refines"})


@pytest.mark.parametrize(("a", "b"), pairs(TELL_OTHERWISE))
def test_the_same_words_that_tell_otherwise_are_not_one_statement(a: str, b: str) -> None:
    assert not are_one(a, b)


@pytest.mark.parametrize(("a", "b"), pairs(SAY_THE_SAME))
def test_phrases_that_are_moved_whole_change_nothing(a: str, b: str) -> None:
    assert are_one(a, b)


@pytest.mark.parametrize(("frame", "things"), list(product(FRAMES, THINGS)))
def test_things_that_change_places_make_another_statement(
    frame: str, things: tuple[str, str]
) -> None:
    assert not are_one(frame.format(*things), frame.format(*things[::-1]))
    assert are_one(frame.format(*things), frame.format(*things))
