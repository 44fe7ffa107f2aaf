from django.apps import AppConfig


class MemoriesConfig(AppConfig):
    """Memories: commit, recall, forget."""

    name = "memories"

    def ready(self) -> None:
        """Connect what follows from writing, hiding and erasing memories, and from failed jobs."""
        from engram.kernel.signals import job_failing
        from memories import signals
        from memories.services.drift import due, erase, reopen, resolve
        from memories.services.extraction import queue
        from memories.services.recall import erase_past

        job_failing.connect(queue.note_failing, dispatch_uid="memories.extraction_failing")

        signals.memories_written.connect(due.note_written, dispatch_uid="memories.drift_due")
        signals.memories_hidden.connect(resolve.note_hidden, dispatch_uid="memories.drift_hidden")
        signals.memories_revived.connect(erase.note_revived, dispatch_uid="memories.drift_revived")
        signals.memories_revived.connect(
            reopen.note_restored, dispatch_uid="memories.drift_reopened"
        )
        signals.memories_erased.connect(erase.note_erased, dispatch_uid="memories.drift_erased")
        signals.memories_erased.connect(
            erase_past.note_erased, dispatch_uid="memories.recalls_erased"
        )
        signals.session_erased.connect(
            erase_past.note_session_erased, dispatch_uid="memories.recalls_session_erased"
        )
        signals.transcripts_erased.connect(
            erase_past.note_transcripts_erased, dispatch_uid="memories.recalls_transcripts_erased"
        )
