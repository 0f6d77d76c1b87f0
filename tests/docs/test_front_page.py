"""The README and the front page of the site show what the models answer."""

import base64
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


@pytest.fixture(scope="module")
def pictures():
    pytest.importorskip("matplotlib")
    pytest.importorskip("PIL")
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "docs" / "pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def story(pictures):
    return pictures.tell()


def test_the_animation_is_what_its_script_draws(pictures, story):
    committed = (pictures.IMAGES / "story.html").read_text(encoding="utf-8")
    assert without_images(committed) == without_images(pictures.animation(story))


def without_images(text):
    """Leave out the pixels, which depend on the version of the library that compresses them."""
    return re.sub(r"base64,[^\"]*", "", text)


def test_regions_of_the_animation_are_those_of_the_models(pictures, story):
    import io

    import numpy as np
    from PIL import Image

    committed = (pictures.IMAGES / "story.html").read_text(encoding="utf-8")
    found = [
        Image.open(io.BytesIO(base64.b64decode(data))) for data in re.findall(r"base64,([^\"]*)", committed)
    ]
    for image, model in zip(found, (story.plain, story.search), strict=True):
        expected = 255 * pictures.regions(model, *pictures.corners(story.X))
        differs = np.abs(np.asarray(image.convert("RGBA")) - expected).max(axis=2) > 8  # colours of a palette
        assert differs.mean() < 0.01  # borders may move with the library that decomposes matrices


def test_the_readme_has_the_scores_of_its_picture(story):
    text = README.read_text(encoding="utf-8")
    assert f"{story.scores['plain']:.1%} right" in text
    assert f"{story.scores['search']:.1%} right" in text


def test_the_picture_of_the_readme_has_a_light_and_a_dark_version():
    text = README.read_text(encoding="utf-8")
    named = re.findall(r"(?:srcset|src)=\"(.*?)\"", text)
    assert len(named) == 2
    assert all((ROOT / name).is_file() for name in named)
    assert 'media="(prefers-color-scheme: dark)" srcset="docs/images/wrong_labels_dark.png"' in text


def test_the_readme_fits_a_screen_or_two():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 60
