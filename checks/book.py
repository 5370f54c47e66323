"""Is every page of the book sound? Asked of a real browser, from the disk, at three widths.

    python checks/book.py [FOLDER]

Of every page: does it load without an error, without a missing file and without asking any address
but the disk's; does it keep within the width; has every image a text; does axe-core find a serious
violation, in light and in dark; does every link lead to a file of the book, and to a place in it.
Of the whole: does its search find what the papers are about. What is wrong is printed as a table; 1 if anything is.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from shutil import which
from urllib.parse import quote, unquote, urlsplit

import pandas as pd
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tomlab.paths import RESULTS

SHOWN = ((1280, "light"), (768, "dark"), (390, "light"))  # how wide, in pixels
HEIGHT = 900
SEARCHED = "TB ∧ FB"
TERMS = ("position bias", "Sally-Anne", "Holm")  # the search lists a page for each
CODE = ("groupby(", "read_csv(")  # and shows no code
CHROMIUM = next(filter(None, map(which, ("chromium", "chromium-browser", "google-chrome"))), None)
_OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
Faults = list[tuple[str, str]]  # what kind, and what


@contextmanager
def browsing() -> Iterator[Browser]:
    """A headless browser."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=_OPTIONS)
        yield browser
        browser.close()


@contextmanager
def tab(browser: Browser, width: int, scheme: str) -> Iterator[tuple[Page, Faults]]:
    """An empty page of a width, in light or dark, and what goes wrong in it from now on."""
    size, faults = {"width": width, "height": HEIGHT}, []
    context = browser.new_context(viewport=size, color_scheme=scheme)
    page = context.new_page()
    schemes = ("file:", "data:", "blob:")
    page.on("console", lambda m: m.type == "error" and faults.append(("console", m.text)))
    page.on("pageerror", lambda error: faults.append(("script", str(error))))
    page.on("requestfailed", lambda r: faults.append(("missing", r.url)))
    page.on("request", lambda r: r.url.startswith(schemes) or faults.append(("elsewhere", r.url)))
    yield page, faults
    context.close()


def layout_faults(page: Page) -> Faults:
    """What does not keep within the width, and images that are broken or not described."""
    faults = []
    wide, room = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    if wide > room:
        faults.append(("sideways", f"{wide} pixels in {room}"))
    # Those further down are loaded only when somebody comes near; one that can't be stays broken.
    page.evaluate(
        "Promise.all([...document.images].map(i => (i.loading = 'eager', i.decode().catch(() => 0))))"
    )
    for name, is_shown, alt in page.evaluate(
        "[...document.images].map(i => [i.currentSrc || i.src, i.complete && i.naturalWidth > 0, i.alt])"
    ):
        name = name[-60:]
        faults += [] if is_shown else [("image", f"{name}: broken")]
        faults += [] if alt.strip() else [("image", f"{name}: no text")]
    return faults


def violations(page: Page) -> Faults:
    """What axe-core calls serious or critical, with the first place of each."""
    # It would fetch the pages' styles, which a browser refuses for files.
    violations_found = Axe().run(page, options={"preload": False}).response["violations"]
    return [
        (
            "axe",
            f"{violation['id']} × {len(violation['nodes'])}: {violation['nodes'][0]['html'][:160]}",
        )
        for violation in violations_found
        if violation["impact"] in ("serious", "critical")
    ]


def page_faults(page: Page, path: Path) -> Faults:
    """What is wrong with a page as it is shown, beside what `tab` notes."""
    page.goto(path.resolve().as_uri())
    page.wait_for_load_state("load")
    return layout_faults(page) + violations(page)


class _Read(HTMLParser):
    """The names in a page that links may lead to, and what it links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names, self.links = {""}, []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" or (tag, name) == ("a", "name"):
                self.names.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


@cache
def _read(path: Path) -> _Read:
    return _Read(path.read_text(encoding="utf-8"))


def link_faults(path: Path, folder: Path) -> Faults:
    """Links of a page that lead to no file, to no place in it, or out of the book's folder."""
    faults = []
    for link in dict.fromkeys(_read(path).links):
        address = urlsplit(link)
        if address.scheme:
            continue
        target = (path.parent / unquote(address.path)).resolve() if address.path else path
        if not target.is_relative_to(folder.resolve()):
            faults.append(("link", f"{link}: leads out of the book"))
        elif not target.exists():
            faults.append(("link", f"{link}: no such file"))
        elif target.suffix == ".html" and unquote(address.fragment) not in _read(target).names:
            faults.append(("link", f"{link}: no such place"))
    return faults


def found_by_search(page: Page, folder: Path, text: str) -> list[str]:
    """The pages that the book's search lists for a text."""
    page.goto(f"{(folder / 'search.html').resolve().as_uri()}?q={quote(text)}")
    # It says so when it has listed all.
    page.get_by_text(re.compile("Search finished|did not match")).wait_for()
    links = page.query_selector_all("#search-results li a")
    return [unquote(link.get_attribute("href").partition("?")[0]) for link in links]


def search_faults(page: Page, folder: Path) -> Faults:
    """Terms that the search does not find, and code that it shows."""
    faults = []
    for term in TERMS:
        if not found_by_search(page, folder, term):
            faults.append(("search", f"{term!r}: found on no page"))
    for code in CODE:
        found_by_search(page, folder, code)
        if code in page.inner_text("#search-results"):
            faults.append(("search", f"{code!r}: shown as a result"))
    return faults


def check(folder: Path, pages: list[Path]) -> tuple[dict[tuple[Path, str, str], list[str]], int]:
    """The faults of these pages by page, kind and what, each with where it was seen; and how many
    pages hold what is `SEARCHED`, of those that the search lists.
    """
    seen_at = {}
    with browsing() as browser:
        for width, scheme in SHOWN:
            with tab(browser, width, scheme) as (page, noted):
                for path in pages:
                    noted.clear()
                    for kind, text in [*page_faults(page, path), *noted]:
                        seen_at.setdefault((path, kind, text), []).append(f"{width} {scheme}")
        with tab(browser, 1280, "light") as (page, _):
            listed = found_by_search(page, folder, SEARCHED)
    for path in pages:
        seen_at |= {(path, *fault): ["as written"] for fault in link_faults(path, folder)}
    return seen_at, sum(SEARCHED in (folder / name).read_text(encoding="utf-8") for name in listed)


def main() -> int:
    """The command line: 0 if the book is sound."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=RESULTS / "book")
    folder = parser.parse_args().folder.resolve()
    pages = [p for p in sorted(folder.rglob("*.html")) if "_static" not in p.parts]
    seen_at, hits = check(folder, pages)
    with browsing() as browser, tab(browser, 1280, "light") as (page, _):
        for fault in search_faults(page, folder):
            seen_at[folder / "search.html", *fault] = ["1280 light"]
    rows = [
        [p.relative_to(folder), kind, ", ".join(places), text]
        for (p, kind, text), places in seen_at.items()
    ]
    if rows:
        print(
            pd.DataFrame(rows, columns=["page", "fault", "seen at", "what"]).to_string(index=False)
        )
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    widths = ", ".join(f"{width} px ({scheme})" for width, scheme in SHOWN)
    print(f"{len(pages)} pages, {size:.1f} MB, at {widths}; {SEARCHED!r} is found on {hits} pages")
    print(f"{len(rows)} faults")
    return 1 if rows or not hits else 0


if __name__ == "__main__":
    sys.exit(main())
