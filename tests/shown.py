"""What a page or an answer shows, read in tests."""

import re


def shows_number(text: str, number: str) -> bool:
    """Say whether `number` stands in `text` by itself.

    The digits of ids, tokens and times hold any short number now and then: "0.86" is part of
    the second 00.868030, "5000" of an id.
    """
    return re.search(rf"(?<![\w.:-]){re.escape(number)}(?![\w-])", text) is not None
