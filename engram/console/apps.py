from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """The surfaces that see every app."""

    name = "engram.console"
    label = "console"
