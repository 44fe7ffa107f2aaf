from django.apps import AppConfig


class ConflictsConfig(AppConfig):
    """Conflicts: detection of contradictions, cards, and people's verdicts."""

    name = "conflicts"

    def ready(self) -> None:
        """Connect the handlers of the signals that `memories` and the kernel send."""
        from conflicts.services import due
        from conflicts.services.cards import erase, lapse, reworded
        from conflicts.services.muting import read_again, settle
        from engram.kernel.signals import settings_changed
        from memories import signals

        signals.memories_written.connect(reworded.note_reworded, dispatch_uid="conflicts.reworded")
        signals.memories_written.connect(due.note_written_if_enabled, dispatch_uid="conflicts.due")
        signals.memories_revived.connect(lapse.note_revived, dispatch_uid="conflicts.reopen")
        signals.memories_revived.connect(due.note_revived, dispatch_uid="conflicts.revived")
        signals.memories_hidden.connect(lapse.note_hidden, dispatch_uid="conflicts.lapse")
        signals.memories_erased.connect(erase.note_erased, dispatch_uid="conflicts.erased")
        settings_changed.connect(settle.follow_setting, dispatch_uid="conflicts.muting")
        settings_changed.connect(read_again.read_unmuted, dispatch_uid="conflicts.unmuted")
