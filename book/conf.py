"""Sphinx's settings for the book; `tomlab.pipeline.publish` builds it."""

project = html_title = "tomlab"
root_doc = "index"
extensions = ["myst_nb"]
exclude_patterns = ["extra", "parts", "part.md", "contents.md"]
templates_path = ["templates"]
# Pygments colours no CSV.
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
# Summaries of what was found would be fetched, which a browser refuses for files.
html_show_search_summary = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "show_toc_level": 2,
    "navbar_persistent": [],
    "use_download_button": False,
    "use_fullscreen_button": False,
    "footer_content_items": [],
    "search_bar_text": "Search the book",
}
