"""Plans of simulated worlds, and the seeds for tuning and for reports.

A plan defines which memories are relevant, by the weights of the utility in `world.py`.
Constants of the model are tuned on `TUNING_SEEDS` of the `TUNING` plans only; reported figures
use `REPORT_SEEDS` of the `REPORT` plans, which differ from the former in more than the seed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

TUNING_SEEDS = (11, 12, 13, 14, 15)
REPORT_SEEDS = (9001, 9002, 9003, 9004, 9005)  # and the following numbers, where more are needed


@dataclass(frozen=True, slots=True)
class WorldPlan:
    """One family of worlds; weights are multiples of a utility of deviation about 1."""

    name: str
    width: int = 384
    memories: int = 1200
    projects: int = 6
    topics: int = 24
    pool: int = 80
    is_across: bool = False  # every topic occurs in every project
    tagged: float = 0.7  # share of sessions that name their project
    embedded: float = 1.0  # share of memories with an embedding; the others are only text
    context_noise: float = 0.8  # length of the noise in a context; its topic's is 1
    topic: float = 2.2  # the session's topic, and its related topic
    project: float = 0.6  # the session's project
    preference: float = 0.0  # a project's preference for a topic
    kind: float = 0.5  # a property of the memory that its embedding and words show
    hour: float = 0.5  # each topic has a peak hour
    importance: float = 1.1
    recency: float = 1.7
    use: float = 0.4  # more useful memories are recalled more often
    superseded: float = 1.5  # subtracted
    noise: float = 0.75  # of one memory in one session; not observable
    relevant: float = 0.1  # share of a pool with relevance 0.5 or more
    drifts_at: int | None = None  # the session at which habits change
    is_judged_whole: bool = True  # the judge reads the whole pool; else what a model reads
    judge_noise: float = 0.15  # standard deviation of a judge of confidence 1


# As in the prototype: a topic belongs to a project, everything has an embedding.
HABITS = WorldPlan("habits")
# A project's preference for a topic does not show in the session's embedding.
ACROSS = replace(
    HABITS, name="across", is_across=True, topics=16, topic=1.4, preference=1.1, project=0.0,
    kind=0.4, importance=0.8, recency=1.4, noise=0.5,
)  # fmt: skip
# As with a model that judges: a fifth has no embedding, the judge reads the injected, both top tens
# and some others.
LIFE = replace(HABITS, name="life", embedded=0.8, is_judged_whole=False)
# The habits change: what was useful before is harmful.
DRIFT = replace(LIFE, name="drift", drifts_at=150, kind=1.5)
# Importance and age decide most: their order alone is far above the baseline, which goes by the
# context first.
IMPORTANT = replace(LIFE, name="important", importance=2.0, recency=2.5, topic=1.2, kind=0.3)
# Nothing can be learned: relevance is random in every session.
PARITY = replace(
    LIFE, name="parity", topic=0.0, project=0.0, kind=0.0, hour=0.0, importance=0.0,
    recency=0.0, use=0.0, superseded=0.0, noise=1.0,
)  # fmt: skip
TUNING = {plan.name: plan for plan in (HABITS, ACROSS, LIFE, DRIFT, IMPORTANT, PARITY)}


def _for_report(plan: WorldPlan) -> WorldPlan:
    """Return a variant of the plan with other counts, probabilities and noise."""
    return replace(
        plan,
        memories=1000,
        projects=7,
        topics=plan.topics - 2,
        pool=90,
        tagged=0.6,
        context_noise=0.9,
        judge_noise=0.12,
        drifts_at=None if plan.drifts_at is None else 180,
    )


REPORT = {name: _for_report(plan) for name, plan in TUNING.items()}
