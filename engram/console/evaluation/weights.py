"""Search the best provenance weights, and compare them with none: `--weights PROBES`.

Every probe's pool is scored once; each setting of the grid only applies other weights, so that
settings are compared on the same results. `user_stated` keeps 1, because only ratios change an
order; `episode_summary` weighs at most that, `assistant_derived` at most as much as a summary.

The best setting has the highest p@3, then MRR, among those whose p@1 is no lower than that of the
all-ones order; of equals, the one nearest to all ones. The all-ones order is reported as well, so
that weights cannot hide a bad extractor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from engram.console.demo.story import read_story
from engram.console.evaluation.outcome import Figure, ModeResult
from engram.console.evaluation.probes import MEASURES, ProbeRow, ProbeWorkspace, load_story, read
from engram.kernel.configuration import WorkspaceSettings
from memories.core.metrics import bootstrap, bootstrap_difference
from memories.models import Provenance

WHOLE_POOL = 1000
STEPS = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7)
RANKED_MAX = 50

ProvenanceWeights = tuple[float, float, float]  # user stated, episode summary, assistant derived
ALL_ONES: ProvenanceWeights = (1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class ScoredMemory:
    """A memory in a probe's pool, with its score before provenance weights."""

    label: str
    unweighted: float
    provenance: str
    is_first: bool  # an answer that is a pin in the probe's scope


@dataclass(frozen=True, slots=True)
class ProbePool:
    """A probe with its whole pool."""

    id: str
    gold: tuple[str, ...]
    pool: tuple[ScoredMemory, ...]

    def rank_labels(self, weights: ProvenanceWeights) -> list[str]:
        """Return the labels of the pool under these weights, best first."""
        by_class = dict(zip(Provenance.values, weights, strict=True))
        order = sorted(
            self.pool,
            key=lambda s: (
                not s.is_first,
                -s.unweighted * by_class.get(s.provenance, min(weights)),
            ),
        )
        return [scored.label for scored in order]


def run(path: Path, *, seed: int, advance: Callable[[int], object]) -> ModeResult:
    """Score every pool once, apply every setting's weights, and compare."""
    probes = read(path)
    pools = []
    with load_story(path, probes, read_story(), advance=advance) as story:
        for probe in probes:
            if probe.gold:
                pools.append(_ask(story, probe))
            advance(1)
    return compare(pools, seed=seed)


def grid() -> list[ProvenanceWeights]:
    """Return the settings that keep the order of trust."""
    return [(1.0, summary, own) for summary, own in product(STEPS, STEPS) if own <= summary]


def defaults() -> ProvenanceWeights:
    """Return the weights of a new workspace."""
    config = WorkspaceSettings.model_validate({})
    user, summary, own = (config.provenance_weight(name) for name in Provenance.values)
    return user, summary, own


def compare(pools: Sequence[ProbePool], *, seed: int) -> ModeResult:
    """Find the best setting; return it, the defaults and all ones, with intervals."""
    ours = defaults()
    settings = sorted({*grid(), ours}, reverse=True)
    values = {weights: _values(pools, weights) for weights in settings}
    means = {
        weights: {name: float(np.mean(found)) for name, found in by_name.items()}
        for weights, by_name in values.items()
    }
    best = choose(means)
    named = {"best": best, "defaults": ours, "all ones": ALL_ONES}
    figures = {
        f"{name} of {what}": Figure(bootstrap(found, rng=np.random.default_rng(seed)))
        for what, weights in named.items()
        for name, found in values[weights].items()
    }
    for other in ("defaults", "all ones"):
        for name, found in values[best].items():
            gain = bootstrap_difference(
                found, values[named[other]][name], rng=np.random.default_rng(seed)
            )
            figures[f"{name}, best over {other}"] = Figure(gain)
    details: dict[str, Any] = {
        "best": _format_weights(best),
        "defaults": _format_weights(ours),
        "settings": len(settings),
        "as good as the best": sum(means[weights] == means[best] for weights in settings),
        "verdict": _verdict(figures, has_won=means[best] != means[ours]),
        "grid": {_format_weights(weights): means[weights] for weights in settings},
    }
    predictions = [
        {"id": probe.id, "weights": what, "ranked": probe.rank_labels(weights)[:RANKED_MAX]}
        for what, weights in named.items()
        for probe in pools
    ]
    return ModeResult("weights", figures, predictions, details)


def choose(means: Mapping[ProvenanceWeights, Mapping[str, float]]) -> ProvenanceWeights:
    """Return the best setting, by the criterion of the module docstring."""
    floor = means[ALL_ONES]["p@1"]
    allowed = [weights for weights in means if means[weights]["p@1"] >= floor]
    return max(allowed, key=lambda w: (means[w]["p@3"], means[w]["mrr"], sum(w), w))


def _ask(story: ProbeWorkspace, probe: ProbeRow) -> ProbePool:
    config = story.workspace.config
    return ProbePool(
        probe.id,
        tuple(story.name(label) for label in probe.gold),
        tuple(
            ScoredMemory(
                story.names[result.memory.id],
                result.score / config.provenance_weight(result.memory.provenance),
                result.memory.provenance,
                result.memory.is_pinned and bool(probe.scope or probe.project),
            )
            for result in story.ask(probe, k=WHOLE_POOL)
        ),
    )


def _values(pools: Sequence[ProbePool], weights: ProvenanceWeights) -> dict[str, list[float]]:
    ranked = [(probe.rank_labels(weights), probe.gold) for probe in pools]
    return {name: [measure(*pair) for pair in ranked] for name, measure in MEASURES.items()}


def _verdict(figures: Mapping[str, Figure], *, has_won: bool) -> str:
    if not has_won:
        return "the defaults are as good as any setting"
    is_sure = any(figures[f"{name}, best over defaults"].value.low > 0 for name in MEASURES)
    return "the best beats the defaults" if is_sure else "the defaults stand: no sure gain"


def _format_weights(weights: ProvenanceWeights) -> str:
    return "/".join(f"{weight:g}" for weight in weights)
