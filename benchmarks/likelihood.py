"""Fit the trees of `memories/core/likelihood.py`, and measure the gate on authors left out.

    PYTHONPATH=. python benchmarks/likelihood.py FILE.jsonl ... [--light FILE.jsonl ...]
        [--unseen FILE.jsonl ...] [--json OUT] [--write]

Needs scikit-learn (`make bench-venv`). A file's lines are of one of three kinds:

- labelled pairs: two statements `a` and `b` and their `label` (contradicts, same, refines,
  compatible, updates or not_a_claim) or `relation`. Their author is what stands before the first
  hyphen of the `id`, or the file.
- pairs of captions: `a`, `b` and `nli` (ENTAILMENT, NEUTRAL, CONTRADICTION). They are measured
  only, reported as `captions`: nothing that was fitted on SICK may ship. Trained on are pairs of
  invented scenes in their place (`benchmarks/ground/scenes.py`).
- stories with `facts` and `expected`: near facts of one story that are not expected to conflict are
  trained on as different, and the pairs of expected ambiguities as contradictions.

For each author of labelled pairs the trees are fitted without that author, and the outcomes of the
gate are counted. `chosen elsewhere` has the figures at thresholds that were chosen on the other
authors, beside those at the thresholds of `memories/core/gate.py`. Pairs of `--light` files are
trained on with a tenth of the weight, are judged by trees without their file, and choose no
threshold. Pairs of `--unseen` files are never trained on and choose none either: they are measured
as another author is. `--write` fits on all other files and replaces
`memories/core/likelihood.npz`. Without a file a few pairs of its own show that it works.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import django
import numpy as np
from numpy.typing import NDArray

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "engram.settings")
django.setup()

from benchmarks.ground.scenes import draw_scenes
from engram.kernel.embedding import embed_windows, use_processors
from memories.core.boosted_trees import BoostedTrees
from memories.core.claims import ClaimComparison, compare, read
from memories.core.gate import decide, rate_sameness
from memories.core.likelihood import RELATIONS, TREES_FILE, Likelihood
from memories.core.objections import objection
from memories.core.pair_features import features_of
from memories.core.token_matches import features_of_matches
from memories.services.index.tokens import incoming_states

Floats = NDArray[np.float64]
THRESHOLD: Final = 0.6  # of the gate: pairs below it are not compared
TRAINED_FROM: Final = 0.5  # cosine of the pairs that are trained on
SMALL_FILE: Final = 500  # pairs; those of such files count more, because they are of another kind
WEIGHTS: Final = {"small file": 3.0, "pair": 1.0, "light": 0.1, "story": 0.5, "scene": 0.1}
SCENES: Final = 1500
UNKNOWN_STATES: Final = 0.1  # weight of the same pair without token states, for other models
CLASS_OF: Final = {
    "contradicts": 0, "same": 1, "refines": 2, "compatible": 3, "not_a_claim": 3, "updates": 4,
    "different": 3,
}  # fmt: skip
OF_SCENES: Final = {  # an entailment is half `same`, half `refines`: which is not labelled
    "ENTAILMENT": ("same", "refines"), "NEUTRAL": ("different",), "CONTRADICTION": ("contradicts",)
}  # fmt: skip
TREES: Final = {
    "max_iter": 300, "learning_rate": 0.05, "max_leaf_nodes": 15, "min_samples_leaf": 30,
    "l2_regularization": 30.0, "max_features": 0.2, "early_stopping": False,
}  # fmt: skip
SEEDS: Final = (0, 1, 2)  # of classifiers whose scores are averaged: they draw other features
MEASURED: Final = ("caption", "unseen")  # kinds of pairs that are never trained on
NO_CONFLICT: Final = ("compatible", "updates", "not_a_claim")
# Share of the pairs without conflict above a threshold, where it is chosen. The aim for another
# author is at most .01.
MOST_APART: Final = 0.008
MOST_SUGGESTED: Final = 0.04  # share of contradictions that may be suggested as the same
OWN: Final = [
    {"author": author, "a": a, "b": b, "label": label, "kind": "pair"}
    for author in ("X", "Y")
    for n in range(24)
    for a, b, label in [
        (f"The pump {n} is checked on Mondays.", f"Pump {n} is checked on Fridays.", "contradicts"),
        (f"The pump {n} is checked on Mondays.", f"On Mondays we check pump {n}.", "same"),
        (f"The pump {n} is checked on Mondays.", f"Pump {n} is as red as the gate.", "compatible"),
    ]
]


class Pair:
    """A labelled pair, compared."""

    def __init__(self, row: Mapping[str, Any], windows: Mapping[str, Any]):
        self.author, self.label, self.kind = row["author"], row["label"], row["kind"]
        self.group = row.get("group", self.author)  # what is left out together
        self.weight = WEIGHTS.get(self.kind, 0.0) * row.get("share", 1.0)
        a, b = row["a"], row["b"]
        self.readings = read(a), read(b)
        self.comparison: ClaimComparison = compare(*self.readings)
        self.cosine = float(windows[a][0] @ windows[b][0])
        states = [incoming_states(text, windows[text]).get(text) for text in (a, b)]
        self.features = features_of(
            *self.readings, self.comparison, self.cosine
        ) | features_of_matches(*states)

    def outcome(self, chances: Likelihood) -> str:
        """Return what the gate does with the pair."""
        found = decide(
            self.comparison, self.cosine, threshold=THRESHOLD, policy="merge",
            provenance_stored="assistant_derived", provenance_incoming="assistant_derived",
            chances=chances,
        ).outcome  # fmt: skip
        is_open = found == "suggested" and self.comparison.relation == "different"
        return "created" if is_open and objection(*self.readings) else found


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the pairs of a file, each with author, label and kind."""
    rows = [json.loads(line) for line in path.open()]
    if "facts" in rows[0]:
        return [pair for row in rows for pair in _pairs_of_story(row)]
    for row in rows:
        if "nli" in row:
            row |= {"author": "captions", "kind": "caption", "label": row["nli"]}
        else:
            row["author"] = row["id"].split("-")[0] if "-" in row["id"] else path.stem
            row["kind"] = "pair" if len(rows) >= SMALL_FILE else "small file"
            row["label"] = row.get("label") or row["relation"]
    return rows


def read_scenes() -> list[dict[str, Any]]:
    """Return the pairs of invented scenes; one of two labels is two rows of half the weight."""
    return [
        {"a": row["a"], "b": row["b"], "label": label, "share": 1 / len(labels)}
        | {"author": "scenes", "kind": "scene"}
        for row in draw_scenes(SCENES, seed=0)
        for labels in [OF_SCENES[row["nli"]]]
        for label in labels
    ]


def _pairs_of_story(story: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """Yield the pairs of a story's facts; of an expected conflict only those of an ambiguity."""
    expected = [(set(one["fact_ids"]), one["kind"]) for one in story["expected"]]
    for position, later in enumerate(story["facts"]):
        for earlier in story["facts"][:position]:
            kinds = [kind for ids, kind in expected if {earlier["id"], later["id"]} <= ids]
            if not kinds or "ambiguity" in kinds:
                yield {
                    "author": "stories", "kind": "story", "a": earlier["content"],
                    "b": later["content"], "label": "contradicts" if kinds else "different",
                }  # fmt: skip


class Ensemble(NamedTuple):
    """Classifiers of scikit-learn that were fitted on the same pairs, each with another seed."""

    members: Sequence[Any]

    def probabilities(self, rows: Floats) -> Floats:
        """Return the probabilities (n, k) of the relations, by the mean of the scores."""
        scores = np.full((len(rows), len(RELATIONS)), -np.inf)
        classes = self.members[0].classes_
        found = [member.decision_function(rows) for member in self.members]
        scores[:, classes] = np.mean(found, axis=0)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances: Floats = odds / odds.sum(axis=1, keepdims=True)
        return chances


def fit(pairs: Sequence[Pair]) -> Ensemble:
    """Return classifiers that were fitted on pairs."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    rows, classes, weights = [], [], []
    for pair in pairs:
        if pair.cosine < TRAINED_FROM or pair.kind in MEASURED:
            continue
        row = np.array(list(pair.features.values()), dtype=np.float64)
        unknown = np.array(list((pair.features | features_of_matches(None, None)).values()))
        for features, share in ((row, 1.0), (unknown, UNKNOWN_STATES)):
            rows.append(features)
            classes.append(CLASS_OF[pair.label])
            weights.append(pair.weight * share)
    given = np.array(rows), np.array(classes)
    return Ensemble(
        [
            HistGradientBoostingClassifier(**TREES, random_state=seed).fit(
                *given, sample_weight=np.array(weights)
            )
            for seed in SEEDS
        ]
    )


def chances_of(pairs: Sequence[Pair], model: Ensemble) -> list[Likelihood]:
    """Return the probabilities of the relations of each pair."""
    return [Likelihood(*map(float, row)) for row in model.probabilities(_matrix(pairs))]


def measure(pairs: Sequence[Pair], model: Ensemble) -> dict[str, Any]:
    """Return the shares of outcomes by label, each author judged by the others.

    `model` is fitted on all pairs that are trained on: it judges those that are only measured.
    """
    judged = [pair for pair in pairs if pair.kind in ("pair", "small file", "light")]
    measured = [pair for pair in pairs if pair.kind in MEASURED]
    chances = _estimate_elsewhere(judged, pairs)
    if measured:
        chances += chances_of(measured, model)
    everything = [*judged, *measured]
    groups: dict[str, list[tuple[Pair, Likelihood]]] = {}
    for pair, found in zip(everything, chances, strict=True):
        groups.setdefault(pair.author, []).append((pair, found))
        if pair.kind != "caption":
            total = pair.kind if pair.kind in ("unseen", "light") else "all"
            groups.setdefault(total, []).append((pair, found))
    shares = {group: _shares(found) for group, found in sorted(groups.items())}
    return shares | {"chosen elsewhere": _choose_elsewhere(everything, chances)}


def _estimate_elsewhere(judged: Sequence[Pair], pairs: Sequence[Pair]) -> list[Likelihood]:
    """Return the estimates of pairs, those of each group by trees that saw only the others."""
    found: dict[int, Likelihood] = {}
    for group in sorted({pair.group for pair in judged}):
        own = [pair for pair in judged if pair.group == group]
        model = fit([pair for pair in pairs if pair.group != group])
        found |= {id(pair): one for pair, one in zip(own, chances_of(own, model), strict=True)}
    return [found[id(pair)] for pair in judged]


def _shares(found: Sequence[tuple[Pair, Likelihood]]) -> dict[str, Any]:
    outcomes: dict[str, list[str]] = {}
    for pair, chances in found:
        outcomes.setdefault(pair.label, []).append(pair.outcome(chances))
    return {
        label: {
            outcome: round(several.count(outcome) / len(several), 4)
            for outcome in ("kept_apart", "merged", "suggested")
        }
        | {"pairs": len(several)}
        for label, several in sorted(outcomes.items())
    }


def _choose_elsewhere(pairs: Sequence[Pair], chances: Sequence[Likelihood]) -> dict[str, Any]:
    """Return what is recognised of each author by scores alone, thresholds from the others.

    Those of light and unseen files are chosen on all authors of labelled pairs.
    """
    authors = np.array([pair.author for pair in pairs])
    labels = np.array([pair.label for pair in pairs])
    near = np.array([pair.cosine >= THRESHOLD for pair in pairs])
    is_fitted = np.array([pair.kind == "pair" for pair in pairs])
    kinds = np.array([pair.kind for pair in pairs])
    apart = np.where(near, [one.contradicts for one in chances], -1.0)
    alike = np.where(near, [rate_sameness(one) for one in chances], -1.0)
    is_quiet, is_same = np.isin(labels, NO_CONFLICT), labels == "same"
    is_other = labels == "contradicts"
    others = [kind for kind in ("light", "unseen") if (kinds == kind).any()]
    named = np.unique(authors[is_fitted | np.isin(kinds, others)])
    groups = {str(author): authors == author for author in named}
    groups |= {kind: kinds == kind for kind in others}
    figures: dict[str, Any] = {}
    if not is_fitted.any():
        return figures
    for group, own in groups.items():
        rest = is_fitted & ~own
        from_apart = np.quantile(apart[rest & is_quiet], 1 - MOST_APART)
        from_alike = np.quantile(alike[rest & is_other], 1 - MOST_SUGGESTED)
        figures[group] = {
            "contradictions recognised": _share(apart[own & is_other] > from_apart),
            "others called so": _share(apart[own & is_quiet] > from_apart),
            "same suggested": _share(alike[own & is_same] > from_alike),
            "contradictions suggested": _share(alike[own & is_other] > from_alike),
        }
    return figures


def _share(hits: NDArray[np.bool_]) -> float:
    return round(float(hits.mean()), 4) if len(hits) else 0.0


def export(model: Ensemble, names: Sequence[str]) -> BoostedTrees:
    """Return the trees of all members as arrays, with the mean of their scores as values."""
    first, share = model.members[0], 1 / len(model.members)
    nodes: list[Any] = []
    roots, classes = [], []
    for trees in (trees for member in model.members for trees in member._predictors):
        for number, tree in enumerate(trees):
            offset = len(nodes)
            roots.append(offset)
            classes.append(int(first.classes_[number]))
            for at, node in enumerate(tree.nodes):
                children = (at, at) if node["is_leaf"] else (node["left"], node["right"])
                nodes.append((node, offset + int(children[0]), offset + int(children[1])))
    baseline = np.full(len(RELATIONS), -np.inf)
    baseline[first.classes_] = np.mean(
        [member._baseline_prediction.ravel() for member in model.members], axis=0
    )
    return BoostedTrees(
        names=tuple(names),
        baseline=baseline,
        roots=np.array(roots, dtype=np.int32),
        classes=np.array(classes, dtype=np.int8),
        features=np.array([0 if n["is_leaf"] else n["feature_idx"] for n, *_ in nodes], np.int16),
        thresholds=np.array([n["num_threshold"] for n, *_ in nodes], dtype=np.float32),
        left=np.array([left for _, left, _ in nodes], dtype=np.int32),
        right=np.array([right for *_, right in nodes], dtype=np.int32),
        unknown_left=np.array([bool(n["missing_go_to_left"]) for n, *_ in nodes]),
        values=np.array([n["value"] * share for n, *_ in nodes], dtype=np.float32),
    )


def _matrix(pairs: Sequence[Pair]) -> Floats:
    return np.array([[float(value) for value in pair.features.values()] for pair in pairs])


def main(arguments: Sequence[str]) -> None:
    """Read the pairs, print the figures, and write what is asked for."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        print("not installed: scikit-learn (make bench-venv); nothing is measured")
        return
    use_processors()
    given = _parse(arguments)
    rows = [row for path in given.files for row in read_rows(path)] or OWN
    rows += read_scenes()[: None if given.files else 60]
    for kind, paths in (("light", given.light), ("unseen", given.unseen)):
        rows += [
            row | {"kind": kind, "group": path.stem}
            if row["kind"] in ("pair", "small file")
            else row
            for path in paths
            for row in read_rows(path)
        ]
    texts = list(dict.fromkeys(text for row in rows for text in (row["a"], row["b"])))
    windows = dict(zip(texts, embed_windows(texts), strict=True))
    pairs = [Pair(row, windows) for row in rows]
    model = fit(pairs)
    figures = json.dumps(measure(pairs, model), indent=1) + "\n"
    print(figures)
    if given.json:
        given.json.write_text(figures)
    if given.write:
        export(model, list(pairs[0].features)).save(TREES_FILE)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--light", type=Path, nargs="+", default=[])
    parser.add_argument("--unseen", type=Path, nargs="+", default=[])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", action="store_true")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
