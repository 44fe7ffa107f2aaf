"""The end of the story: the workspace is deleted."""

from __future__ import annotations

from tests.console.examples.story import Story


def record_deletion(story: Story) -> None:
    """Send the calls that delete the workspace, and one that comes too late."""
    send, admin = story.send, story.admin
    path = "POST /workspace/deletion"
    send(admin, path, {"slug": "harbor"}, summary="A slug that is mistyped", status=422)
    send(admin, path, {"slug": "harbour"}, summary="Delete the workspace", status=202)
    send(admin, "GET /workspace/deletion", summary="How far it is")
    send(story.reader, "GET /memories", summary="A workspace that is being deleted", status=410)
