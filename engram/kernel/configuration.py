"""The settings of a workspace: one validated object, each value with its range and meaning."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal
from zoneinfo import available_timezones

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

# Keys of the database of time zones that name no place.
_NO_PLACES = {"Factory", "localtime"}


@lru_cache(maxsize=1)
def known_zones() -> frozenset[str]:
    """Return the names of time zones; read from the disk once, which takes up to a second."""
    return frozenset(available_timezones()) - _NO_PLACES


def offered_models() -> tuple[str, ...]:
    """Return the language models that a workspace may choose, the installation's own first."""
    options = settings.ENGRAM_LLM
    return tuple(dict.fromkeys(name for name in (options["model"], *options["models"]) if name))


class WorkspaceSettings(BaseModel):
    """Settings of one workspace. Thresholds belong to the embedding model named here."""

    model_config = ConfigDict(frozen=True)  # settings of earlier releases are ignored

    gate_policy: Literal["merge", "suggest", "off"] = Field(
        "merge", description="What the redundancy gate does with near-duplicates."
    )
    gate_threshold: float = Field(
        0.6,
        ge=0.3,
        le=1.0,
        description="Cosine above which two memories are compared claim by claim.",
    )
    weight_user_stated: float = Field(
        1.0, gt=0, le=1.0, description="Provenance weight of what a user said."
    )
    weight_episode_summary: float = Field(
        0.95, gt=0, le=1.0, description="Provenance weight of session summaries."
    )
    weight_assistant_derived: float = Field(
        0.9, gt=0, le=1.0, description="Provenance weight of what an agent concluded."
    )
    min_relevance: float = Field(
        0.06,
        ge=0,
        le=1.0,
        description="Probability of relevance that one memory must reach before a recall with "
        "min_score auto returns any; 0: return the best of whatever is found.",
    )
    session_min_relevance: float = Field(
        0.15,
        ge=0,
        le=1.0,
        description="Probability of relevance to the context that one memory must reach before a "
        "session gets any but constraints and pins; 0: inject whatever ranks best.",
    )
    context_min_cosine: float = Field(
        0.3,
        ge=-1.0,
        le=1.0,
        description="Cosine to the task below which a context leaves a passage of a note out.",
    )
    forget_min_relevance: float = Field(
        0.6, ge=0.3, le=1.0, description="Least cosine at which a query-forget takes a memory."
    )
    noise_score: float = Field(
        0.25, ge=0, le=1.0, description="Score under which a recalled memory counts as noise."
    )
    rerank_enabled: bool = Field(
        True, description="Whether recall compares token by token in a second stage."
    )
    graph_enabled: bool = Field(
        False,
        description="Whether recall also walks along the links of what it found (entities, notes, "
        "sources).",
    )
    diversity: float = Field(
        0.0,
        ge=0,
        le=1.0,
        description="How strongly recall lowers what repeats one above; 1: as at session start.",
    )
    janitor_enabled: bool = Field(True, description="Whether the weekly janitor runs.")
    janitor_culls: bool = Field(
        False, description="Whether the janitor hides memories that were demoted three times."
    )
    janitor_assistant_days: int = Field(
        90, ge=30, le=3650, description="Days unused before an assistant's memory is demoted."
    )
    janitor_summary_days: int = Field(
        120, ge=30, le=3650, description="Days unused before a session summary is demoted."
    )
    writes_per_minute: int = Field(
        600, ge=1, le=1_000_000, description="Writes a key may make in a minute."
    )
    reads_per_minute: int = Field(
        3000, ge=1, le=1_000_000, description="Reads a key may make in a minute."
    )
    pending_reviews_per_key: int = Field(
        50,
        ge=1,
        le=10_000,
        description="Requests of a key that may wait for a person at a time; further ones are "
        "refused. Requests to forget do not count.",
    )
    ask_days: int = Field(
        14,
        ge=1,
        le=365,
        description="Days after which a question to a writer about two memories expires.",
    )
    detection_enabled: bool = Field(True, description="Whether the detective reads new memories.")
    detection_min_confidence: float = Field(
        0.5,
        ge=0,
        le=1.0,
        description="Confidence below which what the rules find opens no card.",
    )
    muted_rules: list[Annotated[str, Field(min_length=1, max_length=48)]] = Field(
        default_factory=list,
        max_length=100,
        description="Rules, or tiers (rules, narrative), whose findings open no cards. People "
        "fill it by accepting proposals in the inbox.",
    )
    language_model: str = Field(
        "",
        max_length=100,
        description="Language model that reads this workspace's memories and transcripts, one of "
        "those that the installation offers; empty: the installation's own.",
    )
    narrative_enabled: bool = Field(
        True, description="Whether a language model reads the story, when one is configured."
    )
    answers_by_model: bool = Field(
        True,
        description="Whether a language model writes down what new memories answer, when one is "
        "configured and their writers did not; it counts against narrative_daily_usd.",
    )
    extraction_enabled: bool = Field(
        True,
        description="Whether transcripts are turned into memories when a caller asks for it.",
    )
    extraction_by_model: bool = Field(
        True,
        description="Whether a language model reads transcripts for extraction, when one is "
        "configured: it reads them whole, and counts against narrative_daily_usd.",
    )
    narrative_daily_usd: float = Field(
        1.0, ge=0, le=1000, description="US dollars that language models may cost in a day (UTC)."
    )
    story_budget_tokens: int = Field(
        6000,
        ge=500,
        le=100_000,
        description="Tokens a language model reads at a time; longer stories are thinned and cut.",
    )
    judgements_per_hour: int = Field(
        120, ge=1, le=100_000, description="Relations a key may judge in an hour."
    )
    undecided_cards_per_key: int = Field(
        10,
        ge=0,
        le=10_000,
        description="Undecided conflicts, and as many undecided signals about memories, that a key "
        "may have opened before people have decided eight of them; 0: what a new key reports opens "
        "no conflict by itself, and it sends no signals.",
    )
    drift_enabled: bool = Field(
        True,
        description="Whether recall, context and session start report the memories that the notes "
        "they link no longer carry.",
    )
    drift_threshold: float = Field(
        0.5,
        gt=0,
        le=0.95,
        description="Evidence from which a memory counts as drifted from its note; what "
        "contradicts it by rule has 0.95. Higher: fewer false reports.",
    )
    predictor_mode: Literal["off", "collect", "on"] = Field(
        "on",
        description="off: no learned ranking; on: it gains influence as it proves better; collect: "
        "it learns and is compared as in on, and says what it would have gained. In both, some "
        "sessions are given a list that the baseline and it choose in turn, by coin.",
    )
    judge_by_model: bool = Field(
        True,
        description="Whether a language model judges sessions, when one is configured: it reads "
        "of their transcripts the end and what speaks of the memories, and counts against "
        "narrative_daily_usd.",
    )
    judge_two_orders: bool = Field(
        True,
        description="Whether a language model that judges is asked twice about a session, then "
        "with the memories in reverse, and the mean counts: that costs twice as much, and is done "
        "while less than half of narrative_daily_usd is spent.",
    )
    train_interval_sessions: int = Field(
        10, ge=1, le=1000, description="Scored sessions between two trainings."
    )
    min_training_sessions: int = Field(
        10, ge=2, le=1000, description="Scored sessions before the first training."
    )
    score_timeout_ms: int = Field(
        120, ge=1, le=10_000, description="Milliseconds after which the baseline's order serves."
    )
    disable_threshold: int = Field(
        3, ge=1, le=500, description="Failures in an hour that switch the learned ranking off."
    )
    rrf_k: int = Field(
        12, ge=1, le=1000, description="How flat ranks are weighed when two rankings are fused."
    )
    exploration_rate: float = Field(
        0.05,
        ge=0,
        le=1.0,
        description="Share of sessions that try a memory the rankers disagree on.",
    )
    drift_reset_window: int = Field(
        10,
        ge=2,
        le=1000,
        description="Comparisons in a row with a success rate under 0.3 after which the simpler "
        "reset rule resets, which is computed for comparison only.",
    )
    time_zone: str = Field(
        "UTC",
        max_length=64,
        description="Time zone of the people: of days (retention, digests), of the hours and "
        "weekdays that the learned ranking sees, and of times on pages where the browser tells no "
        "zone of its reader. A name such as Europe/Berlin.",
    )
    digest_hour: int = Field(
        8,
        ge=0,
        le=23,
        description="Hour of the day at which the digest of open questions is sent to those who "
        "want it.",
    )
    digest_texts: bool = Field(
        False,
        description="Whether digests by mail quote the questions, and so memories: a mail cannot "
        "be taken back when they are forgotten.",
    )
    retention_transcript_days: int | None = Field(
        None,
        ge=1,
        le=36_500,
        description="Days after a session's end for which its transcript and prompts are kept, "
        "with what extraction quoted or refused of it; null: as long as the session.",
    )
    retention_session_days: int | None = Field(
        None,
        ge=1,
        le=36_500,
        description="Days after its end for which a session is kept, with what was learned from "
        "it; null: for good.",
    )
    retention_recall_days: int | None = Field(
        None,
        ge=1,
        le=36_500,
        description="Days for which it is kept how many memories were recalled on a day, and "
        "which were recalled together; null: for good.",
    )

    recalls_kept: bool = Field(
        True,
        description="Whether the query of each recall and context is kept, with the memories that "
        "it returned and their factors: pages and the API then show why a memory was recalled. "
        "And whether the prompts of sessions are kept, as long as their transcripts.",
    )
    retention_query_days: int | None = Field(
        30,
        ge=1,
        le=36_500,
        description="Days for which past recalls are kept with their queries and factors, at most "
        "the newest 5,000; null: only that number counts.",
    )

    @field_validator("time_zone")
    @classmethod
    def _is_known(cls, name: str) -> str:
        if name not in known_zones():
            raise ValueError("not a time zone name such as Europe/Berlin")
        return name

    @field_validator("language_model")
    @classmethod
    def _is_offered(cls, name: str) -> str:
        if name and name not in offered_models():
            offered = ", ".join(f"“{one}”" for one in offered_models()) or "none"
            raise ValueError(f"no language model that this installation offers: {offered}")
        return name

    def provenance_weight(self, provenance: str) -> float:
        """Return the weight in (0, 1] of a provenance class; an unknown one gets the lowest."""
        weights = {
            "user_stated": self.weight_user_stated,
            "episode_summary": self.weight_episode_summary,
            "assistant_derived": self.weight_assistant_derived,
        }
        return weights.get(provenance, min(weights.values()))


def valid_settings(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored settings without values that this release does not take.

    Their defaults hold instead, and the next change of settings drops them.
    """
    try:
        WorkspaceSettings.model_validate(stored)
    except ValidationError as error:
        refused = {part["loc"][0] for part in error.errors() if part["loc"]}
        return {name: value for name, value in stored.items() if name not in refused}
    return dict(stored)
