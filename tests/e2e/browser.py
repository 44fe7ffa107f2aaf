"""A headless Chromium in front of a running product, and the people who use it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.homes import PATIENCE_SECONDS

if TYPE_CHECKING:
    from tests.e2e.service import Service

expect.set_options(timeout=PATIENCE_SECONDS * 1000)

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PASSWORD = "correct horse battery"
WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 360, "height": 740}

# The lowest contrast of all visible texts with what lies behind them, and where it is.
LOWEST_CONTRAST = """
() => {
  const PASSED_OVER =
    ".visually-hidden, .skip, :disabled, option, .material-symbols-outlined"; // the last are icons
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (pixel) => {
    const [r, g, b] = pixel.map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const pixel = rgba(getComputedStyle(at).backgroundColor);
      if (pixel[3] > 250) return pixel;
    }
    return rgba("Canvas");
  };
  let lowest = [99, ""];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (!text || !element.checkVisibility() || element.closest(PASSED_OVER)) continue;
    const [one, other] = [rgba(getComputedStyle(element).color), behind(element)].map(luminance);
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < lowest[0]) lowest = [ratio, `${text.slice(0, 40)} <${element.className}>`];
  }
  return lowest;
}
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the browser; without one the tests are counted as not run, and CI fails."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next((found for name in names if (found := shutil.which(name))), None)
    if path is None:
        said = "NOT RUN: there is no Chromium (apt-get install chromium)"
        if os.environ.get("CI") == "true":
            pytest.fail(said)
        pytest.skip(said)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def press(page: Page, key: str) -> None:
    """Press a key when the page's scripts run; until then nobody listens to it."""
    page.wait_for_load_state()
    page.keyboard.press(key)


def width_over(page: Page) -> int:
    """Return by how many pixels a page is wider than its window."""
    over: int = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return over


class Person:
    """Somebody at a browser; what the console complains about is kept in `complaints`."""

    def __init__(self, browser: Browser, service: Service, **options: Any):
        self.service = service
        self.url = service.up.url
        self.context: BrowserContext = browser.new_context(
            base_url=self.url, viewport=options.pop("viewport", WIDE), **options
        )
        self.context.set_default_timeout(PATIENCE_SECONDS * 1000)
        self.complaints: list[str] = []
        self.page: Page = self.context.new_page()
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _hear(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def sign_in(self, then: str = "/") -> Page:
        """Sign in and end where one wanted to go; the first time by the form."""
        if self.service.is_known:  # a session of its own, without the second that the form takes
            cookies = self.service.enter()
            self.context.add_cookies(
                [{"name": name, "value": cookies[name], "url": self.url} for name in cookies]
            )
        self.page.goto(then)
        if not self.service.is_known:
            self.page.get_by_label("User name").fill(self.service.person)
            self.page.get_by_label("Password").fill(PASSWORD)
            self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url(f"{self.url}{then}")
        self.service.is_known = True
        return self.page

    def leave(self) -> None:
        """Close the window."""
        self.context.close()
