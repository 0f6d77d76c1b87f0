import pytest

from pathforest.reproduction import store

KEY = store.Key("boat", 3, "opf", "paper", 0, "data", "code")
OUTCOME = {"result": {"accuracy": 0.1 + 0.2}, "landscape": [[1, 0.2, 0.5]]}


def only_file(folder):
    [path] = [path for path in folder.rglob("*") if path.is_file()]
    return path


def test_what_is_saved_comes_back(tmp_path):
    store.save(tmp_path, KEY, OUTCOME)
    assert store.load(tmp_path, KEY) == OUTCOME


def test_nothing_saved_is_none(tmp_path):
    assert store.load(tmp_path, KEY) is None


@pytest.mark.parametrize(
    "field", [field for field in KEY._fields if field not in ("dataset", "run", "classifier")]
)
def test_a_file_with_another_key_is_not_ours(tmp_path, field):
    store.save(tmp_path, KEY, OUTCOME)
    assert store.load(tmp_path, KEY._replace(**{field: 1 if field == "seed" else "other"})) is None


def test_every_torn_file_is_detected(tmp_path):
    store.save(tmp_path, KEY, OUTCOME)
    path = only_file(tmp_path)
    whole = path.read_bytes()
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        assert store.load(tmp_path, KEY) is None


def test_an_altered_number_is_detected(tmp_path):
    store.save(tmp_path, KEY, OUTCOME)
    path = only_file(tmp_path)
    path.write_text(path.read_text().replace("0.30000000000000004", "0.31"))
    assert store.load(tmp_path, KEY) is None


@pytest.mark.parametrize("text", ["", "[]", "null", "3", '{"key": 1}', "\x00\xff"])
def test_a_foreign_file_is_detected(tmp_path, text):
    store.save(tmp_path, KEY, OUTCOME)
    only_file(tmp_path).write_text(text)
    assert store.load(tmp_path, KEY) is None


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    store.save(tmp_path, KEY, OUTCOME)

    def refuse(source, target):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        store.save(tmp_path, KEY, {"result": {}, "landscape": []})
    monkeypatch.undo()
    only_file(tmp_path)
    assert store.load(tmp_path, KEY) == OUTCOME
