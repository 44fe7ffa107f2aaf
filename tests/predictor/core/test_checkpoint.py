"""Pitfall 38: bytes that are no checkpoint of this model are refused by one exception."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.checkpoint import (
    FINE_TUNED,
    HEAD_BYTES,
    MAGIC,
    PRETRAINED,
    CheckpointError,
    is_of_another_release,
    under_any_flags,
)
from predictor.core.scorer import Scorer
from tests.predictor.core.worlds import sessions_of

NATIVE = 24


@pytest.fixture(scope="module")
def raw():
    rng = np.random.default_rng(0)
    scorer = Scorer.initial(None, np.zeros((0, NATIVE), dtype=np.float32), rng=rng)
    scorer.fit(sessions_of(rng, 6), rng=rng)
    return scorer.to_bytes()


def _parts(raw):
    length = struct.unpack_from("<I", raw, 12)[0]
    return raw[:16], raw[16 : 16 + length], raw[16 + length :]


def _with_config(raw, **changes):
    head, config, rest = _parts(raw)
    changed = json.loads(config) | changes
    config = json.dumps(changed, sort_keys=True, separators=(",", ":")).encode()
    return head[:12] + struct.pack("<I", len(config)) + config + rest


def test_a_checkpoint_is_read_back_byte_for_byte(raw):
    assert Scorer.from_bytes(raw).to_bytes() == raw
    assert raw[:4] == MAGIC
    assert struct.unpack_from("<II", raw, 4) == (4, FINE_TUNED)
    assert json.loads(_parts(raw)[1])["native"] == NATIVE


def test_the_numbers_are_little_endian_singles(raw):
    scorer = Scorer.from_bytes(raw)
    _, _, rest = _parts(raw)
    assert struct.unpack_from("<Q", rest)[0] == scorer.parameter_count
    assert len(rest) == 8 + 4 * scorer.parameter_count


def test_flags_tell_base_weights_from_what_was_learned_here(raw):
    fresh = Scorer.initial(
        None, np.zeros((0, NATIVE), dtype=np.float32), rng=np.random.default_rng(0)
    )
    base = Scorer.from_bytes(raw).as_base()
    assert (fresh.flags, fresh.is_trained) == (0, False)
    assert (base.flags, base.is_trained) == (PRETRAINED, True)
    base.fit(sessions_of(np.random.default_rng(1), 3), rng=np.random.default_rng(1))
    assert Scorer.from_bytes(base.to_bytes()).flags == PRETRAINED | FINE_TUNED


def test_a_format_of_another_release_is_told_from_what_is_no_checkpoint(raw):
    told = [is_of_another_release(raw[:4] + bytes([n]) + raw[5:HEAD_BYTES]) for n in (2, 3, 4)]
    assert told == [True, True, False]
    for junk in (b"", raw[:8], b"GPT2" + raw[4:HEAD_BYTES]):
        assert is_of_another_release(junk) is False
    with pytest.raises(CheckpointError, match="version 1, of another release"):
        Scorer.from_bytes(raw[:4] + bytes([1]) + raw[5:])


def test_the_same_weights_are_known_under_any_flags(raw):
    found = [Scorer.from_bytes(one) for one in under_any_flags(raw)]
    assert [scorer.flags for scorer in found] == [0, 1, 2, 3]
    for scorer in found:
        scorer.flags = FINE_TUNED
    assert {scorer.to_bytes() for scorer in found} == {raw}


def test_sizes_are_those_of_the_equations():
    for native, wanted in ((384, 1_088_925), (768, 1_113_885)):
        empty = np.zeros((0, native), dtype=np.float32)
        scorer = Scorer.initial(None, empty, rng=np.random.default_rng(0))
        assert scorer.parameter_count == wanted


@pytest.mark.parametrize(
    "broken",
    [
        lambda raw: b"",
        lambda raw: raw[:15],
        lambda raw: b"GPT2" + raw[4:],
        lambda raw: raw[:4] + struct.pack("<I", 1) + raw[8:],
        lambda raw: raw[:8] + struct.pack("<I", 4) + raw[12:],
        lambda raw: raw[:12] + struct.pack("<I", 2**32 - 1) + raw[16:],
        lambda raw: raw[:-1],
        lambda raw: raw[:-4],
        lambda raw: raw + b"\0",
        lambda raw: raw + b"\0\0\0\0",
        lambda raw: raw[:-4] + struct.pack("<f", float("nan")),
        lambda raw: raw[:-4] + struct.pack("<f", float("inf")),
        lambda raw: _with_config(raw, native=NATIVE + 1),
        lambda raw: _with_config(raw, native=0),
        lambda raw: _with_config(raw, native=-5),
        lambda raw: _with_config(raw, native=10**12),
        lambda raw: _with_config(raw, native=True),
        lambda raw: _with_config(raw, native=24.0),
        lambda raw: _with_config(raw, native="24"),
        lambda raw: _with_config(raw, dimension=65),
        lambda raw: _with_config(raw, feature_version=99),
        lambda raw: _with_config(raw, note="x"),
        lambda raw: raw[:16] + b"[" * (len(_parts(raw)[1])) + _parts(raw)[2],
    ],
)
def test_pitfall_38_what_is_no_checkpoint_is_refused(raw, broken):
    with pytest.raises(CheckpointError):
        Scorer.from_bytes(broken(raw))


def test_a_negative_deviation_is_refused(raw):
    scorer = Scorer.from_bytes(raw)
    at = len(raw) - 4 * (8 * 32 + 1)  # the last number but the odds of projects: prior_scale
    assert struct.unpack_from("<f", raw, at)[0] > 0
    with pytest.raises(CheckpointError, match="deviation"):
        Scorer.from_bytes(raw[:at] + struct.pack("<f", -1.0) + raw[at + 4 :])
    assert scorer.is_trained


@given(st.binary(max_size=300))
def test_any_bytes_are_refused_and_nothing_else_happens(junk):
    for candidate in (junk, MAGIC + junk, MAGIC + struct.pack("<III", 2, 0, len(junk)) + junk):
        with pytest.raises(CheckpointError):
            Scorer.from_bytes(candidate)


@given(data=st.data())
def test_a_damaged_checkpoint_is_refused_or_reads_as_it_stands(raw, data):
    at = data.draw(st.integers(0, min(400, len(raw)) - 1))
    byte = data.draw(st.integers(0, 255))
    damaged = raw[:at] + bytes([byte]) + raw[at + 1 :]
    cut = data.draw(st.sampled_from([None, None, data.draw(st.integers(0, len(raw)))]))
    damaged = damaged[:cut]
    try:
        scorer = Scorer.from_bytes(damaged)
    except CheckpointError:
        return
    assert scorer.to_bytes() == damaged
