"""What processes load when they start."""

from __future__ import annotations

import pytest

from tests.conftest import Tenant
from tests.homes import PATIENCE_SECONDS
from tests.kernel.test_heartbeat import process, tenant

__all__ = ["tenant"]

pytestmark = pytest.mark.django_db(transaction=True)

CODE = """
import threading
from django.conf import settings
settings.ENGRAM_EMBEDDING = settings.ENGRAM_EMBEDDING | {options}
import engram.asgi
from engram.kernel import embedding
for thread in threading.enumerate():
    if thread.name == "model":
        thread.join(60)
print([provider.name for provider in embedding._providers.values()])
"""


@pytest.mark.parametrize(
    ("options", "loaded"),
    [
        ({"provider": "local", "model": "all-MiniLM-L6-v2"}, "['all-MiniLM-L6-v2']"),
        ({"provider": "openai", "base_url": "http://127.0.0.1:9"}, "[]"),  # costs money to ask
        ({"provider": "local", "model": "of another release"}, "[]"),
    ],
)
def test_a_web_process_has_the_local_model_in_memory_unasked(
    tenant: Tenant, options: dict[str, str], loaded: str
) -> None:
    with process(CODE.replace("{options}", repr(options)), tenant) as running:
        said, _ = running.communicate(timeout=PATIENCE_SECONDS)
    assert (said.strip(), running.returncode) == (loaded, 0)


WORKER = """
from engram.celery import app
app.loader.import_default_modules()
print("memories.tasks" in sys.modules, "unfold.admin" in sys.modules, "onnxruntime" in sys.modules)
"""


def test_a_process_without_pages_loads_neither_pages_nor_the_model(tenant: Tenant) -> None:
    with process(WORKER, tenant) as running:
        printed, _ = running.communicate(timeout=PATIENCE_SECONDS)
    assert printed.split() == ["True", "False", "False"]


ALIVE = """
import asyncio, gc, sys, threading
import engram.asgi
from concurrent.futures import ThreadPoolExecutor
for thread in threading.enumerate():
    if thread.name == "model":
        thread.join(60)

def no_thread(self, *given, **named):
    raise AssertionError("this waits for a thread")

ThreadPoolExecutor.submit = no_thread
sent = []

async def receive():
    return {"type": "http.request", "body": b"", "more_body": False}

async def send(message):
    sent.append(message)

scope = {"type": "http", "method": "GET", "path": "/healthz", "query_string": b"",
         "headers": [(b"host", b"localhost")]}
asyncio.run(engram.asgi.application(scope, receive, send))
print(sent[0]["status"], sent[1]["body"].decode())
print(gc.get_freeze_count() > 50_000, sys.getswitchinterval())
"""


def test_a_web_process_is_alive_without_a_thread_and_stops_for_no_garbage(tenant: Tenant) -> None:
    with process(ALIVE, tenant) as running:
        said, _ = running.communicate(timeout=PATIENCE_SECONDS)
    alive, quick = said.splitlines()[-2:]
    assert (alive, quick) == ('200 {"status": "ok"}', "True 0.001")


COLD = """
import asyncio
from threading import Event
from engram.kernel import embedding
may_load, sent, load = Event(), [], embedding._load

def slowly(options):
    assert may_load.wait(60)
    return load(options)

embedding._load = slowly
import engram.asgi

async def main():
    received = asyncio.Queue()
    received.put_nowait({"type": "lifespan.startup"})

    async def send(message):
        sent.append((message["type"], len(embedding._providers)))

    serving = asyncio.create_task(
        engram.asgi.application({"type": "lifespan"}, received.get, send)
    )
    await asyncio.sleep(1)
    print(sent)
    may_load.set()
    received.put_nowait({"type": "lifespan.shutdown"})
    await serving
    print(sent[0])

asyncio.run(main())
"""


def test_a_web_process_serves_nobody_before_the_model_is_loaded(tenant: Tenant) -> None:
    with process(COLD, tenant) as running:
        printed, _ = running.communicate(timeout=PATIENCE_SECONDS)
    assert printed.splitlines() == ["[]", "('lifespan.startup.complete', 1)"]
