"""Drawings of the detective's page: shares with their intervals, month by month."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from conflicts.services.detection.quality import Month
from engram.console.templatetags.console import percent
from memories.core.metrics import Interval

register = template.Library()

HEIGHT = 120
STEP = 46
END = 12  # pixels behind the last month, whose name is wider than a step
MARGIN = 46
MONTHS_DRAWN = 24  # the newest; older ones stand in the table


@register.filter
def share_words(interval: Interval) -> str:
    """Return a share with its interval, in words; without cases, that nothing is known."""
    if not interval.n:
        return "unknown"
    low, high = percent(interval.low), percent(interval.high)
    return f"{percent(interval.mean)} ({low} to {high})"


@register.simple_tag
def interval_bar(interval: Interval) -> SafeString:
    """Draw a share from 0 to 1: a band for the interval, a mark for the share."""
    band = (
        ""
        if not interval.n
        else format_html(
            '<rect class="band" x="{}" y="3" width="{}" height="6" rx="3"/>'
            '<rect class="mark" x="{}" y="0" width="1.6" height="12" rx="0.8"/>',
            f"{interval.low * 100:.2f}",
            f"{max(interval.high - interval.low, 0.01) * 100:.2f}",
            f"{min(max(interval.mean * 100 - 0.8, 0), 98.4):.2f}",
        )
    )
    return format_html(
        '<svg class="interval" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="track" x="0" y="5" width="100" height="2" rx="1"/>{}</svg>',
        band,
    )


@dataclass(frozen=True, slots=True)
class MonthShare:
    """A share of `n` cases of the month that begins at `start`."""

    start: date
    share: Interval
    n: int


@register.simple_tag
def month_chart(months: Sequence[Month]) -> SafeString:
    """Draw the confirmed share of each month with its interval; months without verdicts stay empty.

    The table below says the same in words.
    """
    shares = [MonthShare(one.start, one.judged.confirmed, one.judged.decided) for one in months]
    return share_chart(shares, "Share of confirmed conflicts by month, with intervals")


@register.simple_tag
def share_chart(months: Sequence[MonthShare], label: str) -> SafeString:
    """Draw a share of each month with its interval; `label` says what it is."""
    drawn = months[-MONTHS_DRAWN:]
    width = MARGIN + STEP * len(drawn) + END
    lines = format_html_join(
        "",
        '<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<text class="scale" x="{}" y="{}">{}</text>',
        (
            (MARGIN, width, _y(share), _y(share), MARGIN - 6, _y(share) + 4, percent(share))
            for share in (0.0, 0.5, 1.0)
        ),
    )
    marks = format_html_join(
        "",
        "{}{}",
        ((_whisker(index, month), _name(index, month)) for index, month in enumerate(drawn)),
    )
    return format_html(
        '<svg class="months" viewBox="0 0 {} {}" width="{}" height="{}" role="img"'
        ' aria-label="{}">{}{}</svg>',
        width, HEIGHT + 52, width, HEIGHT + 52, label, lines, marks,
    )  # fmt: skip


def _y(share: float) -> float:
    return round(10 + (1 - share) * HEIGHT, 1)


def _middle(index: int) -> int:
    return MARGIN + STEP * index + STEP // 2


def _whisker(index: int, month: MonthShare) -> SafeString:
    share = month.share
    if not share.n:
        return SafeString("")
    x = _middle(index)
    return format_html(
        '<line class="whisker" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<circle class="mark" cx="{}" cy="{}" r="4.5"/>',
        x, x, _y(share.low), _y(share.high), x, _y(share.mean),
    )  # fmt: skip


def _name(index: int, month: MonthShare) -> SafeString:
    x = _middle(index)
    is_first = index == 0 or month.start.month == 1
    return format_html(
        '<text class="name" x="{}" y="{}">{}</text><text class="name" x="{}" y="{}">{}</text>',
        x, HEIGHT + 28, f"{month.start:%b}" + (f" {month.start:%Y}" if is_first else ""),
        x, HEIGHT + 44, f"n={month.n}",
    )  # fmt: skip
