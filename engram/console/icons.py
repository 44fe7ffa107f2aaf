"""Line icons, drawn on a 24 × 24 grid; inline, so that a page needs no further request."""

from typing import Final

PATHS: Final[dict[str, str]] = {
    "dashboard": "M4 4h7v9H4zM13 4h7v5h-7zM13 11h7v9h-7zM4 15h7v5H4z",
    "triage": "M4 13l2.5-8h11L20 13v6H4zM4 13h5l1.2 2.5h3.6L15 13h5",
    "memories": "M12 3l9 4.5-9 4.5-9-4.5zM3 12l9 4.5 9-4.5M3 16.5L12 21l9-4.5",
    "conflicts": "M12 4v5M12 9c0 4-6 3-6 8v3M12 9c0 4 6 3 6 8v3M9 6.5L12 3.5l3 3",
    "runs": "M12 12l6-6M20.5 12a8.5 8.5 0 1 1-4-7.2M16 12a4 4 0 1 1-2-3.4",
    "events": "M12 7v5l3.5 2M4 12a8 8 0 1 0 2.6-5.9M4 4v4.5h4.5",
    "keys": "M14.5 4.5a5 5 0 1 1-3.6 8.5L9 15H7v2H5v2H3v-3l6.6-6.6a5 5 0 0 1 4.9-4.9zM16.5 8.5h.01",
    "people": "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20c0-3.5 2.5-6 6-6s6 2.5 6 6"
    "M16 4.5a3.5 3.5 0 0 1 0 6.2M17.5 14.5c2.2.8 3.5 2.8 3.5 5.5",
    "workspaces": "M4 20V6l8-3 8 3v14M9 20v-5h6v5M8.5 9h.01M12 9h.01M15.5 9h.01M3 20h18",
    "docs": "M5 4h9l5 5v11H5zM14 4v5h5M8.5 13h7M8.5 16.5h7",
    "search": "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l4.5 4.5",
    "undo": "M8 5L4 9l4 4M4 9h10a5.5 5.5 0 0 1 0 11h-3",
    "check": "M5 12.5l4.5 4.5L19 7.5",
    "cross": "M6 6l12 12M18 6L6 18",
    "clock": "M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17zM12 7.5V12l3 2",
    "talk": "M4 5h16v11H10l-5 4v-4H4z",
    "up": "M6 15l6-6 6 6",
    "down": "M6 9l6 6 6-6",
    "menu": "M4 7h16M4 12h16M4 17h16",
    "sun": "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2.5V5M12 19v2.5M2.5 12H5M19 12h2.5"
    "M5.3 5.3L7 7M17 17l1.7 1.7M5.3 18.7L7 17M17 7l1.7-1.7",
    "moon": "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
    "screen": "M3 5h18v11H3zM9 20h6M12 16v4",
    "keyboard": "M3 7h18v10H3zM6.5 10.5h.01M10 10.5h.01M13.5 10.5h.01M17 10.5h.01M8 14h8",
    "pause": "M8 5v14M16 5v14",
    "leave": "M14 4h6v16h-6M4 12h11M8 8l-4 4 4 4",
    "alert": "M12 4l9 16H3zM12 10v4.5M12 17.2h.01",
    "link": "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1.2 1.2"
    "M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7l1.2-1.2",
}
