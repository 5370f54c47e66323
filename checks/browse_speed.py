"""How long a keystroke in the search of the sample browser takes, in headless Chromium.

    python checks/browse_speed.py [FOLDER]

Opens every page of the sample browser in a folder (results/book/browse) from disk, types into its
search, and prints of each how many answers it holds, how long it took to open, and the median and
the longest of the keystrokes: the processor's time of the page, and the time until it was painted.
Exits with 1 if a keystroke takes the processor 200 ms or more. Needs playwright and chromium.
"""

import shutil
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TYPED = "not know the"
LIMIT = 200  # milliseconds
FLAGS = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
# Resolves when what was changed has been painted.
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"


class Keystroke(NamedTuple):
    """Milliseconds of one: of the processor in the page, and until it was painted."""

    busy: float
    painted: float


def launched(driver: Any) -> Any:
    """A headless Chromium. driver: of playwright."""
    return driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)


def keystrokes(page: Any, typed: str) -> list[Keystroke]:
    """Types into the search of an open page, letter by letter."""
    metrics = page.context.new_cdp_session(page)
    metrics.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy() -> float:
        for metric in metrics.send("Performance.getMetrics")["metrics"]:
            if metric["name"] == "TaskDuration":
                return 1000 * metric["value"]
        raise ValueError("the browser tells no TaskDuration")

    times = []
    for letter in typed:
        busy_at_first = busy()
        start = time.perf_counter()
        page.locator("#search").press("Space" if letter == " " else letter)
        page.evaluate(PAINTED)
        painted = 1000 * (time.perf_counter() - start)
        times.append(Keystroke(round(busy() - busy_at_first, 1), round(painted, 1)))
    return times


def main(folder: Path) -> int:
    """Print the times of each page; 1 if one is too slow."""
    from playwright.sync_api import sync_playwright

    slowest = 0.0
    with sync_playwright() as driver:
        chromium = launched(driver)
        for path in sorted(folder.glob("*.html")):
            page = chromium.new_page()
            start = time.perf_counter()
            page.goto(path.resolve().as_uri(), wait_until="commit")
            page.wait_for_selector("#table tbody tr", timeout=120_000)
            opened = time.perf_counter() - start
            rows = page.inner_text("#count")
            times = keystrokes(page, TYPED)
            busy, painted = zip(*times, strict=True)
            print(
                f"{path.stem}: {rows}, opened in {opened:.1f} s; a keystroke: "
                f"median {median(busy):.0f} ms, longest {max(busy):.0f} ms of the processor, "
                f"median {median(painted):.0f} ms, longest {max(painted):.0f} ms until painted"
            )
            slowest = max(slowest, *busy)
            page.close()
    return int(slowest >= LIMIT)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results" / "book" / "browse"))
