"""Passes of a model that threads share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest

from engram.kernel import minilm
from engram.kernel.embedding import EmbeddingUnavailableError
from engram.kernel.embedding_providers import LocalProvider
from engram.kernel.minilm import Floats, MiniLM, Tokens
from engram.kernel.passes import SharedPasses, TokenIds, TooManyWaitingError
from tests.homes import PATIENCE_SECONDS, eventually

pytestmark = pytest.mark.usefixtures("every_pass_runs")

SHORT, LONG = [1, 2, 3], list(range(90))


class Model:
    """Returns the sum of each text's ids; a pass waits until the test lets it run."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.passes: list[list[int]] = []  # the lengths of the texts of each pass

    def __call__(self, token_ids: TokenIds) -> list[int]:
        self.passes.append([len(ids) for ids in token_ids])
        assert self.gate.wait(PATIENCE_SECONDS)
        if any(min(ids) < 0 for ids in token_ids):
            raise ValueError("negative")
        return [sum(ids) for ids in token_ids]


def shared(model: Callable[[TokenIds], list[int]], *, max_waiting: int = 100) -> SharedPasses[int]:
    return SharedPasses(model, slots=1, shared_tokens=100, max_waiting=max_waiting)


@contextmanager
def running(passes: SharedPasses[int], groups: list[TokenIds]) -> Iterator[list[object]]:
    """Run groups in threads of their own, begun one after the other; yield their outcomes."""
    outcomes: list[object] = [None] * len(groups)

    def run(place: int) -> None:
        try:
            outcomes[place] = list(passes.run(groups[place]))
        except (ValueError, TooManyWaitingError) as error:
            outcomes[place] = error

    threads = []
    for place in range(len(groups)):
        threads.append(threading.Thread(target=run, args=[place]))
        threads[-1].start()
        assert eventually(partial(_has_begun, passes, outcomes, place))
    yield outcomes
    for thread in threads:
        thread.join(PATIENCE_SECONDS)


def _has_begun(passes: SharedPasses[int], outcomes: list[object], place: int) -> bool:
    """Return whether the group has its place: the first in the slot, each other one waiting."""
    if outcomes[place] is not None:
        return True
    return passes._free_slots == 0 and len(passes._waiting) == place


def test_an_idle_model_starts_at_once() -> None:
    model = Model()
    model.gate.set()
    passes = shared(model)

    assert list(passes.run([SHORT])) == [6]
    assert list(passes.run([SHORT, [5]])) == [6, 5]
    assert model.passes == [[3], [3, 1]]
    assert passes._free_slots == 1


def test_texts_that_wait_share_the_next_pass() -> None:
    model = Model()
    passes = shared(model)
    with running(passes, [[SHORT], [[4, 4, 4]], [[5, 5, 5], [6, 6, 6]], [[7, 7, 7]]]) as outcomes:
        model.gate.set()

    assert outcomes == [[6], [12], [15, 18], [21]]
    assert model.passes == [[3], [3, 3, 3, 3]]
    assert passes._free_slots == 1


def test_texts_of_other_length_run_by_themselves_in_order() -> None:
    model = Model()
    passes = shared(model)
    with running(passes, [[SHORT], [LONG], [SHORT], [LONG], [SHORT]]) as outcomes:
        model.gate.set()

    assert outcomes == [[6], [sum(LONG)], [6], [sum(LONG)], [6]]
    assert model.passes == [[3], [90], [3, 3], [90]]


def test_a_text_that_fails_does_not_fail_others() -> None:
    model = Model()
    passes = shared(model)
    with running(passes, [[SHORT], [[1, 1, 1]], [[-1, 1, 1]], [[2, 2, 2]]]) as outcomes:
        model.gate.set()

    first, second, bad, last = outcomes
    assert (first, second, last) == ([6], [3], [6])
    assert isinstance(bad, ValueError)
    assert passes._free_slots == 1


def test_more_than_the_most_that_may_wait_are_refused() -> None:
    model = Model()
    passes = shared(model, max_waiting=2)
    with running(passes, [[SHORT], [SHORT], [SHORT], [SHORT]]) as outcomes:
        model.gate.set()

    assert outcomes[:3] == [[6], [6], [6]]
    assert isinstance(outcomes[3], TooManyWaitingError)


def test_a_busy_model_is_an_outage_of_the_embedding(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = LocalProvider(minilm.NAME)
    passes = provider._model._passes
    passes._free_slots, passes._max_waiting = 0, 0

    for call in (provider.embed, provider.read):
        with pytest.raises(EmbeddingUnavailableError, match="all-MiniLM-L6-v2 is busy"):
            call(["text"])


def test_threads_get_the_vectors_that_they_get_alone() -> None:
    model = MiniLM()
    texts = [" ".join(["the cat sleeps on mat", "a dog"][i % 2].split() * (1 + i % 5)) + f" {i}"
             for i in range(64)]  # fmt: skip
    alone = [model.read([text]) for text in texts]
    counts: list[int] = []
    run_pass = model._passes._run_pass

    def counted(token_ids: TokenIds) -> object:
        counts.append(len(token_ids))
        return run_pass(token_ids)

    model._passes._run_pass = counted  # type: ignore[assignment]
    found: dict[int, tuple[Floats, list[Tokens]]] = {}
    start = threading.Barrier(16)

    def read(first: int) -> None:
        start.wait(PATIENCE_SECONDS)
        for i in range(first, 64, 16):
            found[i] = model.read([texts[i]])

    threads = [threading.Thread(target=read, args=[first]) for first in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)

    assert sum(counts) == 64
    assert max(counts) > 1
    for i, (vectors, (tokens,)) in enumerate(alone):
        together, (states,) = found[i]
        assert np.abs(together - vectors).max() < 1e-5
        assert states.words == tokens.words
        assert np.abs(states.states.astype(int) - tokens.states).max() <= 1
