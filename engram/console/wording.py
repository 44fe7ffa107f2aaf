"""Labels, icons and tones of events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conflicts.core.titles import title_of
from conflicts.services.cards.naming import DECIDED, CardNames, say_kept
from memories.models.drift import OF_NOTES
from memories.serializers.review_answers import FORGETS

WORDS: Final[dict[str, str]] = {
    "memory.committed": "New memory",
    "memory.merged": "Memory merged",
    "memory.revised": "Memory revised",
    "memory.answered": "Answers written by the language model",
    "memory.forgotten": "Memory forgotten",
    "memory.culled": "Memory hidden",
    "memory.demoted": "Memory lost weight",
    "memory.demotion_undone": "Memory got its weight back",
    "memory.retired": "Memory retired",
    "memory.superseded": "Memory superseded",
    "memory.restored": "Memory brought back",
    "memory.split": "Merge taken apart",
    "memory.separated": "Memory split off",
    "note.created": "New note",
    "note.changed": "Note changed",
    "note.deleted": "Note deleted",
    "merge.suggested": "Merge suggested",
    "merge.rejected": "Memories kept apart",
    "merge.reopened": "Merge suggested again",
    "merge.audited": "Merge judged",
    "merge.audit_undone": "Judgement of a merge undone",
    "review.reopened": "Review waits again",
    "inbox.put_off": "Snoozed",
    "inbox.taken_up": "Taken up again",
    "memory.judged": "Pair of memories judged",
    "memory.suppressed": "Forgotten statement refused",
    "memory.disputed": "Memory disputed",
    "memory.signalled": "Outside evidence against a memory",
    "drift.found": "Memory put in doubt",
    "prediction_error.resolved": "Memory in doubt answered",
    "prediction_error.reopened": "Memory in doubt waits again",
    "conflict.opened": "Conflict opened",
    "conflict.joined": "Conflict grew",
    "conflict.resolved": "Conflict resolved",
    "conflict.reopened": "Conflict reopened",
    "conflict.snoozed": "Conflict snoozed",
    "conflict.assigned": "Conflict assigned",
    "conflict.commented": "Comment",
    "muting.proposed": "Muting of a rule proposed",
    "muting.withdrawn": "Proposal to mute withdrawn",
    "muting.accepted": "Rule muted",
    "muting.rejected": "Rule goes on",
    "muting.reopened": "Proposal to mute waits again",
    "muting.ended": "Rule no longer muted",
    "extraction.queued": "Transcript queued for extraction",
    "extraction.finished": "Memories extracted from a transcript",
    "extraction_refusal.kept": "Refused statement kept",
    "extraction_refusal.left_out": "Refused statement left out",
    "extraction_refusal.reopened": "Refused statement waits again",
    "calibration.drawn": "Memories drawn to be rated",
    "calibration.labelled": "Rating given",
    "calibration.reopened": "Rating waits again",
    "digest.daily": "Digest of the open items",
    "janitor.ran": "Janitor ran",
    "janitor.undone": "Janitor's run undone",
    "key.issued": "Key issued",
    "key.revoked": "Key revoked",
    "member.invited": "Person invited",
    "member.invitation_revoked": "Invitation revoked",
    "member.declined": "Invitation declined",
    "settings.changed": "Settings changed",
    "comparison.recorded": "Rankings compared",
    "member.added": "Member added",
    "member.changed": "Role of a member changed",
    "member.removed": "Member removed",
    "memory.erased": "Memory erased",
    "memory.released": "Memory no longer upheld",
    "memory.source_forgotten": "Source of a memory forgotten",
    "memory.upheld": "Memory upheld",
    "predictor.cold_start_exit": "Predictor left cold start",
    "predictor.disabled": "Predictor disabled",
    "predictor.drift_reset": "Predictor reset after drift",
    "predictor.enabled": "Predictor enabled",
    "predictor.imported": "Learned ranking imported",
    "predictor.reset": "Predictor reset",
    "predictor.unlearned": "Learned ranking without what was erased",
    "retention.applied": "Deleted after its time",
    "review.accepted": "Review accepted",
    "review.lapsed": "Review lapsed",
    "review.opened": "Review opened",
    "review.rejected": "Review rejected",
    "session.deleted": "Session deleted",
    "session.ended": "Session ended",
    "session.imported": "Conversation imported",
    "session.judged": "Session judged",
    "session.prompted": "Prompt sent",
    "session.reported": "Agent said what it used",
    "session.started": "Session started",
    "session.transcript_taken": "Transcript taken",
    "training.finished": "Training finished",
    "training.started": "Training started",
    "webhook.changed": "Webhook changed",
    "webhook.created": "Webhook made",
    "webhook.deleted": "Webhook deleted",
    "webhook.disabled": "Webhook disabled after failures",
    "workspace.closed": "Workspace closed, to be deleted",
    "workspace.imported": "Workspace imported",
    "workspace.reembedded": "Memories embedded anew",
    "writer.rolled_back": "Writer rolled back",
}
# Labels of commits by outcome, where "New memory" would be wrong.
OUTCOMES: Final[dict[str, str]] = {
    "merged": "Merged into a memory",
    "duplicate": "Heard again",
    "kept_apart": "New memory, disagrees with a neighbour",
    "suggested": "New memory, perhaps known already",
    "revived": "Memory brought back",
}
VERDICTS: Final[dict[str, str]] = {
    "yes": "yes",
    "no": "no",
    "keep": "kept some",
    "both_valid": "both valid",
    "none_valid": "none valid",
    "dismiss": "not a conflict",
}
LAPSES: Final[dict[str, str]] = {
    "gone": "Conflict closed: its memories went away",
    "reworded": "Conflict closed: a memory says something else now",
    "absorbed": "Conflict closed: a wider one asks about its memories",
}
# Of prediction errors about a note alone, no memory is in doubt.
OF_NOTES_WORDS: Final[dict[str, str]] = {
    "drift.found": "Task that no note fits",
    "prediction_error.resolved": "Task that no note fits answered",
    "prediction_error.reopened": "Task that no note fits waits again",
}
# Not shown, because another event covers them.
UNTOLD: Final = frozenset(
    {
        "memory.disputed",
        "memory.judged",
        "memory.merged",
        "memory.separated",
        "merge.suggested",
        "memory.superseded",
        "memory.retired",
        "memory.demoted",
        "memory.demotion_undone",
        "calibration.labelled",
        "calibration.reopened",
    }
)
GLYPHS: Final[dict[str, tuple[str, str]]] = {
    "memory": ("memories", ""),
    "conflict.opened": ("alert", "warn"),
    "conflict.joined": ("alert", "warn"),
    "conflict.reopened": ("undo", "warn"),
    "conflict.resolved": ("check", "good"),
    "conflict.snoozed": ("clock", ""),
    "conflict": ("talk", "accent"),
    "key": ("keys", ""),
    "note": ("notes", ""),
}


def is_shown(event_type: str) -> bool:
    """Return whether an event is shown by itself."""
    return event_type not in UNTOLD


def glyph_for(event_type: str) -> tuple[str, str]:
    """Return the icon and the tone of an event."""
    family = event_type.partition(".")[0]
    return GLYPHS.get(event_type) or GLYPHS.get(family) or ("events", "")


def words_for(event_type: str, data: Mapping[str, Any], names: CardNames | None = None) -> str:
    """Return a short phrase for an event; for an unknown type its name.

    With the `names` of a decided card's sides, say which one was kept; history quotes no memory.
    """
    words = WORDS.get(event_type, event_type.replace(".", " ").replace("_", " ").capitalize())
    if event_type == "review.rejected" and data.get("kind") in FORGETS:
        words = "Kept, not forgotten"
    if data.get("error_type") in OF_NOTES:
        return OF_NOTES_WORDS.get(event_type, words)
    if event_type == "memory.committed":
        return OUTCOMES.get(str(data.get("outcome")), words)
    if event_type == DECIDED:
        return _decision_words(words, data, names)
    if event_type.startswith("muting.") and data.get("rule"):
        return f"{words}: {title_of(str(data['rule'])).lower()}"
    if event_type == "conflict.assigned":
        assignee = data.get("assignee")
        return f"{words} to {assignee}" if assignee else "Conflict unassigned"
    return words


def _decision_words(words: str, data: Mapping[str, Any], names: CardNames | None) -> str:
    """Return how a card was closed."""
    if data.get("lapsed"):
        return LAPSES.get(str(data.get("reason")), LAPSES["gone"])
    if data.get("status") == "dismissed":
        return "Conflict dismissed"
    verdict = str(data.get("verdict"))
    if names and (kept := say_kept(verdict, names)):
        return f"{words}: kept {kept}"
    return f"{words}: {VERDICTS[verdict]}" if verdict in VERDICTS else words
