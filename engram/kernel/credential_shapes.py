"""The formats of credentials that are known without the words around them.

Each is a prefix that its issuer chose, and a run that no word, hash, UUID or commit id has there.
"""

from __future__ import annotations

import re
from typing import Final

_START: Final = r"(?<![A-Za-z0-9])"
_A_DIGIT: Final = r"(?=[A-Za-z_.-]{0,200}\d)"  # names with such a prefix seldom have one
_DIGIT_IN_RUN: Final = r"(?=[A-Za-z]{0,200}\d)"
# The run after these has letters and digits alone: names go on with hyphens ("xai-grok-4-fast").
_BEFORE_A_RUN: Final = "|".join((
    "whsec_", "do[opr]_v1_", "shp(?:at|ca|pa|ss)_", "lin_api_", "ntn_", "glsa_", "glc_",
    "sntrys_", "sbp_", "r8_", "gsk_", "xai-", "pplx-", "tvly-(?:dev-|prod-)?", "lsv2_[a-z]{2}_",
    "rubygems_", "NRAK-", "PMAK-", "AGE-SECRET-KEY-1", "ops_eyJ",
))  # fmt: skip
_BEFORE_ANY: Final = "|".join((
    "dckr_pat_", "sq0[a-z]{3}-", "GOCSPX-", "ATATT3x", "pypi-AgE",
    rf"(?:figd_|hv[bsr]\.|ya29\.){_A_DIGIT}",
))  # fmt: skip

SHAPES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "a private key",
        re.compile(
            r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){0,20000}"
            r"(?:-----END [A-Z ]{0,40}KEY(?: BLOCK)?-----)?"
        ),
    ),
    ("an AWS access key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("a GitHub token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{40,})\b")),
    (
        "a Slack token",
        re.compile(r"\b(?:xox[abprs]-[A-Za-z0-9-]{10,}|(?:xox[cde]|xapp)-[\dA-Z][\w%-]{20,})"),
    ),
    (
        "the address of a webhook",
        re.compile(
            r"\b(?:hooks\.slack\.com/(?:services|workflows|triggers)/\w{8,40}/\w{8,40}/\w{20,}"
            r"|discord(?:app)?\.com/api/webhooks/\d{15,22}/[\w-]{50,})"
        ),
    ),
    (
        "a secret API key",
        re.compile(
            r"\b[sr]k[-_](?:live|test|proj|ant|svcacct|admin)[-_]"
            r"(?=[a-z_-]{0,200}[A-Z0-9])[A-Za-z0-9_-]{16,}"
        ),
    ),
    (
        "a secret API key",
        re.compile(r"\bsk-(?=[A-Za-z-]{0,80}\d)(?=[a-z0-9-]{0,80}[A-Z])[A-Za-z0-9-]{20,}"),
    ),
    (
        "a secret API key",
        re.compile(
            rf"{_START}sk-(?:(?:or-v\d-)?{_DIGIT_IN_RUN}[A-Za-z0-9]{{32,}}[\w-]*"
            r"|lf-[0-9a-f]{8}-[0-9a-f-]{27})"
        ),
    ),
    (
        "a GitLab token",
        re.compile(r"\bgl(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent|oas|ffct|wt)-[A-Za-z0-9_-]{20,}"),
    ),
    ("a Google API key", re.compile(r"\bAIza[A-Za-z0-9_-]{35}")),
    ("a Hugging Face token", re.compile(r"\bhf_[A-Za-z0-9]{30,}")),
    ("an npm token", re.compile(r"\bnpm_[A-Za-z0-9]{36}\b")),
    ("a SendGrid key", re.compile(r"\bSG\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}")),
    ("an API key of this service", re.compile(r"\begr_[A-Za-z0-9_-]{40,}")),
    ("a Databricks token", re.compile(rf"{_START}dapi[0-9a-f]{{32}}(?![0-9a-f])")),
    ("a Telegram token", re.compile(r"(?<!\w)\d{8,10}:AA[\w-]{33}(?![\w-])")),
    (
        "a token",
        re.compile(
            rf"{_START}(?:(?:{_BEFORE_A_RUN}){_DIGIT_IN_RUN}[A-Za-z0-9]{{24,}}"
            rf"|(?:{_BEFORE_ANY})[\w-]{{20,}})[\w=-]*"
        ),
    ),
    (
        "a storage key",
        re.compile(r"(?:Account|SharedAccess)Key=(?:[A-Za-z0-9+/]{40,100}={0,2})", re.I),
    ),
    ("a JSON web token", re.compile(r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}")),
    (
        "a password in a URL",
        re.compile(
            r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,30}://[^\s/:@]{0,200}:(?![$<{*])[^\s/]{3,200}@",
            re.I,
        ),
    ),
    (
        "a password",  # base64 of "name:password"
        re.compile(
            r"(?i:authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?basic)\s{1,3}"
            r"(?=[A-Za-z+/]{0,200}[\d=]|[a-z+/]{0,200}[A-Z]+[a-z+/]{1,200}[A-Z])"
            r"[A-Za-z0-9+/]{8,}={0,2}"
        ),
    ),
    (
        "a token",
        re.compile(
            r"(?<![A-Za-z0-9])(?:token\s*[=:]|bearer)\s*"
            r"['\"]?(?=[A-Za-z+/_.-]{0,200}\d)(?=[^a-z]{0,200}[a-z])[A-Za-z0-9+/_.=-]{20,}",
            re.I,
        ),
    ),
)
