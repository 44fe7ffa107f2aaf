"""What a writer says that an answer was before, and that something is still so."""

from __future__ import annotations

import numpy as np
import pytest

from conflicts.core.answers.history import Histories
from conflicts.core.answers.index import AnswerIndex, StatedAnswer
from conflicts.core.detective import detect
from conflicts.core.facts import DetectiveSettings
from conflicts.core.timeline import Timeline
from memories.core.answers import Answer
from tests.conflicts.answers.test_findings import rules, told
from tests.conflicts.test_core_detective import NOW, similar


def test_an_earlier_answer_settles_what_the_texts_contradict() -> None:
    asked = "Who keeps the cellar code?"
    lena = ("Lena Ottmar keeps the cellar code.", Answer(asked, "Lena Ottmar"))
    paul = "Paul Adler keeps the cellar code."
    vector = {asked: np.array([1.0, 0.0], dtype=np.float32)}

    def kinds(was: str | None) -> set[str]:
        made = told(lena, (paul, Answer(asked, "Paul Adler", was=was)))
        return {f.kind for f in detect(made, similar(made, 0.7), now=NOW, questions=vector)}

    assert kinds(None) == kinds("Ida Renn") == {"ambiguity"}
    assert kinds("Lena Ottmar") == set()


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        ("The depot in Remol closes at 17:00.", "The depot in Remol closes at 19:00.",
         Answer("Which depot is it?", "the Remol depot", was="depot")),
        ("Team Kite pages after 5 minutes.", "Team Kite pages after 10 minutes.",
         Answer("Which team pages?", "Team Kite", was="Kite")),
        ("The kiosk timeout of Remol is 30 s.", "The kiosk timeout of Remol is 60 s.",
         Answer("What is the kiosk timeout in Holm?", "60 s", was="30 s")),
        ("The deadline of the Holm order is 3 May; Ana owns it.",
         "The deadline of the Holm order is 9 May; Milan owns it.",
         Answer("Who owns the Holm order?", "Milan", was="Ana")),
    ],
)  # fmt: skip
def test_an_earlier_answer_settles_no_other_contradiction(
    old: str, new: str, answer: Answer
) -> None:
    made = told((old,), (new, answer))
    vector = {answer.question: np.array([1.0, 0.0], dtype=np.float32)}
    assert detect(made, similar(made, 0.8), now=NOW, questions=vector)


@pytest.mark.parametrize(
    "asked",
    [
        "Is orion-7 still running hot?",
        "Is orion-7 still available over FTP?",
        "Is orion-7 still operating on battery?",
    ],
)
def test_what_is_no_longer_so_is_not_gone(asked: str) -> None:
    used = ("Logs go to orion-7.", Answer("Where do logs go?", "orion-7"))
    assert rules(used, ("orion-7 has a new fan.", Answer(asked, "no"))) == []


@pytest.mark.parametrize(
    ("before", "now", "text"),
    [
        ("Lena Ottmar", "the sous-chef", "Since June the sous-chef keeps the code, not Lena."),
        ("Lena Ottmar", "the sous-chef", "The sous-chef keeps the cellar code."),
        ("the sous-chef", "Lena Ottmar", "Lena Ottmar keeps the cellar code."),
    ],
)
def test_a_name_and_a_role_follow_each_other_where_the_writer_says_so(
    before: str, now: str, text: str
) -> None:
    asked = "Who keeps the cellar code?"
    made = told(
        (f"The cellar code is with {before}.", Answer(asked, before)),
        (text, Answer(asked, now, was=before)),
    )
    timeline = Timeline(made, similar(made, 0.5), DetectiveSettings())
    index = AnswerIndex(timeline, {asked: np.array([1.0, 0.0], dtype=np.float32)})
    stated = [StatedAnswer(at, fact.answers[0]) for at, fact in enumerate(made)]
    history = Histories(timeline, index).read(stated)
    assert [one.answer.answer for one in history.holding] == [now]
