"""Fixtures of tests with a second embedding model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from memories.services.index.search_index import ensure_vector_index
from tests.homes import PATIENCE_SECONDS
from tests.memories.other_model import OTHER, letters
from tests.model_server import ModelServer


@pytest.fixture
def index_of_other_model(db: None) -> None:
    """Make the index of the other model while nothing is stored: a test is one transaction."""
    ensure_vector_index(OTHER, 8)


@pytest.fixture
def server(settings: Any) -> Iterator[ModelServer]:
    """Run a provider of the other model."""
    with ModelServer() as running:
        running.answer_embeddings(letters)
        settings.ENGRAM_EMBEDDING = settings.ENGRAM_EMBEDDING | {
            "base_url": running.base_url,
            "api_key": "sk-test",
            "timeout_seconds": PATIENCE_SECONDS,
        }
        yield running
