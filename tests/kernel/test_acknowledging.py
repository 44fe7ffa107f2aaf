"""A worker goes on with the next message when the broker could not be told of the last one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from celery import signals
from kombu import Queue
from kombu.transport import redis
from redis.exceptions import TimeoutError as RedisTimeoutError

from engram.celery import app


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Connect to the tests' broker as a worker does."""
    monkeypatch.setattr(redis.Channel, "QoS", redis.QoS)  # set back afterwards
    signals.celeryd_init.send(sender="a worker", instance=None, conf=None, options={})
    with app.connection_for_read() as own:
        yield own


@pytest.fixture
def queue(connection: Any) -> Iterator[Any]:
    """Return a queue of the test's own with two messages."""
    own = Queue(f"test-{uuid4()}", channel=connection.default_channel)
    own.declare()
    with connection.Producer() as producer:
        for number in range(2):
            producer.publish({"number": number}, routing_key=own.name)
    yield own
    own.delete()


def test_a_message_that_could_not_be_given_back_leaves_room_for_the_next(
    connection: Any, queue: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = connection.default_channel
    channel.basic_qos(0, 1, False)
    first = queue.get()
    monkeypatch.setattr(type(channel.qos), "restore_by_tag", fail)
    with pytest.raises(RedisTimeoutError):
        first.requeue()
    monkeypatch.undo()
    assert channel.qos.can_consume()
    assert channel.client.hexists(channel.unacked_key, first.delivery_tag)  # delivered again later
    channel.qos.restore_by_tag(first.delivery_tag)


def fail(*_args: object, **_named: object) -> None:
    """Do as a Redis that does not answer."""
    raise RedisTimeoutError("Timeout reading from socket")


@pytest.mark.parametrize(
    "answer", [lambda message: message.ack(), lambda message: message.reject()]
)
def test_a_message_that_the_broker_was_not_told_of_leaves_room_for_the_next(
    connection: Any,
    queue: Any,
    answer: Callable[[Any], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    channel = connection.default_channel
    channel.basic_qos(0, 1, False)
    first = queue.get()
    assert not channel.qos.can_consume()
    monkeypatch.setattr(type(channel.qos), "_remove_from_indices", fail)
    with pytest.raises(RedisTimeoutError):
        answer(first)
    monkeypatch.undo()
    assert channel.qos.can_consume()
    assert channel.client.hexists(channel.unacked_key, first.delivery_tag)  # delivered again later
    second = queue.get()
    assert second.payload == {"number": 1}
    second.ack()
    assert channel.qos.can_consume()
    channel.qos.restore_by_tag(first.delivery_tag)
    again = queue.get()
    assert again.payload == {"number": 0}
    again.ack()
    assert not channel.client.hexists(channel.unacked_key, first.delivery_tag)
