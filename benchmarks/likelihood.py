"""Fit the trees of `memories/core/likelihood.py`, and measure the gate on authors left out.

    PYTHONPATH=. python benchmarks/likelihood.py FILE.jsonl ... [--json OUT] [--write]

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
authors, beside those at the thresholds of `memories/core/gate.py`. `--write` fits on all and
replaces `memories/core/likelihood.npz`. Without a file a few pairs of its own show that it works.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import django
import numpy as np
from numpy.typing import NDArray

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "engram.settings")
django.setup()

from benchmarks.ground.scenes import draw_scenes
from engram.kernel.embedding import embed_windows, use_processors
from memories.core.boosted_trees import BoostedTrees
from memories.core.claims import ClaimComparison, compare, read
from memories.core.gate import decide
from memories.core.likelihood import RELATIONS, TREES_FILE, Likelihood
from memories.core.objections import objection
from memories.core.pair_features import features_of
from memories.core.token_matches import features_of_matches
from memories.services.index.tokens import incoming_states

Floats = NDArray[np.float64]
THRESHOLD: Final = 0.6  # of the gate: pairs below it are not compared
TRAINED_FROM: Final = 0.5  # cosine of the pairs that are trained on
SMALL_FILE: Final = 500  # pairs; those of such files count more, because they are of another kind
WEIGHTS: Final = {"small file": 3.0, "pair": 1.0, "story": 0.5, "scene": 0.1}
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
    "max_iter": 150, "learning_rate": 0.05, "max_leaf_nodes": 15, "min_samples_leaf": 30,
    "l2_regularization": 5.0, "random_state": 0,
}  # fmt: skip
NO_CONFLICT: Final = ("compatible", "updates", "not_a_claim")
MOST_APART: Final = 0.01  # share of pairs without conflict that may be kept apart
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


def fit(pairs: Sequence[Pair]) -> Any:
    """Return a fitted classifier of scikit-learn."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    rows, classes, weights = [], [], []
    for pair in pairs:
        if pair.cosine < TRAINED_FROM or pair.kind == "caption":
            continue
        row = np.array(list(pair.features.values()), dtype=np.float64)
        unknown = np.array(list((pair.features | features_of_matches(None, None)).values()))
        for features, share in ((row, 1.0), (unknown, UNKNOWN_STATES)):
            rows.append(features)
            classes.append(CLASS_OF[pair.label])
            weights.append(pair.weight * share)
    return HistGradientBoostingClassifier(**TREES).fit(
        np.array(rows), np.array(classes), sample_weight=np.array(weights)
    )


def chances_of(pairs: Sequence[Pair], model: Any) -> list[Likelihood]:
    """Return the probabilities of the relations of each pair."""
    found = np.zeros((len(pairs), len(RELATIONS)))
    found[:, model.classes_] = model.predict_proba(_matrix(pairs))
    return [Likelihood(*map(float, row)) for row in found]


def measure(pairs: Sequence[Pair]) -> dict[str, Any]:
    """Return the shares of outcomes by label, each author judged by the others."""
    judged = [pair for pair in pairs if pair.kind in ("pair", "small file")]
    authors = np.array([pair.author for pair in judged])
    chances = np.empty(len(judged), dtype=object)
    captions = [pair for pair in pairs if pair.kind == "caption"]
    for author in sorted(set(authors)):
        model = fit([pair for pair in pairs if pair.author != author])
        asked = np.flatnonzero(authors == author)
        for at, found in zip(asked, chances_of([judged[i] for i in asked], model), strict=True):
            chances[at] = found
    groups = {
        group: _shares([(judged[i], chances[i]) for i in range(len(judged)) if _is_of(i)])
        for group in (*sorted(set(authors)), "all")
        for _is_of in [lambda i, group=group: group in ("all", authors[i])]
    }
    if captions:
        found = chances_of(captions, fit(pairs))
        groups["captions"] = _shares(list(zip(captions, found, strict=True)))
    return groups | {"chosen elsewhere": _choose_elsewhere(judged, list(chances))}


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
    """Return what is recognised of each author by scores alone, thresholds from the others."""
    authors = np.array([pair.author for pair in pairs])
    labels = np.array([pair.label for pair in pairs])
    near = np.array([pair.cosine >= THRESHOLD for pair in pairs])
    apart = np.where(near, [one.contradicts for one in chances], -1.0)
    ratio = [one.same / (one.contradicts + 0.02) ** 0.5 for one in chances]
    alike = np.where(near, ratio, -1.0)
    is_quiet, is_same = np.isin(labels, NO_CONFLICT), labels == "same"
    is_other = labels == "contradicts"
    figures = {}
    for author in sorted({one.author for one in pairs if one.kind == "pair"}):
        rest, own = (authors != author) & np.isin(authors, _large(pairs)), authors == author
        from_apart = np.quantile(apart[rest & is_quiet], 1 - MOST_APART)
        from_alike = np.quantile(alike[rest & is_other], 1 - MOST_SUGGESTED)
        figures[author] = {
            "contradictions recognised": _share(apart[own & is_other] > from_apart),
            "others called so": _share(apart[own & is_quiet] > from_apart),
            "same suggested": _share(alike[own & is_same] > from_alike),
            "contradictions suggested": _share(alike[own & is_other] > from_alike),
        }
    return figures


def _large(pairs: Sequence[Pair]) -> list[str]:
    return sorted({pair.author for pair in pairs if pair.kind == "pair"})


def _share(hits: NDArray[np.bool_]) -> float:
    return round(float(hits.mean()), 4) if len(hits) else 0.0


def write(pairs: Sequence[Pair]) -> None:
    """Fit on all pairs and replace the trees of the product."""
    export(fit(pairs), list(pairs[0].features)).save(TREES_FILE)


def export(model: Any, names: Sequence[str]) -> BoostedTrees:
    """Return the trees of a fitted classifier as arrays."""
    nodes: list[Any] = []
    roots, classes, depth = [], [], 0
    for trees in model._predictors:
        for number, tree in enumerate(trees):
            offset = len(nodes)
            roots.append(offset)
            classes.append(int(model.classes_[number]))
            for at, node in enumerate(tree.nodes):
                children = (at, at) if node["is_leaf"] else (node["left"], node["right"])
                nodes.append((node, offset + int(children[0]), offset + int(children[1])))
            depth = max(depth, int(tree.nodes["depth"].max()))
    baseline = np.full(len(RELATIONS), -np.inf)
    baseline[model.classes_] = model._baseline_prediction.ravel()
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
        values=np.array([n["value"] for n, *_ in nodes], dtype=np.float32),
        depth=depth,
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
    out = arguments[arguments.index("--json") + 1] if "--json" in arguments else None
    files = [name for name in arguments if not name.startswith("--") and name != out]
    rows = [row for name in files for row in read_rows(Path(name))] or OWN
    rows += read_scenes()[: None if files else 60]
    texts = list(dict.fromkeys(text for row in rows for text in (row["a"], row["b"])))
    windows = dict(zip(texts, embed_windows(texts), strict=True))
    pairs = [Pair(row, windows) for row in rows]
    figures = json.dumps(measure(pairs), indent=1) + "\n"
    print(figures)
    if out:
        Path(out).write_text(figures)
    if "--write" in arguments:
        write(pairs)


if __name__ == "__main__":
    main(sys.argv[1:])
