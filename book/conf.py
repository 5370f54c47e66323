"""Sphinx's settings for the book; `tomlab.pipeline.publish` builds it."""

import json
import re
from html import unescape
from pathlib import Path

from docutils.nodes import literal_block, raw

HERE = Path(__file__).parent
BROWSED = sorted(HERE.glob("extra/browse/*.html"))
# What the search leaves out: code by its language, and printed functions.
PYTHON = ("ipython3", "python")
PRINTED = re.compile(
    r'^(<pre>)?(def \w+\(|import \w|from [\w.]+ import)|<div class="highlight">', re.MULTILINE
)
# What is no text in the HTML that Sphinx writes; reading it with a parser takes seconds.
CODE = re.compile(r'<div class="[^"]*\bno-search\b[^"]*">.*?</pre>', re.DOTALL)
TAGS = re.compile(r"<(script|style)\b.*?</\1>|<!--.*?-->|</?[a-z][^>]*>", re.DOTALL)
LONGEST = 40_000  # characters of a page from which the search cuts what it shows around a hit

project = html_title = "tomlab"
root_doc = "index"
extensions = ["myst_nb"]
exclude_patterns = ["extra", "parts", "part.md", "contents.md"]
templates_path = ["templates"]
# Pygments colours no CSV and no Mermaid.
suppress_warnings = ["misc.highlighting_failure"]

# Notebooks come executed; their code is folded.
nb_execution_mode = "off"
# Tables among what cells display, as in chapters.
nb_render_markdown_format = "myst"
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
# Dollar signs are what they are; formulas would be set by a script from elsewhere.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
# Links are written as addresses, and checked in a browser by `checks/book.py`.
myst_all_links_external = True

html_theme = "sphinx_book_theme"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_extra_path = ["extra"]
html_use_index = False
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_context = {
    "default_mode": "auto",
    "browse": [
        (f"browse/{page.name}", re.search("<title>(.+?):", page.read_text(encoding="utf-8"))[1])
        for page in BROWSED
    ],
}
html_theme_options = {
    "show_toc_level": 2,
    "navbar_persistent": [],
    "use_download_button": False,
    "use_fullscreen_button": False,
    "footer_content_items": ["versions.html"],
    "search_bar_text": "Search the book",
}


def setup(app):
    """The search shows excerpts. Sphinx fetches pages for them, which a browser refuses for files,
    so the texts of all pages are a script, which only the search loads.
    """
    app.connect("doctree-resolved", _leave_out_code)
    app.connect("html-page-context", _load_texts)
    app.connect("build-finished", _write_texts)


def _leave_out_code(app, document, page):
    """Python code gets the class by which Sphinx leaves a text out of the search."""
    for block in [*document.findall(literal_block), *document.findall(raw)]:
        if block.get("language") in PYTHON or PRINTED.search(block.astext()):
            block["classes"].append("no-search")


def _load_texts(app, page, *_):
    if page == "search":
        app.add_js_file("texts.js", priority=100)


def _write_texts(app, exception):
    if exception is not None:
        return
    texts = {}
    for path in sorted(Path(app.outdir).rglob("*.html")):
        page = path.relative_to(app.outdir).as_posix()
        if not page.startswith(("_", "browse/", "search.html")):
            texts[page] = _text_of(path.read_text(encoding="utf-8"))[:LONGEST]
    script = (HERE / "static" / "texts.js").read_text(encoding="utf-8")
    content = json.dumps(texts).replace("<", "\\u003c")
    (Path(app.outdir) / "_static" / "texts.js").write_text(script + f"serve({content});\n", "utf-8")


def _text_of(html):
    """The text of a page's article, without code."""
    _, _, article = html.partition("<article")
    article = f"<article{article.partition('</article>')[0]}"
    return " ".join(unescape(TAGS.sub(" ", CODE.sub(" ", article))).split())
