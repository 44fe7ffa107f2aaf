from django.apps import AppConfig


class PredictorConfig(AppConfig):
    """Predictor: what to inject, learned from judged sessions."""

    name = "predictor"
