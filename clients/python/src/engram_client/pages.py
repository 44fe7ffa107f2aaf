"""Lists that come in pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Generic, TypeVar

from engram_client._calls import Call

Row = TypeVar("Row")
Page = TypeVar("Page")


def _next(call: Call[Page], page: Any) -> Call[Page] | None:
    return call.page(page["next"]) if page.get("next") else None


class Pages(Generic[Row, Page]):
    """A list: iterating it yields its rows, and asks for further pages as needed."""

    def __init__(self, send: Callable[[Call[Page]], Page], call: Call[Page]):
        self._send, self._call = send, call

    def first_page(self) -> Page:
        """Return the first page as the API has it."""
        return self._send(self._call)

    def pages(self) -> Iterator[Page]:
        """Yield page after page as the API has them."""
        call: Call[Page] | None = self._call
        while call is not None:
            page = self._send(call)
            yield page
            call = _next(call, page)

    def __iter__(self) -> Iterator[Row]:
        for page in self.pages():
            rows: Any = page
            yield from rows["results"]


class AsyncPages(Generic[Row, Page]):
    """A list: `async for` yields its rows, and asks for further pages as needed."""

    def __init__(self, send: Callable[[Call[Page]], Awaitable[Page]], call: Call[Page]):
        self._send, self._call = send, call

    async def first_page(self) -> Page:
        """Return the first page as the API has it."""
        return await self._send(self._call)

    async def pages(self) -> AsyncIterator[Page]:
        """Yield page after page as the API has them."""
        call: Call[Page] | None = self._call
        while call is not None:
            page = await self._send(call)
            yield page
            call = _next(call, page)

    async def __aiter__(self) -> AsyncIterator[Row]:
        async for page in self.pages():
            rows: Any = page
            for row in rows["results"]:
                yield row
