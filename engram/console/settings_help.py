"""What the page of settings says about them, where the API's descriptions are for callers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# What the page says instead of the description in the API, which names values as callers send them
# or says no more than the label.
HELP: Final[Mapping[str, str]] = {
    "min_relevance": "How probably relevant one memory must be before a recall that leaves the "
    "least score to Engram returns any. 0: it returns the best of whatever is found.",
    "muted_rules": "One a line: a rule, or “rules” or “narrative” for all that rules, or the "
    "language model, find. What they find opens no conflicts. People fill this by accepting "
    "proposals in the inbox.",
    "judgements_per_hour": "An agent may say how two memories relate. A key that said it so often "
    "is refused until the first time lies an hour back.",
    "language_model": "One of those that the operator offers; where none but the installation's is "
    "offered, there is no other to choose.",
    "gate_threshold": "How near in meaning two statements must be to be compared claim by claim "
    "(the cosine of their embeddings).",
    "context_min_cosine": "A context leaves out passages of notes that are less near in meaning to "
    "the task (the cosine of their embeddings).",
    "forget_min_relevance": "How near in meaning a memory must be to the query by which it is "
    "forgotten (the cosine of their embeddings).",
    "drift_reset_window": "A simpler rule is computed for comparison and changes nothing: it "
    "resets when the success rate stays under 30 % for so many comparisons in a row.",
    "rrf_k": "A higher number lets the first places of the baseline's and the learned order count "
    "less before the others.",
    "narrative_enabled": "Whether a language model, when one is configured, reads related memories "
    "in the order of time and reports what contradicts.",
    "story_budget_tokens": "Of more related memories some are left out, and their texts are cut.",
    "detection_min_confidence": "What the rules find with less confidence, from 0 to 1, opens no "
    "conflict.",
    "gate_policy": "Whether a new statement that says the same as a memory becomes part of it.",
    "weight_user_stated": "How much a memory counts in the order of a recall when a user said it.",
    "weight_episode_summary": "How much a session's summary counts in the order of a recall.",
    "weight_assistant_derived": "How much a memory counts in the order of a recall when an agent "
    "concluded it.",
    "janitor_enabled": "The janitor runs once a week. What it demotes ranks lower in recalls.",
    "janitor_culls": "Hidden memories are no longer recalled; a run of the janitor can be undone.",
    "predictor_mode": "While it learns only, it is trained and compared as when it is on, and says "
    "what it would have gained. In both, some sessions are given a list that the baseline and it "
    "choose in turn, by coin.",
    "retention_transcript_days": "Counted from a session's end; its prompts, and what extraction "
    "quoted or refused of the transcript, go with it. Empty: as long as the session.",
    "retention_session_days": "Counted from a session's end; what was learned from it goes with "
    "it. Empty: for good.",
    "retention_recall_days": "How many memories were recalled on a day, and which were recalled "
    "together. Empty: for good.",
    "retention_query_days": "With their queries and factors, and at most the newest 5,000. Empty: "
    "only that number counts.",
}
