"""Break one promise at a time and see that the tests named beside it go red: `make mutants`.

Rooms of tests and files choose rows: `make mutants ARGS="search cpp/"`. It is an error if the tests of a row
stay green, are red without the change or do not exist, or if its text has moved. Rows of the C++ core compile
it anew. Files are put back afterwards; one with changes that are not committed is refused.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]

# `file | tests` opens rows. "- " is a text that occurs once there, "+ " what it becomes (none: it goes).
# Tests are arguments of pytest, or "cpp" for the C++ tests; of several, with commas, each must go red.
# Rows are sorted by room of tests.
ROWS = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")


def read_rows() -> list[tuple[str, list[str], str, str]]:
    """Return file, tests, old and new text of the rows; every line must belong to one."""
    row = re.compile(r"(?m)^(?:(\S+) \| (.+)\n)?((?:- .*\n)+)((?:\+ .*\n)*)")
    if lost := row.sub("", ROWS).strip():
        sys.exit(f"these lines belong to no row:\n{lost}")
    found, file, tests = [], "", ""
    for new_file, new_tests, *texts in row.findall(ROWS):
        file, tests = new_file or file, new_tests or tests
        texts = (re.sub("(?m)^..", "", text).removesuffix("\n") for text in texts)
        found.append((file, tests.split(", "), *texts))
    return found


def run(*command: str) -> int:
    """Return the exit code of a command, without its output."""
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


def build() -> bool:
    """Compile the core and put it where Python finds it; say whether that worked."""
    from pathforest import _core  # where it lies, asked of the installed package

    newest = max(ROOT.glob("build/cp3*/build.ninja"), key=lambda file: file.stat().st_mtime, default=None)
    cmake = shutil.which("cmake", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if newest is None or run(cmake, "--build", str(newest.parent), "--target", "_core", "pathforest_tests"):
        return False
    shutil.copyfile(next(newest.parent.glob("_core*")), f"{_core.__file__}.new")
    os.replace(f"{_core.__file__}.new", _core.__file__)
    return True


def color(tests: str) -> str:
    """Return "green" or "red", or what kept the tests from running."""
    if tests == "cpp":
        code = run("sh", "-c", "exec build/cp3*/pathforest_tests")
    else:
        code = run(sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", *shlex.split(tests))
    # Below 0 is a crash; above 1 pytest found no test or could not read one, and the shell found no binary.
    return "green" if code == 0 else "red" if code <= 1 else f"not run (exit code {code})"


color_before = cache(color)


def judge(name: str, tests: list[str], old: str, new: str) -> str:
    """Make a change, run its tests, take it back; return "" if they went red, else what is wrong."""
    file = ROOT / name
    text = file.read_text() if file.exists() else ""
    if text.count(old) != 1:
        return f"the text occurs {text.count(old)} times"
    if run("git", "diff", "--quiet", "HEAD", "--", name):
        return "the file has changes that are not committed"
    if before := [f"{one} is {found} before" for one in tests if (found := color_before(one)) != "green"]:
        return ", ".join(before)
    rebuild = build if name.startswith("cpp/") else lambda: True
    try:
        file.write_text(text.replace(old, new))
        if not rebuild():
            return "it does not compile here"
        return ", ".join(f"{one} is {now}" for one in tests if (now := color(one)) != "red")
    finally:
        file.write_text(text)
        rebuild()


def main(words: list[str]) -> int:
    """Judge the rows of the rooms and files given, all without any; say how many are left out."""
    counts = Counter()
    for row in read_rows():
        file, tests, old, new = row
        room = re.split(r"[/ ]", tests[0].removeprefix("tests/"))[0]
        if words and not any(word == room or word in file for word in words):
            counts["not tried"] += 1
            continue
        problem = judge(*row)
        counts["WRONG" if problem else "red"] += 1
        print(f"{'WRONG' if problem else 'red':6}{file}: {old!r} -> {new!r}  {problem}", flush=True)
    print(", ".join(f"{n} {what}" for what, n in counts.items()))
    return int(counts["WRONG"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
