"""Routes of the console's pages."""

from django.urls import path
from django.views.generic import RedirectView

from conflicts import pages as conflicts
from engram.console import (
    conflict_bulk_pages,
    deletion_pages,
    detective_pages,
    digest_pages,
    gate_pages,
    guide_pages,
    invitation_pages,
    note_pages,
    pages,
    question_pages,
    reference_pages,
    refusal_pages,
    replay_pages,
    retention_pages,
    settings_pages,
    tour_pages,
)
from engram.console.inbox import pages as inbox
from engram.console.learning import calibration_pages
from engram.console.learning import pages as learning
from engram.console.memories import (
    act_pages,
    change_pages,
    edit_pages,
    list_pages,
    new_page,
    playground,
    recall_pages,
    report_pages,
)
from engram.console.memories import page as memory_page

app_name = "console"
urlpatterns = [
    path("", pages.dashboard, name="dashboard"),
    path("console/", RedirectView.as_view(pattern_name="console:dashboard"), name="start"),
    path("api/docs/", pages.api_docs, name="api-docs"),
    path("problems/", reference_pages.problems, name="problems"),
    path("problems/<slug:name>", reference_pages.problem, name="problem"),
    path(
        "problems/<slug:name>/",
        RedirectView.as_view(pattern_name="console:problem"),
        name="problem-with-slash",
    ),
    path("rules/", reference_pages.rules, name="rules"),
    path("console/gate/", gate_pages.gate, name="gate"),
    path("console/gate/suggestions/<uuid:suggestion_id>/", gate_pages.answer, name="gate-answer"),
    path("console/gate/merges/<uuid:merge_id>/", gate_pages.judge, name="gate-judge"),
    path("console/gate/<slug:source>/<uuid:item>/undo/", gate_pages.undo, name="gate-undo"),
    path("console/detective/", detective_pages.detective, name="detective"),
    path("console/detective/unmute/", detective_pages.unmute, name="unmute"),
    path("console/digest/", digest_pages.digest, name="digest"),
    path("console/retention/", retention_pages.retention, name="retention"),
    path("console/settings/", settings_pages.settings_page, name="settings"),
    path("console/replay/", replay_pages.what_if, name="replay"),
    path("console/learning/", learning.overview, name="learning"),
    path("console/learning/mode/", learning.mode, name="learning-mode"),
    path("console/learning/calibration/", calibration_pages.calibration, name="calibration"),
    path("console/guides/", guide_pages.guides, name="guides"),
    path("console/guides/<slug:name>/", guide_pages.guide, name="guide"),
    path("console/tour/", tour_pages.tour, name="tour"),
    path("console/numbers/", pages.numbers, name="numbers"),
    path("console/switch/", pages.switch, name="switch"),
    path("console/sign-out/", pages.sign_out, name="sign-out"),
    path("invitation/<str:token>/", invitation_pages.invitation, name="invitation"),
    path("console/no-workspace/", pages.no_workspace, name="no-workspace"),
    path("console/deletions/", deletion_pages.deletions, name="deletions"),
    path("console/inbox/", inbox.inbox, name="inbox"),
    path("console/inbox/counts/", inbox.counts, name="inbox-counts"),
    path("console/inbox/<slug:source>/<uuid:item>/", inbox.act, name="inbox-act"),
    path("console/inbox/<slug:source>/<uuid:item>/snooze/", inbox.snooze, name="inbox-snooze"),
    path("console/inbox/<slug:source>/<uuid:item>/undo/", inbox.take_back, name="inbox-undo"),
    path("console/refused/", refusal_pages.refused, name="refused"),
    path("console/refused/<uuid:refusal_id>/", refusal_pages.decide, name="refused-decide"),
    path("console/questions/", question_pages.questions, name="questions"),
    path("console/questions/<uuid:question_id>/", question_pages.question, name="question"),
    path("console/memories/", list_pages.memories, name="memories"),
    path("console/memories/new/", new_page.new_memory, name="memory-new"),
    path("console/memories/act/", act_pages.act, name="memories-act"),
    path(
        "console/memories/changes/<uuid:change_id>/",
        change_pages.memory_change,
        name="memory-changes",
    ),
    path(
        "console/memories/changes/<uuid:change_id>/undo/",
        change_pages.undo_change,
        name="memory-changes-undo",
    ),
    path("console/memories/report/", report_pages.report_memories, name="memories-report"),
    path("console/memories/<uuid:memory_id>/", memory_page.memory, name="memory"),
    path("console/memories/<uuid:memory_id>/change/", edit_pages.change, name="memory-change"),
    path("console/memories/<uuid:memory_id>/undo/", edit_pages.undo, name="memory-undo"),
    path("console/recall/", playground.playground, name="recall"),
    path("console/recalls/<uuid:recall_id>/", recall_pages.past_recall, name="past-recall"),
    path("console/notes/", note_pages.notes, name="notes"),
    path("console/notes/<uuid:note_id>/", note_pages.note, name="note"),
    path("console/triage/", conflicts.triage, name="triage"),
    path("console/conflicts/", conflicts.conflict_list, name="conflicts"),
    path("console/conflicts/bulk/", conflict_bulk_pages.bulk_action, name="conflicts-bulk"),
    path("console/conflicts/<uuid:conflict_id>/", conflicts.conflict, name="conflict"),
    path(
        "console/conflicts/<uuid:conflict_id>/resolve/",
        conflicts.decide,
        name="conflict-resolve",
    ),
    path(
        "console/conflicts/<uuid:conflict_id>/undo/", conflicts.undo_or_wake, name="conflict-undo"
    ),
    path(
        "console/conflicts/<uuid:conflict_id>/snooze/",
        conflicts.snooze_card,
        name="conflict-snooze",
    ),
    path("console/conflicts/<uuid:conflict_id>/assign/", conflicts.assign, name="conflict-assign"),
    path(
        "console/conflicts/<uuid:conflict_id>/comment/",
        conflicts.comment,
        name="conflict-comment",
    ),
]
