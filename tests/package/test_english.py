"""Phrases that a native speaker would not use, with what to write instead.

Text that the library prints is checked where it is written, not again in the output shown on a page.
"""

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"]
FOLDERS = ["docs", "examples", "benchmarks", "src", "tests", "cpp"]
ENDINGS = {".md", ".rst", ".py", ".pyi", ".cpp", ".hpp"}
SKIPPED = ("docs/results", "docs/api/generated", "docs/gallery")  # made of reports, docstrings and examples
COMPARATIVES = (
    "longer|more|less|fewer|better|worse|different|further|farther|nearer|larger|smaller|higher|lower|greater|"
    "faster|slower|cheaper|sparser|denser|shorter|later|earlier|simpler|wider|older|newer"
)
BETWEEN = r"[\s#/*]+"  # words: lines, with marks of comments
PHRASES = [  # pattern, whatever its case, and what to write instead
    (rf"\b(?<!there\s)(is|are|was|were|being) no (?!({COMPARATIVES})\b)", "is not a, does not have"),
    (r"\bgraphics cards?\b|\b(a|the|one|this|that|second|no|on) cards?\b", "GPU"),
    (r"\b(is|are|was|were|be|been|being) told\b(?! to\b)|\btold otherwise\b", "say, report; by default"),
    (r"\btold (apart|from)\b", "differ, distinguished"),
    (r"\btells (how|what|which|where|why|when|whether|of|its)\b", "says, reports, explains"),
    (r"\b(some|no|every)body\b", "a sample, no sample, all samples; a person"),
    (r"(?<!-)\balike\b", "the same, both"),
    (r"\bodd ones out\b", "outliers"),
    (r"\bdealt out\b", "distributed"),
    (r"\bunheard\b", "discarded"),
    (r"\blevel(s|led|ling)? (the )?classes\b|\bclasses (are|is) level\b", "balance, balanced"),
    (r"\bwhere there (is|are) (none\b|any\b|one[.,;:])", "if it does not exist, if it has none"),
    (r"\bwhat (a|an|the|this|that|its|each) \w+ holds\b", "the contents of"),
    (r"\bof which (some|one|none|half|a \w+) (is|are)\b", "some of them are"),
    (r"\b(set|sets) out to (reach|get|be)\b", "aimed for"),
    (r"\bin the midst of\b", "in, among"),
    (r"\bfrom afar\b", "from the network"),
    (r"\b(goes|go|went) on where it\b", "resumes"),
    (r"\bsearch of k\b", "search for k"),
    (
        r"\b(until|up to|after|has|one in|batches of|an archive of|suits) so many\b",
        "this many, or the number",
    ),
    (r"\bin (the )?place of\b", "instead of"),
    (r"\bgets? \w+ \w+ for nothing\b", "without more code, at no cost"),
    (r"\bspeaks? for no\b", "the subject first, and what it does not do"),
    (r"\btak(es|en|e|ing) the place of\b", "replaces"),
    (r"\btells? nothing about\b", "is uninformative for"),
    (r"\b(is|are) found if (it is|they are) plain\b", "is detected if unambiguous"),
    (r"\bhas no value; ", "is empty; "),
    (r"\bof each of some\b", "of each queried ..."),
    (r"\bwithout a change of\b", "without changing"),
    (r"\bin its stride\b", "can handle"),
    (r"(?-i:\b(Weaker|Better|Worse|Gone|Printed|Wanted|Missing|Out) (is|are)\b)", "the subject first"),
]


def files():
    for root in PAGES + FOLDERS:
        path = REPOSITORY / root
        for found in [path] if path.is_file() else sorted(path.rglob("*")):
            name = found.relative_to(REPOSITORY).as_posix()
            if found.suffix in ENDINGS and found != Path(__file__) and not name.startswith(SKIPPED):
                yield found


def without_output(text):
    """Blank the lines that a command or an example prints, in blocks of a page that show a session."""

    def blanked(block):
        return re.sub(r"^(?!>>>|\.\.\.|\$|```).*$", "", block[0], flags=re.MULTILINE)

    return re.sub(r"^```(?:pycon|console)\n.*?^```$", blanked, text, flags=re.DOTALL | re.MULTILINE)


def findings(text):
    """Yield line, phrase and what to write instead, also for phrases that span lines."""
    for pattern, instead in PHRASES:
        for found in re.finditer(pattern.replace(" ", BETWEEN), text, re.IGNORECASE):
            yield text.count("\n", 0, found.start()) + 1, found[0], instead


def test_english_is_that_of_native_speakers():
    found = [
        f"{path.relative_to(REPOSITORY)}:{line}: {phrase!r}; write: {instead}"
        for path in files()
        for line, phrase, instead in findings(without_output(path.read_text(encoding="utf-8")))
    ]
    assert not found, "\n".join(found)
