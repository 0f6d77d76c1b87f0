"""The pages of the site and its stories tell the truth: examples run, what they name exists.

Blocks run in the order of the page, all of a page in one empty folder, its Python in one namespace:

- ``pycon`` blocks, of every page, are doctests; ``python`` blocks of the README run.
- ``sh`` blocks of the pages in SHELL: each line that starts with ``pathforest`` ends with exit code 0.
- ``console`` blocks of these pages: each line ``$ pathforest ...`` prints what follows it, on either stream,
  and ends with exit code 0, unless the next line is ``$ echo $?``, which prints another.

Of the shell there are ``|`` between commands of ours, ``<``, ``>`` and a backslash at the end of a line.
"""

import doctest
import importlib.util
import re
from pathlib import Path

import pytest
from commands import FLAGS, run_python, run_shell

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
COMMAND = "pathforest "
# The others name data that tests lack.
SHELL = (
    "start.md",
    "using/command_line.md",
    "using/label.md",
    "using/label_noise.md",
    "using/mixed_tables.md",
    "using/review_labels.md",
)
# With tests of their own, and generated ones.
ELSEWHERE = ("docs/coming_from_libopf", "docs/coming_from_opfython", "docs/gallery/", "docs/api/")
# Their searches and thorough audits take long.
LONG = (
    "using/review_labels.md",
    "using/command_line.md",
    "using/find_wrong_labels.md",
    "using/label_noise.md",
    "using/tuning.md",
    "using/model_files.md",
    "coming_from_cleanlab.md",
    "docs/index.md",
)
BLOCK = re.compile(r"^```(pycon|python|sh|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def examples(page):
    """The blocks of a page that can be run: kind, content and line."""
    text = page.read_text(encoding="utf-8")
    blocks = [(found[1], found[2], text.count("\n", 0, found.start(2))) for found in BLOCK.finditer(text)]
    return [
        block
        for block in blocks
        if block[0] == "pycon"
        or (block[0] == "python" and page == README)
        or (block[0] in ("sh", "console") and name_of(page).endswith(SHELL) and COMMAND in block[1])
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pathforest.TrainingErrorWarning")
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=name_of(page), marks=pytest.mark.ci if name_of(page).endswith(LONG) else ())
        for page in PAGES
        if not name_of(page).startswith(ELSEWHERE) and examples(page)
    ],
)
def test_examples_of_a_page_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for kind, content, line in examples(page):
        if kind == "pycon":
            run_python(content, names, page, line)
        elif kind == "python":
            exec(content, names)
        elif kind == "sh":
            for command in re.findall(rf"^{COMMAND}.*$", joined(content), re.MULTILINE):
                code, out = run_shell(command)
                assert code == 0, f"{command}: {out}"
        else:
            run_session(joined(content))


def run_session(content):
    code = 0
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", content, re.MULTILINE):
        if command == "echo $?":
            assert int(expected) == code
            code = 0
            continue
        assert code == 0, f"the command before {command} ended with {code}"
        code, out = run_shell(command)
        is_same = doctest.OutputChecker().check_output(expected, out, FLAGS)
        assert is_same, f"{command}\nexpected:\n{expected}\nfound:\n{out}"
    assert code == 0, f"the last command ended with {code}"


def joined(text):
    return text.replace("\\\n", " ")


def test_the_picture_of_the_readme_has_the_scores_of_its_models():
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "docs" / "pictures.py")
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    text = README.read_text(encoding="utf-8")
    assert [f"{score:.1%}" for score in pictures.tell().scores] == re.findall(r"([\d.]+%) right\.", text)
    assert len(text.splitlines()) <= 80  # it fits two screens


NAMED = re.compile(
    r"`([\w./-]+\.(?:py|hpp|cpp|pyi)|(?:src|cpp|tests|benchmarks|docs|examples)/[\w./-]*/)`|!\[.*?\]\((.*?)\)",
    re.DOTALL,
)
MADE = ("docs/api/generated/", "docs/gallery/")  # by the build of the site


def missing(text):
    """Return what is named but is not the end of any path."""
    folders = ("src", "cpp", "tests", "benchmarks", "docs", "examples")
    paths = [f"/{name_of(path)}" for folder in folders for path in (ROOT / folder).rglob("*")]
    named = {name or picture.replace("../", "") for name, picture in NAMED.findall(text)} - {""}
    return {
        name
        for name in named
        if not name.startswith(MADE) and not any(path.endswith(f"/{name.rstrip('/')}") for path in paths)
    }


def test_pages_name_files_that_exist():
    expected = {"_gone.py", "src/gone/", "no.png"}
    assert missing("`forest.py`, `cpp/src/forest/`, `_gone.py`, `src/gone/`, ![x](../no.png)") == expected
    assert missing("\n".join(page.read_text(encoding="utf-8") for page in PAGES)) == set()
