"""Files replaced in one step."""

from pathforest._utils.files import replace_file


def test_a_name_may_be_as_long_as_names_can_be(tmp_path):
    path = tmp_path / ("x" * 255)
    replace_file(path, b"old")
    replace_file(path, b"new")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [(path.name, b"new")]
