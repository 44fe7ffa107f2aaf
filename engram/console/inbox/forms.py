"""Forms of the inbox, and the item that an address names."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms

from engram.console.inbox.source import SEVERITIES, InboxFilter
from engram.kernel.literals import row_id
from memories.core.content import CONTENT_MAX_CHARS
from memories.services.drift.answer import MOST_AT_ONCE

FILTERS = ("source", "severity", "scope", "q", "mine")


class InboxForm(forms.Form):
    """The filters of the inbox in the address; an invalid one is ignored."""

    source = forms.CharField(max_length=20, required=False)
    severity = forms.ChoiceField(
        choices=[("", "Any severity"), *((name, name.capitalize()) for name in SEVERITIES)],
        required=False,
    )
    scope = forms.CharField(max_length=300, required=False)
    q = forms.CharField(max_length=200, required=False)
    mine = forms.BooleanField(required=False)

    def to_filter(self, *, known: set[str], user_id: int | None) -> InboxFilter:
        """Return the valid filters."""
        self.is_valid()
        fields: dict[str, Any] = self.cleaned_data
        source = fields.get("source", "")
        return InboxFilter(
            source=source if source in known else "",
            severity=fields.get("severity", ""),
            scope=fields.get("scope", ""),
            text=fields.get("q", ""),
            assignee_id=user_id if fields.get("mine") else None,
            viewer_id=user_id,
        )


class ActionForm(forms.Form):
    """An answer, with a note where the item takes one."""

    action = forms.CharField(
        max_length=20, error_messages={"required": "Choose one of the answers."}
    )
    note = forms.CharField(max_length=1000, required=False)
    content = forms.CharField(max_length=CONTENT_MAX_CHARS, required=False, strip=False)
    # The items of a group that the answer is for, and the change that it was shown for.
    ids = forms.CharField(max_length=MOST_AT_ONCE * 37, required=False)
    version = forms.IntegerField(min_value=0, max_value=2**31 - 1, required=False)

    def clean_ids(self) -> list[UUID]:
        """Return the ids; refuse a text that is none."""
        found = [row_id(text) for text in self.cleaned_data["ids"].split()]
        if None in found:
            raise forms.ValidationError("Choose one of the answers.")
        return [item for item in found if item is not None]


def named_item(text: str, default: str = "conflicts") -> tuple[str, UUID] | None:
    """Return source and id of an item that the address names as `source:id`."""
    source, _, item = text.rpartition(":")
    found = row_id(item)
    return (source or default, found) if found else None
