"""Acknowledge messages so that a broker that does not answer in time stops no worker."""

from __future__ import annotations

from kombu.transport import redis, virtual


class QoS(redis.QoS):
    """Counts a message as done also when the broker could not be told so.

    A worker takes no new message while as many as it may hold are not acknowledged. Kombu's own
    class leaves a message among them for ever when the call to Redis fails, and Celery goes on with
    the same connection: after one call that timed out, a worker with one process does nothing any
    more. Here the error is raised all the same. If Redis kept the message, it delivers it once more
    after the visibility timeout; tasks may run twice.
    """

    def ack(self, delivery_tag: str) -> None:
        """Tell the broker that a message was handled."""
        try:
            super().ack(delivery_tag)
        except BaseException:
            virtual.QoS.ack(self, delivery_tag)
            raise

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Tell the broker that a message was not handled, or shall be delivered again."""
        try:
            super().reject(delivery_tag, requeue)
        except BaseException:
            virtual.QoS.ack(self, delivery_tag)
            raise


def install() -> None:
    """Use it in every connection to Redis of this process that is made from now on."""
    redis.Channel.QoS = QoS
