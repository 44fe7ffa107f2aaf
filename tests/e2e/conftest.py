"""Fixtures of the end-to-end tests: one running product, a workspace for each module."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.e2e.browser import Person, chromium
from tests.e2e.service import Service, WorkspaceMaker
from tests.e2e.test_up import Up
from tests.homes import throw_away
from tests.prepared_home import prepare

Visit = Callable[..., Person]


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """Run the product; tests may kill its processes, which come back."""
    home = Path(tmp_path_factory.mktemp("running")) / "a home"
    with throw_away(home):
        up = Up(prepare(home))
        try:
            yield up.wait_until_ready()
        finally:
            up.end_with(signal.SIGTERM)


@pytest.fixture(scope="session")
def workspace_maker(running: Up) -> Iterator[WorkspaceMaker]:
    """Return the process that makes workspaces."""
    started = WorkspaceMaker(running)
    yield started
    started.end()


@pytest.fixture(scope="session")
def service_of(workspace_maker: WorkspaceMaker) -> Callable[[str], Service]:
    """Return a function that returns the workspace of a name, and makes it the first time.

    A worker that takes over tests of another may come back to a module that it has left.
    """
    return cache(partial(Service, workspace_maker))


@pytest.fixture(scope="module")
def service(service_of: Callable[[str], Service], request: pytest.FixtureRequest) -> Service:
    """Return a workspace of its own for the tests of a module."""
    name = request.module.__name__.rpartition(".")[2]
    return service_of(name.removeprefix("test_").replace("_", "-"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Chromium; not for longer than a module: its loop would stop other tests."""
    with chromium() as started:
        yield started


@pytest.fixture
def visit(browser: Browser, service: Service) -> Iterator[Visit]:
    """Return a function that puts the module's person in front of a browser."""
    people: list[Person] = []

    def come(**options: Any) -> Person:
        people.append(Person(browser, service, **options))
        return people[-1]

    yield come
    for person in people:
        person.leave()


@pytest.fixture
def subject(request: pytest.FixtureRequest) -> str:
    """Return a word that only this test's memories use."""
    return re.sub(r"[^a-z]", "", request.node.name.removeprefix("test_"))[:24]
