"""What a release is made of agrees with pyproject.toml."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / ".ci" / "conda" / "recipe.yaml"

pytestmark = pytest.mark.skipif(not RECIPE.exists(), reason="needs the repository")


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_recipe_for_conda_has_the_version_and_the_requirements():
    given, recipe = project(), RECIPE.read_text()
    extra = given["project"]["optional-dependencies"]["cli"]
    needed = {*given["project"]["dependencies"], *extra, *given["build-system"]["requires"]}
    needed = {text.replace("nanobind~=3.1", "nanobind>=3.1,<4") for text in needed}
    listed = {"".join(line.split()) for line in re.findall(r"- ([a-z0-9-]+ [>=<].*)", recipe)}
    assert needed <= listed
    assert f"version: {given['project']['version']}\n" in recipe


def test_the_changelog_has_the_version():
    version = project()["project"]["version"]
    assert re.search(rf"^## {re.escape(version)} \(", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
