"""Take the screenshots of the README from the demo: `make screenshots`.

It starts a product of its own with the demo in a temporary home, signs in, and writes PNGs of
1440 × 900 pixels to `docs/images/`. Memory texts and dates are the demo's; its story ends now, so
the dates are of the day.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Page, ViewportSize

from tests.e2e.browser import chromium
from tests.homes import ENVIRONMENT, PATIENCE_SECONDS, SOURCE, eventually, throw_away

FOLDER = SOURCE / "docs" / "images"
_SIZE = ViewportSize(width=1440, height=900)


class Shot(NamedTuple):
    """A page, the name of its file, and what must be in sight before it is taken."""

    name: str
    path: str
    selector: str


SHOTS = (
    Shot("home", "/", "main h1"),
    Shot("triage", "/console/triage/", "main h1"),
    Shot("memories", "/console/memories/", "main table"),
)


def take(page: Page, shot: Shot) -> Path:
    """Open a page and write its screenshot; return the file."""
    page.goto(shot.path)
    page.locator(shot.selector).first.wait_for()
    page.evaluate("document.fonts.ready.then(() => true)")
    path = FOLDER / f"{shot.name}.png"
    page.screenshot(path=path, animations="disabled", caret="hide")
    return path


@contextmanager
def demo() -> Iterator[dict[str, str]]:
    """Run the product with its demo; yield what `demo.json` says of the ways in."""
    with throw_away(Path(tempfile.mkdtemp(prefix="engram-screenshots-"))) as home:
        running = subprocess.Popen(
            [sys.executable, "manage.py", "up", "--port", "0"],
            cwd=SOURCE,
            env={**ENVIRONMENT, "ENGRAM_HOME": str(home)},
            stdout=subprocess.DEVNULL,
        )
        try:
            ways_in = home / "demo.json"
            if not eventually(ways_in.exists):
                raise RuntimeError("the demo did not start")
            yield json.loads(ways_in.read_text())
        finally:
            running.terminate()
            running.wait(timeout=PATIENCE_SECONDS)


def sign_in(page: Page, name: str, password: str) -> None:
    """Sign in as the demo's person, and stay at home."""
    page.goto("/")
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Sign out").wait_for()


def wait_until_healthy(page: Page) -> None:
    """Wait for the first signs of life of the workers."""

    def is_healthy() -> bool:
        page.reload()
        return page.locator("#health .chip").inner_text() not in {"starting", "unhealthy"}

    if not eventually(is_healthy):
        raise RuntimeError("the demo did not become healthy")


def main() -> None:
    """Take all."""
    FOLDER.mkdir(exist_ok=True)
    with demo() as known, chromium() as browser:
        page = browser.new_page(base_url=known["url"], viewport=_SIZE, color_scheme="light")
        sign_in(page, known["username"], known["password"])
        page.get_by_role("button", name="Do not offer it again").click()
        wait_until_healthy(page)
        for shot in SHOTS:
            print(take(page, shot).relative_to(SOURCE))  # noqa: T201


if __name__ == "__main__":
    main()
