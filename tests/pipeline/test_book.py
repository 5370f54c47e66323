"""The book: chapters as they are shown, the same bytes in two builds, and its pages in a browser."""

import re
import shutil
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from small_run import COPIES, PNG, display, image, notebook, publish, write
from tomlab.errors import InputError
from tomlab.paths import ROOT
from tomlab.pipeline.book import build, chapter

_SPEC = spec_from_file_location("book_check", ROOT / "checks" / "book.py")
script = module_from_spec(_SPEC)
_SPEC.loader.exec_module(script)
CHAPTERS = [name for names in COPIES.values() for name in names]
CARD = "cards/smol.ipynb"  # the run's other model is a baseline
FRONT = ("00_index.ipynb", "01_drawn.ipynb", CARD)
in_a_browser = pytest.mark.skipif(script.CHROMIUM is None, reason="no Chromium is installed")

# Chapters


def test_set_up_and_parameters_are_left_out_and_code_is_folded():
    source = notebook("# BigToM 3/5: what does one model answer?", display("text/plain", "1"))
    given = v4.new_code_cell("models = []", metadata={"tags": ["parameters"]})
    injected = v4.new_code_cell("models = [1]", metadata={"tags": ["injected-parameters"]})
    set_up = v4.new_code_cell("import pandas as pd\n\nitems = read()")
    shown = v4.new_code_cell("from a import b\nb()", outputs=[display("text/plain", "2")])
    source.cells += [given, injected, set_up, shown]
    cells = chapter(source, "smol").cells
    assert [cell.source for cell in cells] == [
        "# BigToM 3/5: what does one model answer? (smol)",
        "show()",
        "from a import b\nb()",
    ]
    assert [cell.metadata["tags"] for cell in cells[1:]] == [["hide-input"], ["hide-input"]]


@pytest.mark.parametrize(
    ("image", "text"),
    [(image(alt="Two dots."), "Two dots."), (image(), "Who knows?")],
    ids=["its own text", "the heading"],
)
def test_an_image_is_told_by_its_own_text_or_the_heading(image, text):
    cell = chapter(notebook("## Who knows?", image)).cells[1]
    assert cell.metadata["mystnb"] == {"image": {"alt": text}}


def test_each_of_several_images_of_a_cell_has_its_own_text_and_anchor():
    outputs = []
    for name in ("bigtom/dots", "bigtom/bars", "fantom/bars"):
        link = f'<a href="../../figures/{name}.png">PNG</a>'
        outputs += [image(alt=f"Some {name}."), display("text/html", link)]
    cells = chapter(notebook("## Who knows?", *outputs)).cells
    anchors = [cell.source for cell in cells if cell.id.startswith("at-")]
    assert anchors == [f'<span id="{name}" class="anchor"></span>' for name in ("dots", "bars")]
    pictures = [cell for cell in cells if "mystnb" in cell.metadata]
    texts = [cell.metadata["mystnb"]["image"]["alt"] for cell in pictures]
    assert texts == ["Some bigtom/dots.", "Some bigtom/bars.", "Some fantom/bars."]
    tags = [cell.metadata["tags"] for cell in pictures]
    assert tags == [["hide-input"], ["remove-input"], ["remove-input"]]


# Pages


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write(tmp_path_factory.mktemp("one"))
    process = publish(root, PYTHONHASHSEED="1")
    assert process.returncode == 0, process.stderr
    return root / "results" / "book"


def files(folder: Path) -> dict[str, bytes]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_what_the_run_names_is_published_with_links_that_lead_somewhere(book):
    docs, pages = book.parents[1] / "docs", book
    assert {path.relative_to(docs).as_posix() for path in docs.rglob("*") if path.is_file()} == {
        "data.md",
        *(f"notebooks/{name}" for name in (*FRONT, *CHAPTERS)),
        "figures/bigtom/figure3.png",
        "tables/bigtom/table7.csv",
    }
    names = ("01_drawn", "index", "bigtom", "data", "gallery", "search", "browse/bigtom")
    names = {*names, *(name.removesuffix(".ipynb") for name in (*CHAPTERS, CARD))}
    found = {path.relative_to(pages).as_posix() for path in pages.rglob("*.html")}
    assert {name for name in found if name[0] != "_"} == {f"{name}.html" for name in names}

    index = nbformat.read(docs / "notebooks/00_index.ipynb", as_version=4)
    assert index.cells[-1].outputs[0].text == "['bigtom'] ['smol', 'random', 'omniscient'] docs\n"
    for name in (*FRONT, *CHAPTERS):
        path = docs / "notebooks" / name
        links = re.findall(r"\]\((.*?)\)", nbformat.read(path, as_version=4).cells[0].source)
        assert links
        for link in links:
            assert (path.parent / link).is_file(), link


def test_two_builds_are_the_same_to_the_byte(book, tmp_path):
    process = publish(write(tmp_path), PYTHONHASHSEED="2")
    assert process.returncode == 0, process.stderr
    assert files(tmp_path / "results/book") == files(book)


def test_a_copy_of_the_book_holds_all_that_its_pages_link_to(book, tmp_path):
    copy = shutil.copytree(book, tmp_path / "elsewhere")
    pages = [path for path in sorted(copy.rglob("*.html")) if "_static" not in path.parts]
    assert len(pages) > 10
    assert {path.name: faults for path in pages if (faults := script.link_faults(path, copy))} == {}
    assert (copy / "files" / "params.yaml").is_file()
    text = (copy / "3_evaluation/bigtom-smol.html").read_text(encoding="utf-8")
    assert '<a href="../files/results/judges/bigtom/by_kind.png">PNG</a>' in text


def test_each_page_loads_the_versions_at_its_foot(book):
    script = (book / "_static/versions.js").read_text(encoding="utf-8")
    assert "without a git commit" in script
    for name, path in (("bigtom", ""), ("3_evaluation/bigtom-smol", "../")):
        page = (book / f"{name}.html").read_text(encoding="utf-8")
        _, _, foot = page.partition('<p class="versions"></p>')
        assert f'<script src="{path}_static/versions.js' in foot


def test_in_git_no_table_or_picture_has_a_copy_in_plain_text(book):
    path = book.parents[1] / "docs/notebooks/3_evaluation/bigtom-smol.ipynb"
    outputs = nbformat.read(path, as_version=4).cells[1].outputs
    assert [[*output.data] for output in outputs] == [["image/png"], *[["text/html"]] * 3]


def test_a_chapter_shows_figure_table_and_folded_code(book):
    text = (book / "3_evaluation/bigtom-smol.html").read_text(encoding="utf-8")
    assert 'alt="Accuracy of two models."' in text
    assert '<td class="run">this run</td>' in text
    assert "hide above-input" in text
    assert "BigToM 1/5: who knows? (smol)" in text
    assert '<a href="../figures/bigtom/figure3.png">PNG</a>' in text
    part = (book / "bigtom.html").read_text(encoding="utf-8")
    assert part.index("bigtom-smol.html") < part.index("bigtom-random.html")
    assert "Half is found." in part and 'src="figures/bigtom/figure3.png"' in part
    for page in ("index", "bigtom"):
        assert 'href="browse/bigtom.html"' in (book / f"{page}.html").read_text(encoding="utf-8")
    gallery = (book / "gallery.html").read_text(encoding="utf-8")
    assert '<a href="5_figures/bigtom.html#figure3">' in gallery


def test_each_model_but_baselines_has_a_report_card(book):
    card = nbformat.read(book.parents[1] / "docs/notebooks" / CARD, as_version=4)
    assert card.cells[-1].outputs[0].text == "smol\n"
    text = (book / "cards/smol.html").read_text(encoding="utf-8")
    assert "Report card (smol)" in text
    for page in ("index.html", "data.html"):  # the contents list it
        assert 'href="cards/smol.html"' in (book / page).read_text(encoding="utf-8")


def test_page_that_sphinx_warns_of_is_told(book, tmp_path, capfd):
    source = shutil.copytree(book.parent / "index/sphinx/source", tmp_path / "source")
    (source / "data.md").write_text("# Data\n\n```{nothing}\n```\n")
    with pytest.raises(InputError, match="Sphinx found"):
        build(source, tmp_path / "book")
    assert "data.md:3" in capfd.readouterr().err
    assert not (tmp_path / "book").exists()


def test_the_search_leaves_code_out(book):
    page = (book / "3_evaluation/bigtom-smol.html").read_text(encoding="utf-8")
    assert '<span class="n">show</span>' in page
    texts = (book / "_static/texts.js").read_text(encoding="utf-8")
    assert "who knows?" in texts
    assert "show()" not in texts
    assert '"show"' not in (book / "searchindex.js").read_text(encoding="utf-8")


@in_a_browser
def test_every_page_is_sound_and_the_search_finds(book):
    pages = [book / name for name in ("index.html", "3_evaluation/bigtom-smol.html")]
    pages += [book / name for name in ("bigtom.html", "gallery.html")]
    found, hits = script.check(book, pages)
    assert found == {}
    assert hits == 6  # all chapters have the table


@in_a_browser
def test_faults_of_a_page_are_found(book, tmp_path):
    shutil.copytree(book, tmp_path / "book")
    page = tmp_path / "book" / "bigtom.html"
    (page.parent / "dot.png").write_bytes(PNG)
    spoiled = (
        '<div style="width:2000px">wide</div><img src="dot.png"><img src="none.png" alt="none">'
        '<a href="gone.html">gone</a><a href="data.html#gone">place</a>'
        '<p style="color:#eee;background:#fff">pale</p><script>undefined_name</script>'
        '<script src="https://example.org/a.js"></script>'
    )
    page.write_text(page.read_text(encoding="utf-8").replace("</article>", f"{spoiled}</article>"))
    found, _ = script.check(page.parent, [page])
    faults = "\n".join(f"{kind}: {fault}" for _, kind, fault in found)
    expected = {
        *("script: .*undefined_name", "missing: .*none.png", "elsewhere: .*example.org"),
        *("sideways: .*in 390", "image: .*dot.png: no text", "axe: .*color-contrast"),
        *("link: .*gone.html: no such file", "link: .*data.html#gone: no such place"),
    }
    assert [fault for fault in expected if not re.search(fault, faults)] == []
