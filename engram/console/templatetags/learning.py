"""Drawings of the pages about learning; tables below them say the same in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from engram.console.templatetags.console import percent
from engram.kernel.labels import figure
from memories.core.metrics import Interval
from predictor.core.calibration import STEPS, of_five
from predictor.core.gates import failures_in_words, gate_words
from predictor.core.offline_judge import version_in_words
from predictor.models import Comparison, ComparisonOutcome, Training, TrainingStatus
from predictor.models.comparison import LEARNED, PHASE_WORDS, WINNER_WORDS
from predictor.services.status.unused import void_words
from predictor.services.training.due import WHY

register = template.Library()
register.filter("of_five", of_five)
register.filter("judge_version", version_in_words)
register.filter("void_words", void_words)

FEW = 5  # an interval over fewer sessions says too little
STEP = 10
MARGIN = 40
HALF = 60  # height of a margin of the largest size
ZERO = 76
RATE_TOP, RATE_HEIGHT = 166, 50
LEAST_SCALE = 0.1  # of margins: smaller ones would fill the drawing
STATUS_LINE = re.compile(r"\[predictor: ([^\]]{1,200})\]")
STATUS_WORDS = {
    "baseline only": "the baseline alone has a say",
    "baseline fallback": "the baseline ranks alone",
    "drift detected": "its lists had become worse",
}
ERROR_WORDS = {
    "predictor_timeout": "the learned ranking was too slow",
    "predictor_loading": "the learned ranking was still loading",
    "predictor_crash": "the learned ranking failed",
    "predictor_parse_error": "what the learned ranking was given or gave could not be read",
    "predictor_checkpoint_error": "the weights of the learned ranking could not be read",
    "predictor_train_failure": "a training failed",
    "judge_failed": "a session could not be judged",
    "judge_given_up": "a session was given up after several failures of the judge",
}
GLYPHS = {"promoted": "promoted", "rejected": "refused", "failed": "failed"}


@register.filter
def thousands(number: int) -> str:
    """Return a number with its thousands set apart."""
    return f"{number:,}"


@register.filter
def ranker(name: str) -> str:
    """Return what pages call a ranker; the API says `predictor`."""
    return LEARNED if name == "predictor" else name


_SOURCES = {"effective": "baseline", "predictor": LEARNED, "fts_only": "a prompt"}


@register.filter
def source_name(source: str) -> str:
    """Return what pages call the reason for which a memory is a session's candidate."""
    return _SOURCES.get(source, source)


@register.filter
def status_words(line: str) -> str:
    """Return the status line that an agent got, in words; any other text as it is."""
    found = STATUS_LINE.fullmatch(line)
    if found is None:
        return line
    phase, *parts = found[1].split(" | ")
    try:
        told = [PHASE_WORDS.get(phase, phase), *(_part_in_words(part) for part in parts)]
    except ValueError:  # a rate that is no number
        return line
    return f"The agent was told of the predictor: {', '.join(told)}."


def _part_in_words(part: str) -> str:
    name, _, value = part.partition("=")
    if name == "success_rate":
        return f"won lately {percent(float(value))}"
    if name == "α":
        return f"weight of the baseline {value}"
    if name == "failures":
        return f"{value.removesuffix('/h')} failures in an hour"
    if part.startswith("model_v"):
        return f"version {part.removeprefix('model_v')}"
    return STATUS_WORDS.get(part, part)


@register.filter
def winner(comparison: Comparison) -> str:
    """Return whose order was better."""
    return WINNER_WORDS[ComparisonOutcome(comparison.outcome)]


@register.filter
def tone_of(comparison: Comparison) -> str:
    """Return the class of the chip of an outcome."""
    return {"win": "good", "loss": "bad", "tie": "accent"}.get(comparison.outcome, "")


@register.filter
def signed(value: float | None) -> str:
    """Return a difference of nDCG with its sign."""
    return "–" if value is None else figure(value, "+.3f")


@register.filter
def steps_apart(difference: float) -> str:
    """Return a difference of relevances in steps of the scale."""
    return f"{difference * STEPS:.1f}"


@register.filter
def signed_steps(difference: float) -> str:
    """Return a difference of relevances in steps of the scale, with its sign."""
    return figure(difference * STEPS, "+.1f")


@register.filter
def span(interval: Interval | None) -> str:
    """Return an interval in words; few sessions have none."""
    if interval is None or interval.n < FEW:
        return "too few for an interval"
    return f"{interval.low:.3f} to {interval.high:.3f}"


@register.filter
def signed_span(interval: Interval | None) -> str:
    """Return the interval of a difference in words."""
    if interval is None or interval.n < FEW:
        return "too few for an interval"
    return f"{figure(interval.low, '+.3f')} to {figure(interval.high, '+.3f')}"


@register.filter
def gates_in_words(training: Training) -> str:
    """Return what a training failed to show, or why it was promoted with a lower figure."""
    failed = failures_in_words(training.gates)
    before, after = training.canary_ndcg_before, training.canary_ndcg
    is_lower = before is not None and after is not None and after < before
    if not failed and is_lower and training.status == TrainingStatus.PROMOTED:
        return "lower by no more than chance explains"
    return ", ".join(failed)


@register.filter
def gate_title(name: str) -> str:
    """Return what a gate of a training asks of the new version."""
    return gate_words(name)


@register.filter
def error_words(code: str) -> str:
    """Return an error of scoring, training or judging in words."""
    return ERROR_WORDS.get(code, code)


@register.filter
def why_trained(reason: str) -> str:
    """Return why a training ran, in words."""
    return WHY.get(reason, reason)


@register.simple_tag
def split_gauge(model_share: float) -> SafeString:
    """Draw whose order counts how much; the words beside it say the same."""
    width = round(100 * min(max(model_share, 0.0), 1.0), 2)
    return format_html(
        '<svg class="gauge" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="of-baseline" x="0" y="0" width="100" height="8"/>'
        '<rect class="of-model" x="0" y="0" width="{}" height="8"/></svg>',
        width,
    )


@register.simple_tag
def outcome_chart(rows: Sequence[Comparison]) -> SafeString:
    """Draw margins as bars (up: won, down: lost), ties as dashes, void ones as empty circles.

    Below them runs the share won lately; a dashed line across is a loss of influence.
    """
    width = MARGIN + STEP * max(len(rows), 1) + 10
    largest = max([LEAST_SCALE, *(abs(row.margin) for row in rows if row.margin is not None)])
    marks = format_html_join("", "{}", ((_mark(n, row, largest),) for n, row in enumerate(rows)))
    rate = " ".join(f"{_x(n)},{_rate_y(row.success_rate)}" for n, row in enumerate(rows))
    scales = (
        (ZERO - HALF, f"+{largest:.2f}"), (ZERO, "0"), (ZERO + HALF, f"−{largest:.2f}"),
        (_rate_y(1), "100 %"), (_rate_y(0.5), "50 %"), (_rate_y(0), "0 %"),
    )  # fmt: skip
    drawn = format_html('{}<polyline class="rate" points="{}"/>', marks, rate)
    told = f"Margins of the last {len(rows)} sessions, and the share won lately"
    return _chart(
        "outcomes",
        told,
        width=width,
        height=RATE_TOP + RATE_HEIGHT + 12,
        scales=scales,
        drawn=drawn,
    )


def _chart(
    css: str,
    told: str,
    *,
    width: int,
    height: int,
    scales: Iterable[tuple[float, str]],
    drawn: SafeString,
) -> SafeString:
    """Draw a scale, and beside it what it measures; where that does not fit, the newest of it."""
    marked = list(scales)
    names = format_html_join(
        "",
        '<text class="scale" x="{}" y="{}">{}</text>',
        ((MARGIN - 5, y + 4, words) for y, words in marked),
    )
    lines = format_html_join(
        "",
        '<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>',
        ((MARGIN, width, y, y) for y, _ in marked),
    )
    return format_html(
        '<svg class="axis" width="{0}" height="{1}" aria-hidden="true">{2}</svg>'
        '<svg class="{3}" viewBox="{0} 0 {4} {1}" width="{4}" height="{1}" role="img"'
        ' preserveAspectRatio="xMaxYMid slice" aria-label="{5}">{6}{7}</svg>',
        MARGIN, height, names, css, width - MARGIN, told, lines, drawn,
    )  # fmt: skip


def _x(index: int) -> int:
    return MARGIN + STEP * index + STEP // 2


def _rate_y(rate: float) -> float:
    return round(RATE_TOP + (1 - rate) * RATE_HEIGHT, 1)


def _mark(index: int, row: Comparison, largest: float) -> SafeString:
    x = _x(index)
    reset = (
        format_html(
            '<line class="reset" x1="{0}" x2="{0}" y1="8" y2="{1}"/>', x, RATE_TOP + RATE_HEIGHT
        )
        if row.is_drift_reset
        else SafeString("")
    )
    return format_html(
        '<g class="{}"><title>{}</title>{}{}</g>',
        row.outcome, _told(row), reset, _shape(x, row, largest),
    )  # fmt: skip


def _shape(x: int, row: Comparison, largest: float) -> SafeString:
    if row.outcome == ComparisonOutcome.VOID:
        return format_html('<circle class="hollow" cx="{}" cy="{}" r="3"/>', x, ZERO)
    if row.outcome == ComparisonOutcome.TIE or not row.margin:
        return format_html(
            '<rect class="bar" x="{}" y="{}" width="7" height="3"/>', x - 3.5, ZERO - 1.5
        )
    height = max(round(abs(row.margin) / largest * HALF, 1), 2)
    y = ZERO - height if row.margin > 0 else ZERO
    return format_html(
        '<rect class="bar" x="{}" y="{}" width="7" height="{}" rx="1.5"/>',
        x - 4,
        round(y, 1),
        height,
    )


def _told(row: Comparison) -> str:
    name = row.session.session_key
    if row.outcome == ComparisonOutcome.VOID:
        return f"{name}: void, {void_words(row.void_reason)}"
    model, base = row.predictor_ndcg or 0.0, row.baseline_ndcg or 0.0
    reset = "; influence was lost here" if row.is_drift_reset else ""
    figures = (
        f"{LEARNED} {model:.3f}, baseline {base:.3f}, margin {figure(row.margin or 0, '+.3f')}"
    )
    return f"{name}: {figures}{reset}"


@register.simple_tag
def training_chart(trainings: Sequence[Training]) -> SafeString:
    """Draw the nDCG on held-out sessions before (short line) and after (dot) each training.

    A full dot was promoted, a hollow one refused or failed. Trainings without figures leave a gap.
    """
    step, height, top = 40, 120, 12
    values = [v for t in trainings for v in (t.canary_ndcg, t.canary_ndcg_before) if v is not None]
    low = min([*values, 1.0]) if values else 0.0
    low = max(0.0, int(low * 10) / 10 - 0.1)
    width = MARGIN + step * max(len(trainings), 1) + 10

    def y_of(value: float) -> float:
        return round(top + (1 - value) / (1 - low or 1) * height, 1)

    scales = [(y_of(v), f"{v:.2f}") for v in (1.0, (1 + low) / 2, low)]
    marks = format_html_join(
        "",
        "{}",
        (
            (_training_mark(MARGIN + step * n + step // 2, one, y_of, top + height),)
            for n, one in enumerate(trainings)
        ),
    )
    told = "nDCG on held-out sessions after each training"
    return _chart(
        "trainings", told, width=width, height=top + height + 24, scales=scales, drawn=marks
    )


def _training_mark(
    x: int, row: Training, y_of: Callable[[float], float], bottom: int
) -> SafeString:
    was = row.status == TrainingStatus.PROMOTED
    parts = []
    if row.canary_ndcg_before is not None:
        y = y_of(row.canary_ndcg_before)
        parts.append(
            format_html(
                '<line class="before" x1="{}" x2="{}" y1="{}" y2="{}"/>', x - 9, x + 9, y, y
            )
        )
    if row.canary_ndcg is not None:
        parts.append(
            format_html(
                '<circle class="{}" cx="{}" cy="{}" r="5"/>',
                "mark" if was else "hollow",
                x,
                y_of(row.canary_ndcg),
            )
        )
    name = f"v{row.version}" if row.version is not None else GLYPHS.get(row.status, row.status)
    drawn = format_html_join("", "{}", ((part,) for part in parts))
    return format_html(
        '<g class="{}"><title>{}</title>{}<text class="name" x="{}" y="{}">{}</text></g>',
        row.status, f"{name}: {why_trained(row.reason)}", drawn, x, bottom + 18,
        name if was else "✕",
    )  # fmt: skip
