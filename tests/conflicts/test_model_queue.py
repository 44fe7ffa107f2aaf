"""Who waits for language models: threads of a worker of their own, where a model is named."""

from __future__ import annotations

import pytest

from conflicts.services.detection.narrative import NARRATE_TASK
from engram.celery import app
from engram.supervisor.plan import names_model


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({}, False),
        ({"OPENAI_API_KEY": ""}, False),
        ({"OPENAI_API_KEY": "sk-1"}, True),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:8080/v1"}, True),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:8080/v1", "ENGRAM_MODEL": ""}, False),
        ({"OPENAI_API_KEY": "sk-1", "ENGRAM_MODEL": "mine"}, True),
        ({"ENGRAM_MODEL": "mine"}, False),
    ],
)
def test_a_model_is_named_by_a_key_or_an_address(environment: dict[str, str], named: bool) -> None:
    assert names_model(environment) is named


def test_what_waits_for_a_model_has_a_queue_of_its_own() -> None:
    def queue(task: str) -> str:
        return str(app.amqp.router.route({}, task)["queue"].name)

    assert queue(NARRATE_TASK) == "models"
    assert queue("conflicts.detect_workspace") == "engram"
    assert set(app.amqp.queues) == {"engram", "models"}
