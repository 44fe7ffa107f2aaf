"""What its speaker keeps off the record: beside the request, in a later turn, or everything."""

from __future__ import annotations

import pytest

from memories.core.extraction.extract import extract
from tests.growth import MOST_GROWTH, growth
from tests.memories.test_extraction_rules import kept

FERRY = "User: Remember that the ferry to Lorn leaves at nine."


@pytest.mark.parametrize(
    "request_text",
    [
        "Wait, no, please don't save that.",
        "Never mind, don't keep it.",
        "Oh, I shouldn't have told you; don't note that.",
        "Sorry, that's private, don't store it.",
        "That must not end up in your notes.",
        "Erase that from your memory.",
        "Delete what I just said.",
        "Forget I said anything.",
        "Actually, scratch that last one.",
        "On second thought, no, don't keep the last one.",
        "I'd rather you didn't record that.",
    ],
)
@pytest.mark.parametrize(
    "between", [" ", "\nAgent: Noted: the ferry to Lorn leaves at nine.\nUser: "]
)
def test_a_request_not_to_store_is_about_what_was_said_before(
    request_text: str, between: str
) -> None:
    found = extract(f"User: Remember that Ole rows.\nAgent: ok\n{FERRY}{between}{request_text}\n")
    assert [one.fact.text for one in found.kept] == ["Ole rows."]
    said = {one.reason for one in found.refused if "ferry" in one.text}
    assert said == {"not_to_be_stored"}


def test_a_later_turn_is_about_all_of_the_turn_before() -> None:
    said = "User: From now on Bo rows. Remember that Ada steers.\nAgent: ok\nUser: {}\n"
    assert len(kept(said.format("Thanks!"))) == 2
    assert kept(said.format("That was off the record, by the way.")) == []


@pytest.mark.parametrize(
    "request_text",
    [
        "Don't store anything from this chat.",
        "Please remember nothing of what we discuss today.",
        "This whole conversation is off the record.",
        "Our chat today must not be saved.",
        "None of this should be remembered.",
        "Keep this session out of your memory.",
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_nothing_is_kept_of_a_conversation_that_is_to_be_private(
    request_text: str, is_first: bool
) -> None:
    asks, says = f"User: {request_text}\nAgent: Sure.\n", f"{FERRY}\nAgent: Noted.\n"
    if is_first:
        says = says.replace("Remember that", "From now on")
    assert kept(says) != []
    found = extract(asks + says if is_first else says + asks)
    assert found.kept == ()
    assert {one.reason for one in found.refused} == {"not_to_be_stored"}


def test_what_is_asked_later_is_kept_of_a_private_conversation() -> None:
    said = f"User: Don't store anything from this chat. From now on Bo rows.\nAgent: ok\n{FERRY}\n"
    assert kept(said) == ["The ferry to Lorn leaves at nine."]


@pytest.mark.parametrize(
    "said",
    [
        "Don't tell him that.",
        "\nAgent: Shall I store the log as well?\nUser: No, don't do that.",
        "\nAgent: ok\nUser: Don't keep anything in the fridge of the lab.",
        "\nAgent: I don't store anything from this chat.",
        "\nAgent: ok\nUser: Don't store this: my fee is 90.",
        "Calls with Bern must not be recorded by the office.",
    ],
)
def test_words_that_keep_nothing_private_leave_what_was_said(said: str) -> None:
    assert "The ferry to Lorn leaves at nine." in kept(f"{FERRY} {said}\n")


@pytest.mark.parametrize("line", ["Don't save that. ", "From now on Bo rows. "])
def test_many_requests_not_to_store_are_read_in_linear_time(line: str) -> None:
    def make(length: int) -> str:
        asks = "Don't save that. " * length
        return f"User: {line * length}\nAgent: ok\nUser: {asks}\n"

    assert growth(make, extract, 200) < MOST_GROWTH


def shown(transcript: str) -> str:
    """Return all that is kept, or that people may read among the refusals."""
    found = extract(transcript)
    open_refusals = [one.text for one in found.refused if one.reason != "not_to_be_stored"]
    return " ".join([*(one.fact.text for one in found.kept), *open_refusals])


@pytest.mark.parametrize(
    ("said", "secrets"),
    [
        ("Leave my home town out of your memory. I live in Sundby.", "Sundby"),
        ("Leave my home town out of your memory. I come from Sundby, near Odde.", "Sundby Odde"),
        ("Keep where I live off the record. It is Sundby.", "Sundby"),
        ("Please take my illness out of your notes. It is called ataxia. It began in May.",
         "ataxia May"),
        ("Don't keep my wage in your memory. I get 4100 a month.", "4100"),
        ("I don't want my birthday in your records. I was born on 17 May.", "17"),
        ("My religion stays off the record. I am a Quaker.", "Quaker"),
        ("Our debts must not end up in your notes. We owe Lindqvist 900 euros.", "Lindqvist 900"),
        ("Don't let my phone number end up in your memory. It's 555 0199.", "0199"),
        ("Nothing about my son should be stored. He is called Tarek.", "Tarek"),
        ("My illness must not be stored. It is called ataxia.", "ataxia"),
        ("I don't want my wage stored. It is 4100 a month.", "4100"),
        ("Make no notes about my school. I went to Elmwood.", "Elmwood"),
        ("Leave my ex, who is a lawyer, out of your memory. She sued Brandt.", "Brandt lawyer"),
        ("Keep Ana out of your notes. Ana is a lawyer. She sued Brandt.", "Brandt lawyer"),
        ("What I earn stays off the record: 5200 a month.", "5200"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("answer", ["Ok.", "Understood, {} stays out of it."])
def test_what_follows_about_a_private_topic_is_nowhere_shown(
    said: str, secrets: str, answer: str
) -> None:
    words = secrets.split()
    seen = shown(f"User: Hello.\nAgent: Hi.\nUser: {said}\nAgent: {answer.format(words[0])}\n")
    assert [word for word in words if word in seen] == []


@pytest.mark.parametrize(
    "talk",
    [
        "User: I live in Sundby. {}\nAgent: Ok.\n",
        "User: I live in Sundby.\nAgent: Sundby is pretty.\nUser: {}\nAgent: Ok.\n",
        "User: {}\nAgent: Sure. Where do you live?\nUser: We live in Sundby.\nAgent: Ok.\n",
        "User: Remember that I live in Sundby. {}\nAgent: Ok.\n",
    ],
)
def test_what_is_said_about_a_private_topic_elsewhere_is_not_shown(talk: str) -> None:
    said = talk.format("Leave my home town out of your memory.")
    assert "live in Sundby" not in shown(said)


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("home town", "I am at home in Sundby."),
        ("home town", "Our old flat, near Sundby, burnt."),
        ("home town", "From now on I live in Sundby."),
        ("home town", "My house is the red one in Sundby."),
        ("phone number", "You reach me by my email sundby@example.org."),
        ("occupation and job", "I still work in Sundby."),
    ],
)
def test_what_speakers_say_of_themselves_is_private(topic: str, said: str) -> None:
    talk = f"User: Leave my {topic} out of your memory.\nAgent: Ok.\nUser: {said}\nAgent: Fine.\n"
    assert "sundby" not in shown(talk).lower()


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("home town", "We decided that the home page is static."),
        ("home town", "From now on our house style is British English."),
        ("home town", "We deploy the live system on Mondays."),
        ("phone number", "We decided that the number of retries is 5."),
        ("phone number", "My email signature has to be short."),
        ("occupation and job", "Our work items have owners from now on."),
        ("occupation and job", "We decided that nightly jobs run at 3."),
    ],
)
def test_the_same_words_about_other_things_are_shown(topic: str, said: str) -> None:
    talk = f"User: Leave my {topic} out of your memory.\nAgent: Ok.\nUser: {said}\nAgent: Fine.\n"
    assert said.rstrip(".") in shown(talk)


@pytest.mark.parametrize(
    ("said", "stays"),
    [
        ("Leave my wage out of your memory. I always want metric units.", "metric"),
        ("Leave my wage out of your memory. From now on Bo owns payroll, not Ole.", "payroll"),
        ("Leave my wage out of your memory. Remember that my desk is in Sundby.", "Sundby"),
        ("Leave my wage out of your memory. Bo earns less. The tram is late.", "tram"),
        ("Leave my job out of your memory. I work at Brandt. The report is due.", "report"),
        ("Never keep keys on file. The rule is old.", "rule"),
        ("We don't want logs stored for a year. It costs us 40 euros.", "costs"),
        ("Nothing about customers should be logged. It is the law.", "law"),
        ("Our API keys must not be logged anywhere. It is the law.", "law"),
        ("We don't want our API keys to be logged. It is the law.", "law"),
        ("Nothing about our customers may be stored. It is the law.", "law"),
        ("Bo said I live in Sundby. Keep calm.", "Sundby"),
    ],
)
def test_what_is_about_something_else_is_shown(said: str, stays: str) -> None:
    assert stays in shown(
        f"User: Hello.\nAgent: Hi.\nUser: {said}\nAgent: The report for Brandt is due.\n"
    )


@pytest.mark.parametrize(
    "line",
    [
        "It is Sundby. ",
        "Leave my wage out of your memory. ",
        "My wage is 5. Forget about my wage. ",
    ],
)
def test_private_topics_are_read_in_linear_time(line: str) -> None:
    def make(length: int) -> str:
        return f"User: Leave my wage out of your memory. {line * length}\nAgent: {line * length}\n"

    assert growth(make, extract, 200) < MOST_GROWTH


KEEL = "User: Remember that the keel is lead.\nAgent: OK.\nUser: "


@pytest.mark.parametrize(
    "request_text",
    [
        "Don't store this: Bo is ill.",
        "Never write down that Bo is ill.",
        "Off the record, Bo left.",
        "Don't remember the following: Bo is ill.",
        "Do not memorise that Bo is broke.",
        "You needn't remember this: Bo is ill.",
        "Don't commit this to memory: Bo owes me 300 euros.",
        "Please don't persist this: Bo owes me 300 euros.",
        "Not to be remembered: Bo is in rehab.",
        "Not for the record: Bo will be fired.",
        "The following is not for storage: Bo will be fired.",
        "I'm telling you this off the record: Bo will be fired.",
        "What I'm telling you now is not to be recorded: Bo will be fired.",
        "Forget I said that Bo moves to Kolding.",
        "Bo was arrested in June. That stays between us.",
        "You must not remember my friend Bo, who is ill.",
        "Please don't save my work address. From now on I work at Bo's house.",
        "Please do not note my bank. From now on our bank is Bo & Sons.",
    ],
)
def test_what_names_itself_what_is_private_leaves_the_turn_before(request_text: str) -> None:
    found = extract(KEEL + request_text)
    assert [one.fact.text for one in found.kept] == ["The keel is lead."]
    assert {one.reason for one in found.refused if "Bo" in one.text} == {"not_to_be_stored"}


@pytest.mark.parametrize(
    "request_text",
    [
        "That was a test, please delete it.",
        "Delete that again please.",
        "Never mind, you don't have to remember it.",
        "I changed my mind, don't keep that.",
        "On reflection I don't want this stored.",
        "You can forget that again.",
        "That's wrong, ignore it.",
        "Sorry, that was wrong. Please unremember it.",
        "I was joking.",
        "Oops, please drop that from your memory, it's confidential.",
    ],
)
def test_a_request_is_taken_back_in_the_next_turn(request_text: str) -> None:
    assert kept(KEEL + request_text) == []


@pytest.mark.parametrize(
    "said",
    [
        "Please delete the old branch.",
        "I was joking about the weather.",
        "Don't save my changes yet.",
        "That was a test of the pump.",
        "The bucket is full. Please delete it.",
        "You can ignore the warning.",
        "Don't keep my seat warm.",
        "The record is off by one.",
    ],
)
def test_words_about_something_else_take_nothing_back(said: str) -> None:
    assert "The keel is lead." in kept(KEEL + said)


@pytest.mark.parametrize(
    "said",
    [
        "We have a lease until 2041. Don't note my salary.",
        "I'm vegan. Please don't save my address.",
        "I'm allergic to nuts. Don't record my phone number.",
    ],
)
def test_a_request_about_a_named_thing_leaves_what_is_about_another(said: str) -> None:
    fact, _, request_text = said.partition(". ")
    found = extract(f"User: {said}\nAssistant: Fine.\n")
    refused = {one.text for one in found.refused if one.reason == "not_to_be_stored"}
    assert refused == {request_text}, fact


@pytest.mark.parametrize(
    "said",
    [
        "I make 4,100 a month. Don't note my salary.",
        "I rent in Sundby. Don't note my address.",
        "I take lithium daily. Don't save my diagnosis.",
        "Don't note my salary, but I earn 4,100 a month.",
        "The sensor reads 9.4. Don't save my readings.",
    ],
)
def test_what_may_tell_a_named_private_thing_is_not_stored(said: str) -> None:
    found = extract(f"User: {said}\nAssistant: Fine.\n")
    assert not found.kept
    assert {one.reason for one in found.refused if one.text in said} == {"not_to_be_stored"}
