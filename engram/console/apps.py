from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """Pages, API views and commands that use all apps."""

    name = "engram.console"
    label = "console"
