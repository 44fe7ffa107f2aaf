"""The admin of conflicts and of the detective's runs."""

from conflicts.admin.cards import ConflictAdmin
from conflicts.admin.runs import DetectionRunAdmin

__all__ = ["ConflictAdmin", "DetectionRunAdmin"]
