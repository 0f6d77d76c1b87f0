import pytest

from pathforest.reproduction import provenance, store

KEY = {"dataset": "boat", "run": 3, "classifier": "opf", "seed": 0, "data": "1", "code": "2"}
OUTCOME = {"result": {"accuracy": 0.1 + 0.2}, "landscape": [[1, 0.2, 0.5]]}


@pytest.fixture
def path(tmp_path):
    """A file with an outcome."""
    path = tmp_path / "runs" / "opf.json"
    store.save(path, KEY, OUTCOME)
    return path


def test_what_is_saved_comes_back(path):
    assert store.load(path, KEY) == OUTCOME


def test_nothing_saved_is_none(tmp_path):
    assert store.load(tmp_path / "none.json", KEY) is None


@pytest.mark.parametrize("field", KEY)
def test_a_file_with_another_key_is_not_ours(path, field):
    assert store.load(path, KEY | {field: "other"}) is None


def test_every_torn_file_is_detected(path):
    whole = path.read_bytes()
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        assert store.load(path, KEY) is None


def test_an_altered_number_is_detected(path):
    path.write_text(path.read_text().replace("0.30000000000000004", "0.31"))
    assert store.load(path, KEY) is None


@pytest.mark.parametrize("text", ["", "[]", "null", "3", '{"key": 1}', "\x00\xff"])
def test_a_foreign_file_is_detected(path, text):
    path.write_text(text)
    assert store.load(path, KEY) is None


def test_a_failed_write_leaves_the_old_file_and_nothing_else(path, monkeypatch):
    def refuse(source, target):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        store.save(path, KEY, {"result": {}, "landscape": []})
    monkeypatch.undo()
    assert list(path.parent.iterdir()) == [path]
    assert store.load(path, KEY) == OUTCOME


def test_a_checksum_follows_what_measures_and_the_versions(tmp_path, monkeypatch):
    measuring = ["forest.py", "_models/base.py", "reproduction/splits.py", "study.txt"]
    showing = ["reproduction/page.py", "reproduction/figures/ties.py", "cli/output.py", "forest.pyc"]
    for name in measuring + showing:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")

    def checksum():
        return provenance.code_checksum(tmp_path / "study.txt", package=tmp_path)

    marks = {checksum()}
    for name in showing:
        (tmp_path / name).write_text("2")
        assert checksum() in marks
    for name in measuring:
        (tmp_path / name).write_text("2")
        marks.add(checksum())
    monkeypatch.setattr(provenance, "version", lambda name: "0")
    marks.add(checksum())
    assert len(marks) == 2 + len(measuring)


def test_every_measuring_file_exists():
    here = provenance.PACKAGE / "reproduction"
    assert all((here / name).is_file() for name in provenance.MEASURING)
