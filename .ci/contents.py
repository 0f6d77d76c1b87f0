"""Check what is in a wheel and a source distribution: every tracked file, the licence, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

MOST_MB = 5  # a wheel has some 1 MB, a source distribution 2; more is a file that does not belong there
LEFT_OUT = (".ci/", ".github/", ".clang-format", ".gitignore", ".pre-commit-config.yaml")  # sdist.exclude


def tracked() -> set[str]:
    """Return the files that git knows."""
    done = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True)
    return set(filter(None, done.stdout.split("\0")))


def check_wheel(path: Path) -> None:
    """Compare a wheel with the package."""
    with zipfile.ZipFile(path) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    others = {name for name in names if name.split("/")[0] != "pathforest"}
    core = {name for name in names if name.startswith("pathforest/_core.") and name.endswith((".so", ".pyd"))}
    package = {name.removeprefix("src/") for name in tracked() if name.startswith("src/pathforest/")}
    compare(path, names - others - core, package)
    assert len(core) == 1, f"{path}: one compiled core is expected, not {core}"
    # What auditwheel and its like add: the libraries that the core needs.
    stray = {name for name in others if not name.split("/")[0].endswith((".dist-info", ".libs", ".dylibs"))}
    assert not stray, f"{path}: stray files {stray}"
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in others), f"{path}: no licence"


def check_source(path: Path) -> None:
    """Compare a source distribution with the repository."""
    with tarfile.open(path) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    compare(path, names - {"PKG-INFO"}, {name for name in tracked() if not name.startswith(LEFT_OUT)})


def compare(path: Path, found: set[str], wanted: set[str]) -> None:
    """Say which files are missing or stray."""
    assert found == wanted, f"{path}: missing {sorted(wanted - found)}, stray {sorted(found - wanted)}"


for path in map(Path, sys.argv[1:]):
    size = path.stat().st_size / 1e6
    assert size < MOST_MB, f"{path} has {size:.1f} MB; at most {MOST_MB} are expected"
    (check_wheel if path.suffix == ".whl" else check_source)(path)
    print(f"{path.name}: {size:.2f} MB, nothing missing, nothing stray")
