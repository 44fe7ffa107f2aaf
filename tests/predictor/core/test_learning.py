"""What the recipe learns, and what it refuses to learn from."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from predictor.core import forward, heads, projects
from predictor.core.checkpoint import read
from predictor.core.features import WidthError
from predictor.core.metrics import ndcg
from predictor.core.recipe import Recipe
from predictor.core.scorer import ScoreError, Scorer
from predictor.core.types import SIGNALS, Context
from tests.predictor.core.worlds import candidates_of, context_of, sessions_of, unit

NATIVE = 24


def _scorer(seed=7, recipe=None, texts=None):
    rng = np.random.default_rng(seed)
    return Scorer.initial(recipe, unit(rng.standard_normal((60, NATIVE))), rng=rng, texts=texts)


def _quality(scorer, sessions):
    """Mean nDCG@10 of a scorer over sessions by their labels."""
    values = []
    for session in sessions:
        scores = scorer.score(session.context, session.candidates)
        ranked = np.argsort(-scores, kind="stable").tolist()
        values.append(ndcg(ranked, dict(enumerate(session.labels.tolist()))))
    return float(np.mean(values))


def test_what_pays_is_learned_and_holds_in_new_sessions():
    sessions = sessions_of(np.random.default_rng(1), 100, n=20)
    scorer = _scorer()
    before = _quality(scorer, sessions[60:])
    report = scorer.fit(sessions[:60], rng=np.random.default_rng(2))
    assert _quality(scorer, sessions[60:]) > max(0.85, before + 0.05)
    assert report.samples_used == 60
    assert report.samples_skipped == 0
    assert report.steps == 2 * Recipe().epochs
    assert 0 < report.loss < 0.2
    assert report.cpu_seconds > 0


def test_more_epochs_fit_the_sessions_better():
    sessions = sessions_of(np.random.default_rng(1), 32)
    losses = []
    for epochs in (1, 25, 80):
        scorer = _scorer()
        losses.append(scorer.fit(sessions, rng=np.random.default_rng(2), epochs=epochs).loss)
    assert losses == sorted(losses, reverse=True)


def test_progress_is_told_up_to_the_whole():
    told = []
    _scorer().fit(
        sessions_of(np.random.default_rng(1), 4),
        rng=np.random.default_rng(2),
        epochs=4,
        progress=told.append,
    )
    assert told == [0.25, 0.5, 0.75, 1.0]


def test_flat_and_unsure_sessions_are_skipped_counted_and_teach_nothing():
    sessions = sessions_of(np.random.default_rng(1), 12)
    flat = replace(sessions[0], labels=np.linspace(0.4, 0.5, 12))
    unsure = replace(sessions[1], confidence=0.59)
    one = sessions_of(np.random.default_rng(5), 1, n=1)[0]
    empty = sessions_of(np.random.default_rng(5), 1, n=0)[0]
    plain, mixed = _scorer(), _scorer()
    plain.fit(sessions[2:], rng=np.random.default_rng(2))
    report = mixed.fit(
        [flat, *sessions[2:6], one, unsure, *sessions[6:], empty], rng=np.random.default_rng(2)
    )
    assert (report.samples_used, report.samples_skipped) == (10, 4)
    assert mixed.to_bytes() == plain.to_bytes()


@pytest.mark.parametrize("useless", [[], "flat"])
def test_without_a_useful_session_nothing_is_learned(useless):
    sessions = sessions_of(np.random.default_rng(1), 3)
    if useless:
        useless = [replace(s, labels=np.zeros(12)) for s in sessions]
    scorer = _scorer()
    before = scorer.to_bytes()
    report = scorer.fit(useless, rng=np.random.default_rng(2))
    assert (report.samples_used, report.steps) == (0, 0)
    assert not scorer.is_trained
    assert scorer.to_bytes() == before


@pytest.mark.parametrize(
    ("broken", "error"),
    [
        (lambda s: replace(s, labels=s.labels[:-1]), WidthError),
        (lambda s: replace(s, labels=np.full(12, np.nan)), ScoreError),
        (lambda s: replace(s, labels=np.full(12, 1.5)), ScoreError),
        (lambda s: replace(s, confidence=float("nan")), ScoreError),
        (lambda s: replace(s, context=context_of(np.random.default_rng(0), 25)), WidthError),
        (
            lambda s: replace(
                s, candidates=replace(s.candidates, signals=np.full((12, 12), np.inf))
            ),
            ScoreError,
        ),
    ],
)
def test_a_broken_session_is_refused_and_nothing_changes(broken, error):
    scorer = _scorer()
    sessions = sessions_of(np.random.default_rng(1), 5)
    before = scorer.to_bytes()
    with pytest.raises(error):
        scorer.fit([*sessions, broken(sessions[0])], rng=np.random.default_rng(2))
    assert scorer.to_bytes() == before


_PROGRAM = """
import hashlib
import numpy as np
from tests.predictor.core.worlds import sessions_of, unit
from predictor.core.scorer import Scorer
rng = np.random.default_rng(7)
texts = [np.unique(rng.integers(0, 16_384, 9)) for _ in range(60)]
scorer = Scorer.initial(None, unit(rng.standard_normal((60, 24))), rng=rng, texts=texts)
scorer.fit(sessions_of(np.random.default_rng(1), 20), rng=np.random.default_rng(2))
print(hashlib.sha256(scorer.to_bytes()).hexdigest())
"""


def test_pitfall_35_the_same_seed_gives_the_same_bytes_in_every_process():
    digests = set()
    for seed in ("1", "2"):
        ran = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        )
        digests.add(ran.stdout.strip().decode())
    rng = np.random.default_rng(7)
    texts = [np.unique(rng.integers(0, 16_384, 9)) for _ in range(60)]
    scorer = Scorer.initial(None, unit(rng.standard_normal((60, 24))), rng=rng, texts=texts)
    scorer.fit(sessions_of(np.random.default_rng(1), 20), rng=np.random.default_rng(2))
    assert digests == {hashlib.sha256(scorer.to_bytes()).hexdigest()}


def test_what_being_shown_adds_to_a_label_is_not_learned_as_worth():
    rng = np.random.default_rng(3)
    truth = sessions_of(rng, 120, n=20)
    biased = []
    for session in truth[:80]:
        shown = session.candidates.signals[:, 1] > 0.6  # the baseline shows what is important
        labels = np.clip(
            session.labels - 0.5 * session.candidates.signals[:, 1] + 0.1 * shown, -1, 1
        )
        biased.append(
            replace(
                session, labels=labels, candidates=replace(session.candidates, is_injected=shown)
            )
        )
    blind = [replace(s, candidates=replace(s.candidates, is_injected=None)) for s in biased]
    scorers = [_scorer(), _scorer()]
    scorers[0].fit(biased, rng=np.random.default_rng(2))
    scorers[1].fit(blind, rng=np.random.default_rng(2))
    weights = [read(scorer.to_bytes())[0]["signal_head"][1] for scorer in scorers]
    assert weights[0] < weights[1] - 0.02


def test_columns_that_never_vary_are_left_at_zero():
    sessions = sessions_of(np.random.default_rng(1), 10)
    weights, _ = read(_trained(sessions).to_bytes())
    constant = [SIGNALS.index(name) for name in ("is_embedded", "is_superseded", "hour_sin")]
    assert (weights["signal_scale"][constant] == 0).all()
    assert (weights["signal_scale"][[0, 1, 2]] > 0).all()
    candidates = sessions[0].candidates
    signals = candidates.signals.copy()
    signals[:, constant] += 100
    scorer = _trained(sessions)
    plain = scorer.score(sessions[0].context, candidates)
    assert (scorer.score(sessions[0].context, replace(candidates, signals=signals)) == plain).all()


def _trained(sessions):
    scorer = _scorer()
    scorer.fit(sessions, rng=np.random.default_rng(2))
    return scorer


def test_two_projects_want_other_memories_in_the_same_context():
    rng = np.random.default_rng(6)
    pool = candidates_of(rng, 16, NATIVE, share_text=0)
    context, sessions = context_of(rng, NATIVE), []
    for number in range(60):
        slot = (3, 20)[number % 2]
        labels = np.where(np.arange(16) < 8, 0.0, 0.9)
        session = sessions_of(rng, 1, n=16)[0]
        sessions.append(
            replace(
                session,
                context=replace(context, project_slot=slot),
                candidates=pool,
                labels=labels if slot == 3 else 0.9 - labels,
            )
        )
    scorer = _trained(sessions)
    for slot, better in ((3, slice(8, 16)), (20, slice(0, 8))):
        scores = scorer.score(replace(context, project_slot=slot), pool)
        assert scores[better].mean() > scores.mean() + 0.1


def test_a_session_without_a_project_is_read_by_its_hour():
    def at(hour, slot):
        return Context(None, slot, hour, 2.0, 5.0, 1.0)

    rng = np.random.default_rng(8)
    sessions = []
    for number in range(80):
        slot, hour = ((4, 9.0), (11, 20.0))[number % 2]
        session = sessions_of(rng, 1)[0]
        sessions.append(replace(session, context=at(hour + rng.uniform(-1, 1), slot)))
    scorer = _trained(sessions)
    weights, _ = read(scorer.to_bytes())
    morning, evening = at(9.5, None), at(20.5, None)
    times = forward.times_of([morning, evening], weights)
    odds = forward.projects_of([morning, evening], times, weights)
    assert odds.sum(axis=1) == pytest.approx([1, 1], abs=1e-5)
    assert odds[0, 4] > 0.8
    assert odds[1, 11] > 0.8


def test_no_tagged_session_means_even_odds():
    logits = heads.fit_project_logits([], read(_scorer().to_bytes())[0])
    assert (logits == logits[0, 0]).sum() == 7 * 32
    assert np.ptp(logits[-1]) == 0


def test_texts_are_ranked_by_their_words_without_any_label():
    rng = np.random.default_rng(9)
    topics = unit(rng.standard_normal((6, NATIVE)))
    words = rng.permutation(16_384)[:120].reshape(6, 20)
    of = rng.integers(0, 6, 300)
    embeddings = unit(topics[of] + 0.15 * rng.standard_normal((300, NATIVE)))
    texts = [np.unique(rng.choice(words[topic], 8)) for topic in of]
    scorer = Scorer.initial(None, embeddings, rng=rng, texts=texts)
    pool = candidates_of(rng, 60, NATIVE, share_text=1.1)
    about = rng.integers(0, 6, 60)
    pool = replace(
        pool,
        token_buckets=[np.unique(rng.choice(words[topic], 8)) for topic in about],
        log_effectiveness=np.zeros(60),
        embeddings=np.full((60, NATIVE), np.nan, dtype=np.float32),
    )
    for topic in range(6):
        scores = scorer.score(replace(context_of(rng), embedding=topics[topic]), pool)
        assert scores[about == topic].min() > scores[about != topic].max()


def test_a_model_that_knew_no_memories_learns_them_from_its_first_sessions():
    rng = np.random.default_rng(1)
    sessions = sessions_of(rng, 60, n=20)
    scorer = Scorer.initial(None, np.zeros((0, NATIVE), dtype=np.float32), rng=rng)
    assert not read(scorer.to_bytes())[0]["mean"].any()
    scorer.fit(sessions[:40], rng=rng)
    weights, _ = read(scorer.to_bytes())
    assert weights["mean"].any()
    assert weights["words"].any()
    assert _quality(scorer, sessions[40:]) > 0.8


@pytest.mark.parametrize("share_text", [0.0, 1.1])
def test_sessions_of_one_kind_of_candidates_are_learned_from(share_text):
    rng = np.random.default_rng(1)
    sessions = [
        replace(s, candidates=candidates_of(rng, 12, NATIVE, share_text=share_text))
        for s in sessions_of(rng, 8)
    ]
    scorer = _scorer()
    assert scorer.fit(sessions, rng=rng).samples_used == 8
    assert np.isfinite(scorer.score(sessions[0].context, sessions[0].candidates)).all()


def test_learning_more_begins_where_learning_stopped():
    sessions = sessions_of(np.random.default_rng(1), 60, n=20)
    scorer = _trained(sessions[:40])
    before = read(scorer.to_bytes())[0]
    quality = _quality(scorer, sessions[50:])
    scorer.fit(sessions[40:50], rng=np.random.default_rng(3))
    after = read(scorer.to_bytes())[0]
    for name in ("mean", "words", "signal_mean", "signal_scale", "project_logits"):
        assert (after[name] == before[name]).all()
    assert _quality(scorer, sessions[50:]) > quality - 0.05


def test_texts_keep_their_measure_where_similarity_pays_nothing_for_vectors(monkeypatch):
    """The scale of texts is a ratio to the gain, which is bounded from below."""
    kept = []
    fit = projects.fit_projects

    def fit_projects(state, batches, *, penalties):
        kept.append(state["scale_text"] / scorer._weights["scale_text"])
        return fit(state, batches, penalties=penalties)

    monkeypatch.setattr(projects, "fit_projects", fit_projects)
    rng = np.random.default_rng(3)
    sessions = []
    for session in sessions_of(rng, 40, n=20):
        near = session.candidates.embeddings @ unit(rng.standard_normal(NATIVE))
        if session.context.embedding is not None:
            near = session.candidates.embeddings @ session.context.embedding
        labels = np.where(session.candidates.is_embedded, 0.5 - near, 0.5 + near).clip(0, 1)
        sessions.append(replace(session, labels=labels))
    scorer = _scorer(recipe=Recipe(head_penalty=1e-3))
    scorer.fit(sessions, rng=np.random.default_rng(2), epochs=1)
    assert len(kept) == 4  # of all sessions, and of those that three folds leave
    for scale in kept:
        assert scale == pytest.approx(np.full_like(scale, scale[0]))
        assert 1 / 3 <= scale[0] <= 3


@pytest.mark.parametrize("scale", [29.0, 0.1])
def test_the_scale_of_texts_stays_within_its_bounds(scale):
    state = read(_scorer().to_bytes())[0]
    state["scale_text"][:] = scale
    scorer = Scorer(state)
    sessions = sessions_of(np.random.default_rng(1), 6)
    assert any(not s.candidates.is_embedded.all() for s in sessions)
    scorer.fit(sessions, rng=np.random.default_rng(2), epochs=1)
    found = read(scorer.to_bytes())[0]["scale_text"]
    low, high = heads.TEXT_SCALES
    assert np.allclose(found.min(), low) or found.min() > low
    assert np.allclose(found.max(), high) or found.max() < high


def test_what_is_learned_is_added_to_the_baseline():
    """Where labels are what the baseline says, the order stays as it was."""
    rng = np.random.default_rng(4)
    sessions = []
    for session in sessions_of(rng, 40, n=20):
        baseline = rng.random(20)
        own = replace(session.candidates, baseline=baseline)
        sessions.append(replace(session, candidates=own, labels=baseline))
    scorer = _scorer()
    assert _quality(scorer, sessions[30:]) == 1.0
    scorer.fit(sessions[:30], rng=np.random.default_rng(2))
    assert _quality(scorer, sessions[30:]) > 0.97


def test_the_same_context_asks_for_other_memories_at_other_hours():
    rng = np.random.default_rng(6)
    pool = candidates_of(rng, 16, NATIVE, share_text=0)
    context, sessions = replace(context_of(rng, NATIVE), project_slot=3), []
    for number in range(80):
        hour = (9.0, 21.0)[number % 2] + rng.uniform(-1, 1)
        labels = np.where(np.arange(16) < 8, 0.0, 0.9)
        session = sessions_of(rng, 1, n=16)[0]
        sessions.append(
            replace(
                session,
                context=replace(context, hour=hour),
                candidates=pool,
                labels=labels if hour < 15 else 0.9 - labels,
            )
        )
    scorer = _trained(sessions)
    for hour, better in ((9.0, slice(8, 16)), (21.0, slice(0, 8))):
        scores = scorer.score(replace(context, hour=hour), pool)
        assert scores[better].mean() > scores.mean() + 0.05


def _told_by(rng, count, labels_of):
    """Return sessions with a baseline, whose labels are what `labels_of` makes of a session."""
    sessions = []
    for plain in sessions_of(rng, count, n=20):
        own = replace(plain.candidates, baseline=rng.random(20))
        session = replace(plain, candidates=own)
        sessions.append(replace(session, labels=labels_of(session)))
    return sessions


def test_where_nothing_can_be_learned_the_order_stays_the_baselines():
    rng = np.random.default_rng(12)
    noisy = _told_by(
        rng,
        40,
        lambda s: np.clip(s.candidates.baseline + 0.2 * rng.standard_normal(20), 0, 1),
    )
    scorer = _scorer()
    scorer.fit(noisy, rng=np.random.default_rng(2))
    candidates = noisy[0].candidates
    scores = scorer.score(noisy[0].context, candidates)
    assert read(scorer.to_bytes())[0]["trust"].tolist() == [0.0]
    assert np.argsort(-scores).tolist() == np.argsort(-candidates.baseline).tolist()


def test_what_holds_in_sessions_not_learned_from_is_added_whole():
    sessions = _told_by(np.random.default_rng(12), 40, lambda s: s.labels)
    scorer = _scorer()
    before = _quality(scorer, sessions[30:])
    scorer.fit(sessions[:30], rng=np.random.default_rng(2))
    assert read(scorer.to_bytes())[0]["trust"].tolist() == [1.0]
    assert _quality(scorer, sessions[30:]) > before + 0.1


@pytest.mark.parametrize(("count", "share"), [(5, 0.0), (12, 1.0)])
def test_a_few_sessions_are_too_few_to_leave_the_baseline(count, share):
    sessions = _told_by(np.random.default_rng(12), count, lambda s: s.labels)
    scorer = _scorer()
    scorer.fit(sessions, rng=np.random.default_rng(2))
    assert read(scorer.to_bytes())[0]["trust"].tolist() == [share]


def test_without_a_baseline_all_is_added_that_was_learned():
    assert read(_trained(sessions_of(np.random.default_rng(1), 5)).to_bytes())[0]["trust"] == 1
