"""The form of a workspace's settings, made from their descriptions: one field for each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.forms.boundfield import BoundField

from conflicts.services.detection.replay import COUNTED
from engram.console.settings_help import HELP

# Sections in the order of the page: title, what it is about, names. What no section names is last.
SECTIONS: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    (
        "Duplicates",
        "What the gate does with statements that are probably known.",
        ("gate_policy", "gate_threshold", "ask_days"),
    ),
    (
        "Contradictions",
        "What the detective reads, and what it asks people.",
        (
            "detection_enabled", "detection_min_confidence", "muted_rules",
            "undecided_cards_per_key", "judgements_per_hour",
        ),
    ),
    (
        "Language models",
        "What a language model may read, where one is configured, and what it may cost.",
        (
            "language_model", "narrative_daily_usd", "narrative_enabled", "answers_by_model",
            "extraction_enabled", "extraction_by_model", "judge_by_model", "judge_two_orders",
            "story_budget_tokens",
        ),
    ),
    (
        "Recall",
        "Which memories answer a query, and in which order.",
        (
            "min_relevance", "session_min_relevance", "context_min_cosine", "rerank_enabled",
            "graph_enabled", "diversity", "noise_score", "forget_min_relevance",
            "weight_user_stated", "weight_episode_summary", "weight_assistant_derived",
        ),
    ),
    (
        "Notes",
        "When a memory counts as one that its note says no longer.",
        ("drift_enabled", "drift_threshold"),
    ),
    (
        "Learned ranking",
        "Whether the predictor learns from sessions, and may change their order.",
        (
            "predictor_mode", "exploration_rate", "min_training_sessions",
            "train_interval_sessions", "score_timeout_ms", "disable_threshold", "rrf_k",
            "drift_reset_window",
        ),
    ),
    (
        "Janitor",
        "What is demoted when nobody uses it.",
        ("janitor_enabled", "janitor_culls", "janitor_assistant_days", "janitor_summary_days"),
    ),
    (
        "Limits of keys",
        "How much one key may do.",
        ("writes_per_minute", "reads_per_minute", "pending_reviews_per_key"),
    ),
    ("People", "Their hours and mails.", ("time_zone", "digest_hour", "digest_texts")),
    (
        "Retention",
        "How long things are kept. What a shorter limit deletes is gone for good.",
        (
            "retention_session_days", "retention_transcript_days", "retention_recall_days",
            "recalls_kept", "retention_query_days",
        ),
    ),
)  # fmt: skip
CHOICES: Final[Mapping[str, str]] = {
    "": "The installation's own",
    "merge": "Merge what says the same",
    "suggest": "Ask a person about each",
    "off": "Off",
    "collect": "Learn only: change no order",
    "on": "On: influence as far as it has proved better",
}
# In the words of the pages.
LABELS: Final[Mapping[str, str]] = {
    "gate_policy": "What says the same as a memory",
    "gate_threshold": "Similarity from which two statements may be the same",
    "ask_days": "Days an agent is asked about a pair",
    "detection_enabled": "Look for contradictions",
    "detection_min_confidence": "Least confidence of a conflict",
    "muted_rules": "Rules that open no conflicts",
    "undecided_cards_per_key": "Undecided conflicts and signals of one key",
    "judgements_per_hour": "Pairs that one key may judge in an hour",
    "language_model": "Language model that reads and judges",
    "narrative_daily_usd": "Spend a day, in US dollars",
    "narrative_enabled": "A language model looks for contradictions",
    "answers_by_model": "A language model writes down answers",
    "extraction_enabled": "Turn transcripts into memories when asked",
    "extraction_by_model": "A language model reads transcripts",
    "judge_by_model": "A language model judges sessions",
    "judge_two_orders": "The judging language model is asked in two orders",
    "story_budget_tokens": "Tokens of memories that a language model reads at a time",
    "min_relevance": "Least relevance for a query",
    "session_min_relevance": "Least relevance for a session",
    "context_min_cosine": "Least similarity of passages of notes",
    "rerank_enabled": "Compare the best word by word",
    "graph_enabled": "Follow links between memories",
    "diversity": "How much repetitions are lowered",
    "noise_score": "Score below which a result counts as noise",
    "forget_min_relevance": "Least similarity when forgetting by a query",
    "weight_user_stated": "Weight of what users stated",
    "weight_episode_summary": "Weight of session summaries",
    "weight_assistant_derived": "Weight of what agents concluded",
    "drift_enabled": "Look for memories that their notes say no longer",
    "drift_threshold": "Least evidence that a note says it no longer",
    "predictor_mode": "What the learned ranking may do",
    "exploration_rate": "Share of sessions that try a memory the two orders disagree on",
    "min_training_sessions": "Judged sessions before the first training",
    "train_interval_sessions": "Judged sessions between trainings",
    "score_timeout_ms": "Milliseconds a ranking may take",
    "disable_threshold": "Failures an hour that switch the learned ranking off",
    "rrf_k": "How evenly places count when two orders are joined",
    "drift_reset_window": "Lost comparisons until the rule shown for comparison resets",
    "janitor_enabled": "Demote what nobody uses",
    "janitor_culls": "Hide what was demoted three times",
    "janitor_assistant_days": "Days before what agents concluded is demoted",
    "janitor_summary_days": "Days before summaries are demoted",
    "writes_per_minute": "Writes a minute",
    "reads_per_minute": "Reads a minute",
    "pending_reviews_per_key": "Waiting reviews of one key",
    "time_zone": "Time zone",
    "digest_hour": "Hour of the digest",
    "digest_texts": "Digests by mail quote memories",
    "retention_session_days": "Days sessions are kept",
    "retention_transcript_days": "Days transcripts are kept",
    "retention_recall_days": "Days the counts of recalls are kept",
    "recalls_kept": "Keep what recalls and prompts said",
    "retention_query_days": "Days past recalls are kept",
}
_NAMES: Final = re.compile(rf"\b(?:{'|'.join(sorted(LABELS, key=len, reverse=True))})\b")
# Settings that "What if" replays: their values are sent there as they are typed.
TRIED: Final = ("gate_policy", "gate_threshold", "detection_min_confidence", *COUNTED)


class Lines(forms.CharField):
    """A list of names, one a line."""

    widget = forms.Textarea(attrs={"rows": 3})

    def prepare_value(self, value: Any) -> Any:
        """Return a list as lines."""
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        """Return the lines, without blank ones."""
        return [line.strip() for line in str(value or "").splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Return whether the names differ."""
        return bool(self.to_python(self.prepare_value(initial)) != self.to_python(data))


@dataclass(frozen=True, slots=True)
class ShownSetting:
    """One setting on the page: its field, its name, range and default in words."""

    field: BoundField
    name: str
    range: str
    default: str
    default_value: str  # as the field holds it
    is_default: bool
    is_switch: bool
    is_tried: bool


@dataclass(frozen=True, slots=True)
class ShownSection:
    """Settings that belong together."""

    slug: str
    title: str
    about: str
    settings: tuple[ShownSetting, ...]

    @property
    def is_tried(self) -> bool:
        """Return whether a replay can show what some of them would have done."""
        return bool(self.tried)

    @property
    def tried(self) -> tuple[str, ...]:
        """Return the labels of those settings."""
        return tuple(str(one.field.label) for one in self.settings if one.is_tried)


class SettingsForm(forms.Form):
    """All settings; only what was changed on the page is changed in the workspace."""

    def __init__(self, described: list[dict[str, Any]], *args: Any, **kwargs: Any):
        self.described = {one["name"]: one for one in described}
        kwargs["initial"] = {name: one["value"] for name, one in self.described.items()}
        super().__init__(*args, **kwargs)
        for name, one in self.described.items():
            self.fields[name] = _field_of(one)

    @property
    def changes(self) -> dict[str, Any]:
        """Return the new values of what was changed since the page was shown; of a valid form."""
        return {name: self.cleaned_data[name] for name in self.changed_data}

    def sections(self) -> Iterator[ShownSection]:
        """Yield the settings by section, those without a section last."""
        placed = {name for _, _, names in SECTIONS for name in names}
        rest = tuple(name for name in self.fields if name not in placed)
        for title, about, names in (*SECTIONS, ("Further", "", rest)):
            shown = tuple(self._show(name) for name in names if name in self.fields)
            if shown:
                yield ShownSection(title.lower().replace(" ", "-"), title, about, shown)

    def _show(self, name: str) -> ShownSetting:
        one, field = self.described[name], self[name]
        return ShownSetting(
            field=field,
            name=name,
            range=_range_words(one["range"]),
            default=_value_words(one["default"]),
            default_value=_field_value(field.field.prepare_value(one["default"])),
            is_default=one["value"] == one["default"],
            is_switch=isinstance(one["default"], bool),
            is_tried=name in TRIED,
        )


def _field_of(one: Mapping[str, Any]) -> forms.Field:
    """Return the form field of a described setting; the service has the last word on its value."""
    limits, name = one["range"], one["name"]
    label = LABELS[name]
    shared: dict[str, Any] = {
        "label": label, "help_text": HELP.get(name) or _in_titles(one["meaning"]),
        "show_hidden_initial": True, "required": False,
    }  # fmt: skip
    low, high = limits.get("at_least", limits.get("above")), limits.get("at_most")
    kind = limits.get("type")
    if "one_of" in limits:
        choices = [(value, CHOICES.get(value, value)) for value in limits["one_of"]]
        return forms.ChoiceField(
            choices=choices, **shared | {"required": "" not in limits["one_of"]}
        )
    if kind == "boolean":
        return forms.BooleanField(**shared)
    if kind in {"integer", "number"}:
        made = forms.IntegerField if kind == "integer" else forms.FloatField
        is_needed = not limits.get("or_null")
        messages = {"min_value": f"{low} is the least.", "max_value": f"{high} is the most."}
        return made(
            min_value=low, max_value=high, error_messages=messages,
            **shared | {"required": is_needed},
        )  # fmt: skip
    if kind == "array":
        return Lines(**shared)
    zones = forms.TextInput(attrs={"list": "zones"} if name == "time_zone" else {})
    return forms.CharField(max_length=200, widget=zones, **shared | {"required": True})


def _in_titles(meaning: str) -> str:
    """Return a meaning that names other settings as the page does: by their titles."""
    return _NAMES.sub(lambda found: f"“{LABELS[found[0]]}”", meaning)


def _range_words(limits: Mapping[str, Any]) -> str:
    low, high = limits.get("at_least"), limits.get("at_most")
    words = ""
    if low is not None and high is not None:
        words = f"{low:,} to {high:,}"
    elif "above" in limits:
        words = f"above {limits['above']:,}" + (f", up to {high:,}" if high is not None else "")
    elif low is not None:
        words = f"from {low:,}"
    return f"{words}, or empty" if words and limits.get("or_null") else words


def _field_value(value: Any) -> str:
    return "" if value is None else str(value)


def _value_words(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None:
        return "empty"
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return CHOICES.get(value, value) if isinstance(value, str) else f"{value:,}"
