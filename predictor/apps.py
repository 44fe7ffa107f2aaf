from django.apps import AppConfig


class PredictorConfig(AppConfig):
    """Predictor: learns from judged sessions which memories to inject."""

    name = "predictor"

    def ready(self) -> None:
        """Connect the handlers of the signals that `memories` sends."""
        from engram.kernel.signals import settings_changed
        from memories import signals
        from predictor.services.judging import due, erase, labelling
        from predictor.services.training import rezone, unlearn

        settings_changed.connect(rezone.note_zone_changed, dispatch_uid="predictor.time_zone")
        signals.session_ended.connect(due.note_ended, dispatch_uid="predictor.ended")
        signals.memories_hidden.connect(labelling.note_hidden, dispatch_uid="predictor.hidden")
        signals.memories_revived.connect(labelling.note_revived, dispatch_uid="predictor.revived")
        # First: it reads many rows and must do so before the next handler locks the state.
        signals.memories_erased.connect(erase.note_erased, dispatch_uid="predictor.erased")
        signals.memories_erased.connect(
            unlearn.note_memories_erased, dispatch_uid="predictor.unlearn"
        )
        signals.transcripts_erased.connect(
            erase.note_transcripts_erased, dispatch_uid="predictor.transcripts_erased"
        )
        signals.session_erased.connect(
            unlearn.note_session_erased, dispatch_uid="predictor.unlearn_session"
        )
