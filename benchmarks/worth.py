"""Fit the weights of `memories/core/extraction/worth.py`, and measure it on sessions left out.

    PYTHONPATH=. python benchmarks/worth.py [FILE.jsonl ...] [--json OUT] [--predictions OUT]
        [--write]

A file's lines are transcripts as for `evaluate --extraction`: `id`, `transcript`, `keep` (with a
`quote`) and `refuse` (with a `text`). Its author is what stands before the first hyphen of the
`id`. `transcripts.jsonl` and `transcripts_3.jsonl` of `benchmarks/extraction/` are always read too,
`transcripts_2.jsonl` never: nothing is fitted on it.

For each author the weights are fitted on the others, and then, for each tenth of the sessions of an
author of `MANY` sessions at least, on all other sessions, those of other authors too; the figures
are those of `extract()` at the threshold in use. What a
memory says already is not known here, so that such statements count as errors. `--write` fits on
all and replaces `memories/core/extraction/worth.npz`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memories.core.extraction.describing import Describing
from memories.core.extraction.extract import WORTH_FROM, extract, facts_in
from memories.core.extraction.features import feature_names
from memories.core.extraction.overlap import overlaps
from memories.core.extraction.worth import WEIGHTS_FILE, Weights

Floats = NDArray[np.float64]
_FOLDER: Final = Path(__file__).parent / "extraction"
OWN: Final = (_FOLDER / "transcripts.jsonl", _FOLDER / "transcripts_3.jsonl")
RIDGE: Final = 30.0  # on standardised features
MIN_WORDS: Final = 3  # a shorter piece of a kept quote is no example
FOLDS: Final = 10
MANY: Final = 20

Session = Mapping[str, Any]


def author_of(session: Session) -> str:
    """Return the author of a session."""
    return str(session["id"]).split("-")[0]


def rows_of(sessions: Sequence[Session]) -> tuple[Floats, Floats]:
    """Return the features (n, f) and labels (n,) of all statements."""
    rows, labels = [], []
    for session in sessions:
        for one in facts_in(Describing(session["transcript"])):
            quote = one.fact.quote if one.fact else one.described.statement.text
            rows.append([one.described.features[name] for name in feature_names()])
            is_long = len(quote.split()) >= MIN_WORDS
            labels.append(
                float(is_long and any(overlaps(quote, k["quote"]) for k in session["keep"]))
            )
    return np.array(rows), np.array(labels)


def fit(sessions: Sequence[Session]) -> Weights:
    """Fit a logistic regression by Newton's method; standardised features, a ridge on them."""
    rows, labels = rows_of(sessions)
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    design = np.hstack([(rows - mean) / spread, np.ones((len(rows), 1))])
    ridge = np.diag([RIDGE] * rows.shape[1] + [1e-9])
    found = np.zeros(design.shape[1])
    for _ in range(50):
        chances = 1 / (1 + np.exp(-design @ found))
        gradient = design.T @ (chances - labels) + ridge @ found
        curvature = (design.T * (chances * (1 - chances))) @ design + ridge
        step = np.linalg.solve(curvature, gradient)
        found -= step
        if np.abs(step).max() < 1e-9:
            break
    weights = found[:-1] / spread
    return Weights(tuple(feature_names()), weights, float(found[-1] - weights @ mean))


class Tally:
    """Counts of what was extracted from sessions."""

    def __init__(self) -> None:
        self.given = self.right = self.kept = self.found = self.refusals = self.stored = 0

    def add(self, session: Session, worth: Callable[[Mapping[str, float]], float]) -> None:
        """Extract from a session and count."""
        quotes = [one.fact.quote for one in extract(session["transcript"], worth).kept]
        kept = [keep["quote"] for keep in session["keep"]]
        refused = [refusal["text"] for refusal in session["refuse"]]
        self.given += len(quotes)
        self.right += sum(any(overlaps(quote, keep) for keep in kept) for quote in quotes)
        self.kept += len(kept)
        self.found += sum(any(overlaps(quote, keep) for quote in quotes) for keep in kept)
        self.refusals += len(refused)
        self.stored += sum(any(overlaps(quote, text) for quote in quotes) for text in refused)

    def figures(self) -> dict[str, float]:
        """Return the counts and shares."""
        return {
            "facts": self.given,
            "precision": round(self.right / max(self.given, 1), 3),
            "recall": round(self.found / max(self.kept, 1), 3),
            "refusals_stored": round(self.stored / max(self.refusals, 1), 3),
        }


def left_out(groups: Mapping[str, Sequence[Session]]) -> dict[str, dict[str, float]]:
    """Return the figures of each group with weights fitted on the others."""
    figures = {}
    for name, held in groups.items():
        others = [session for other, rows in groups.items() if other != name for session in rows]
        if not others:
            continue
        weights, tally = fit(others), Tally()
        for session in held:
            tally.add(session, weights.worth_of)
        figures[name] = tally.figures()
    return figures


def pooled(
    sessions: Sequence[Session], others: Sequence[Session]
) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Return the figures of sessions, a tenth at a time with weights fitted on all the rest.

    With the predictions, in the format of `evaluate --extraction`.
    """
    tally, predictions = Tally(), []
    for fold in range(FOLDS):
        held = sessions[fold::FOLDS]
        weights = fit([*(s for n, s in enumerate(sessions) if n % FOLDS != fold), *others])
        for session in held:
            tally.add(session, weights.worth_of)
            predictions.append(predict(session, weights))
    return tally.figures(), sorted(predictions, key=lambda row: str(row["id"]))


def predict(session: Session, weights: Weights) -> dict[str, Any]:
    """Return what is kept and refused of a session."""
    found = extract(session["transcript"], weights.worth_of)
    kept = [
        {"fact": one.fact.text, "quote": one.fact.quote, "confidence": one.fact.confidence}
        for one in found.kept
    ]
    refused = [{"text": one.text, "reason": one.reason} for one in found.refused]
    return {"id": session["id"], "kept": kept, "refused": refused}


def bands(predictions: Sequence[Mapping[str, Any]], sessions: Sequence[Session]) -> dict[str, Any]:
    """Return how often facts of each confidence are worth keeping."""
    quotes = {one["id"]: [keep["quote"] for keep in one["keep"]] for one in sessions}
    counts: dict[str, list[int]] = {}
    for row in predictions:
        for fact in row["kept"]:
            band = f"{fact['confidence']:.1f}"
            right, given = counts.get(band, [0, 0])
            hit = any(overlaps(fact["quote"], quote) for quote in quotes[row["id"]])
            counts[band] = [right + hit, given + 1]
    return {band: {"right": r, "facts": n} for band, (r, n) in sorted(counts.items())}


def main(arguments: Sequence[str]) -> None:
    """Measure, print and write."""
    out = arguments[arguments.index("--json") + 1] if "--json" in arguments else ""
    written = {arguments[n + 1] for n, a in enumerate(arguments) if a == "--predictions"}
    paths = [Path(a) for a in arguments if a.endswith(".jsonl") and a not in written]
    sessions = [
        json.loads(line) for path in (*paths, *OWN) for line in path.read_text().splitlines()
    ]
    authors: dict[str, list[Session]] = {}
    for session in sessions:
        authors.setdefault(author_of(session), []).append(session)
    report: dict[str, Any] = {"author left out": left_out(authors)}
    predictions: list[dict[str, Any]] = []
    for name, own in authors.items():
        if len(own) >= MANY:
            figures, predicted = pooled(own, [s for s in sessions if author_of(s) != name])
            report[f"sessions left out, {name}"] = figures
            predictions += predicted
    report |= {
        "by confidence, sessions left out": bands(predictions, sessions),
        "threshold": WORTH_FROM,
        "sessions": {name: len(rows) for name, rows in authors.items()},
    }
    print(json.dumps(report, indent=1))
    if out:
        Path(out).write_text(json.dumps(report, indent=1) + "\n")
    if "--predictions" in arguments:
        rows = [json.dumps(row, ensure_ascii=False) + "\n" for row in predictions]
        Path(arguments[arguments.index("--predictions") + 1]).write_text("".join(rows))
    if "--write" in arguments:
        fit(sessions).save(WEIGHTS_FILE)


if __name__ == "__main__":
    main(sys.argv[1:])
