"""Tell in plain words why the learned ranking has its say or none, and what is missing.

Readers need not know how margins are weighed: what was compared, over how many sessions, which
choice was better and by how much. `Governor.to_json` has the exact figures.
"""

from __future__ import annotations

from memories.core.shares import percent
from predictor.core.margins import MOST_COUNTED, Margins

FEW = 5  # sessions; an interval over fewer is no help to a reader
NO_LEAD = 0.005  # a smaller difference is shown as 0.00
UNTRAINED = "The baseline ranks alone: nothing is learned yet."


def lead_words(margins: Margins) -> str:
    """Return by how much the learned ranking was better: `better by 0.21 (0.12 to 0.30)`."""
    mean = margins.mean
    if abs(mean) < NO_LEAD:
        word = "no better and no worse"
    else:
        word = f"{'better' if mean > 0 else 'worse'} by {abs(mean):.2f}"
    if margins.count < FEW:
        return f"{word} (too few sessions to tell)"
    low, high = margins.interval
    if mean < 0:  # the interval of what is said
        low, high = -high, -low
    return f"{word} (95 % certain: {low:.2f} to {high:.2f})".replace("-", "−")


def compared_words(margins: Margins, *, is_anew: bool = False) -> str:
    """Return a sentence on what was compared and how it ended.

    `is_anew` is whether earlier comparisons were dropped, because the learned ranking fell behind.
    """
    if not margins.count:
        return (
            "To compare them, learned ranking and baseline choose the memories of a session in"
            f" turn; no such session has been judged {'since' if is_anew else 'yet'}."
        )
    number = _sessions(margins.count)
    if margins.count >= MOST_COUNTED:
        number = f"{MOST_COUNTED} or more sessions"
    return (
        f"In {number} that {'was' if margins.count == 1 else 'were'} judged, learned ranking and"
        " baseline chose the memories in turn: the learned ranking’s choices were"
        f" {lead_words(margins)}, where 1 is the most possible and newer sessions count more."
    )


def cold_words(margins: Margins, *, unmet: str, resets: int, is_lost: bool) -> str:
    """Return sentences on why the learned ranking has no say.

    `unmet` is the first condition that is missing, as `Governor` words it; `is_lost` whether
    the learned ranking fell behind, for the `resets`th time.
    """
    why = "The learned ranking has yet to earn a say."
    if is_lost:
        times = f" ({resets} times so far)" if resets > 1 else ""
        why = (
            f"The learned ranking had fallen behind the baseline{times}, and must earn a say anew."
        )
    return f"{why} {compared_words(margins, is_anew=is_lost)} {unmet}"


def few_judged(done: int, wanted: int) -> str:
    """Return what is missing while too few sessions are judged."""
    return f"It needs at least {wanted} judged sessions to earn one; so far {done}."


def few_compared(done: int, wanted: int) -> str:
    """Return what is missing while too few sessions say something of unlearned material."""
    return f"It needs at least {wanted} such sessions that it had not learned from; so far {done}."


def may_be_chance(margins: Margins) -> str:
    """Return what is missing once enough sessions are compared."""
    if margins.mean < NO_LEAD:
        return "It gets a say once its choices are better, beyond what chance explains."
    until = "it gets a say as soon as chance can hardly explain it."
    if margins.count >= FEW and margins.interval[0] > 0:
        # A reader sees an interval above 0, and no say.
        return f"As this is looked at after every session, some leads show by chance; {until}"
    return f"That may still be chance; {until}"


def earned_words(margins: Margins, *, share: float) -> str:
    """Return sentences on why the model has earned a share, in [0, 1], of the say."""
    return (
        f"The learned ranking has earned {percent(share)} of the say, the baseline has the rest."
        f" {compared_words(margins)} The greater and the surer its lead, the greater its say."
    )


def ramp_words(*, earned: float, most: float, done: int, until: int) -> str:
    """Return a sentence on what limits the share in the first sessions with a say."""
    limit = f"In its first {until} sessions with a say it gets at most {percent(most)}"
    told = f"{limit}; {done} {'has' if done == 1 else 'have'} passed."
    return f"{told} Its lead alone would earn it {percent(earned)}." if earned > most else told


def _sessions(number: int) -> str:
    return f"{number} session{'' if number == 1 else 's'}"
