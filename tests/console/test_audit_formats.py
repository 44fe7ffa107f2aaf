"""Reports as SARIF, HTML and text: valid, complete, and with every text as data."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from engram.console.audit.as_html import as_html
from engram.console.audit.as_sarif import as_sarif
from engram.console.audit.as_text import as_json, as_text
from engram.console.audit.findings import RULES, Finding, Place, Report, Skipped
from tests.console.audits import audit, write

SCHEMA = json.loads((Path(__file__).parent / "data/sarif-schema-2.1.0.json").read_text())
HOSTILE = "<script>alert(1)</script> [x](javascript:1) {0} \x1b[31m \u202egnp \"'&"
REPORT = Report(
    findings=(
        Finding("contradiction", (Place("a b/ü.md", 3, 4, HOSTILE), Place("c.md", 1, 1, "x")),
                f"Does {HOSTILE} hold?", HOSTILE),
        *(Finding(rule, (Place("c.md", 1, 1),), "Where?", "There is none.") for rule in RULES),
        Finding("same-words", tuple(Place("d.md", n, n, "x") for n in range(1, 60)), "?", "!"),
    ),
    skipped=(Skipped("<b>.md", "it is [no](text)"),),
    files=2, statements=5, order="files",
)  # fmt: skip
EMPTY = Report((), (), 1, 0, "commits")


@pytest.mark.parametrize("report", [REPORT, EMPTY])
def test_sarif_is_valid_against_the_schema(report: Report) -> None:
    jsonschema.Draft7Validator(SCHEMA).validate(json.loads(as_sarif(report)))


def test_sarif_has_each_finding_with_its_rule_places_and_fingerprint() -> None:
    (run,) = json.loads(as_sarif(REPORT))["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert sorted(rules) == sorted(RULES)
    assert len(run["results"]) == len(REPORT.findings)
    for result, finding in zip(run["results"], REPORT.findings, strict=True):
        assert rules[result["ruleIndex"]] == result["ruleId"] == finding.rule
        assert result["partialFingerprints"] == {"engramAudit/v1": finding.fingerprint}
    first = run["results"][0]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%20b/%C3%BC.md"
    assert place["region"] == {"startLine": 3, "endLine": 4}
    assert [related["id"] for related in first["relatedLocations"]] == [1]
    assert r"\[x\](javascript:1) {{0}}" in first["message"]["text"]
    assert len(run["results"][-1]["relatedLocations"]) == 19


class Page(HTMLParser):
    """Collects the elements and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_escapes_every_text_and_needs_nothing_else() -> None:
    page = Page(as_html(REPORT))
    assert "<script>alert(1)</script> [x](javascript:1)" in page.text
    assert "<b>.md" in page.text
    assert not {"script", "link", "img", "iframe", "b", "a"} & set(page.tags)
    assert not {"src", "href", "style", "onclick"} & set(page.attributes)
    assert "default-src 'none'" in as_html(REPORT)
    assert page.tags.count("article") == len(REPORT.findings)


def test_a_page_without_findings_says_so() -> None:
    assert "1 file, 0 statements: nothing found." in Page(as_html(EMPTY)).text


def test_what_files_say_reaches_no_format_as_a_control_character_or_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "The password is hunter42hunter and \x1b[31mred\x1b[0m \u202etxt never leaves the shop."
    write(tmp_path, {"a.md": f"{text}\n", "b.md": f"{text}\n\n[\x1b 2J](gone%1b.md)\n"})
    report = audit()
    assert len(report.findings) == 2
    for written in (as_text(report), as_html(report), as_json(report), as_sarif(report)):
        assert "hunter42hunter" not in written
        assert "\x1b" not in written
        assert "\\u001b" not in written
        assert "\u202e" not in written
