"""Published sets: from the folder, from the cache or over the network, and nothing is left by a failure."""

import gzip
import io
import sys
import tempfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from checks import same
from data_files import FOLDER, published

from pathforest.datasets import fetch, load, read, write
from pathforest.datasets.published import DATASETS, Origin, content_sha256

pytest.importorskip("pooch")

X = np.array([[0.1, 2], [3, -4.5], [5, 6], [0.25, 8]])
Y = np.array([1, 2, 2, 1])
NAMES = list(DATASETS)


class Server(ThreadingHTTPServer):
    """Files at addresses of this machine; a file may promise more bytes than it sends."""

    def __init__(self):
        self.files, self.missing_bytes, self.requests = {}, 0, []
        super().__init__(("127.0.0.1", 0), Handler)

    def add(self, name, content):
        self.files[f"/{name}"] = content
        return f"http://127.0.0.1:{self.server_port}/{name}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests.append(self.path)
        content = self.server.files.get(self.path)
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write((content or b"")[: len(content or b"") - self.server.missing_bytes])

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A machine without data: an empty folder to work in, and a cache that is not there yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PATHFOREST_DATA", raising=False)
    monkeypatch.setenv("PATHFOREST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "cache"


def written(ending, X, y):
    """Bytes of a file, and the table that is read from it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{ending}"
        write(path, X, y)
        return path.read_bytes(), read(path)


def sha256(X, y):
    """Checksum of a table as it comes out of a CSV file."""
    return content_sha256(*written(".csv", X, y)[1][:2])


def zipped(**files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"folder/{name}", content)
    return out.getvalue()


def lines(rows, between=" "):
    return "".join(between.join(map(str, row)) + " \n" for row in rows).encode()


def workbook(X, y):
    xlwt = pytest.importorskip("xlwt")
    book = xlwt.Workbook()
    book.add_sheet("Description").write(0, 0, "Impedance")
    sheet = book.add_sheet("Data")
    names = ["Case #", "Class", *(f"x{j}" for j in range(X.shape[1]))]
    codes = dict(enumerate(["car", "fad", "mas", "gla", "con", "adi"], 1))
    rows = [
        [i, codes[label], *row] for i, (label, row) in enumerate(zip(y.tolist(), X.tolist(), strict=True), 1)
    ]
    for i, row in enumerate([names, *rows]):
        for j, cell in enumerate(row):
            sheet.write(i, j, cell)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def original(form, X, y):
    """The set as its authors would have written it, in one or two files."""
    rows = [[*row, label] for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    if form == "libopf":
        return [written(".dat", X.astype(np.float32), y)[0]]
    if form == "libsvm":
        return [written(".svm", X, y)[0]]
    if form == "anomaly":
        return [lines([[*row, "no"[label]] for *row, label in rows], ",")]  # n is 0, o is 1
    if form == "breast_tissue":
        return [workbook(X, y)]
    return [lines(rows[:1]), lines(rows[1:])]


def serve(server, monkeypatch, name, X, y, *, sha=None):
    """Have the server offer a set in its original form, as its entry in the registry says."""
    entry = DATASETS[name]
    parts = original(entry.form, X, y)
    members = next((origin.members for origin in entry.origins if origin.members), ())
    if members:
        origin = Origin((server.add("all.zip", zipped(**dict(zip(members, parts, strict=True)))),), members)
    else:
        origin = Origin(tuple(server.add(f"part{i}", part) for i, part in enumerate(parts)))
    monkeypatch.setitem(DATASETS, name, entry._replace(origins=(origin,), sha256=sha or entry.sha256))


@pytest.mark.parametrize("name", NAMES)
def test_every_original_form_is_read_and_downloaded_once(server, cache, monkeypatch, name):
    y = Y - 1 if DATASETS[name].form == "anomaly" else Y
    serve(server, monkeypatch, name, X, y, sha=sha256(X, y))
    path = fetch(name)
    assert path == cache / f"{name}.csv.gz"
    np.testing.assert_array_equal(read(path).X, X)
    np.testing.assert_array_equal(read(path).y, y)
    assert [file.name for file in cache.iterdir()] == [path.name]
    requests = list(server.requests)
    assert (fetch(name), server.requests) == (path, requests)


@pytest.mark.parametrize("name", NAMES)
def test_published_sets_have_the_content_of_the_registry(name, monkeypatch):
    table, entry = read(published(name)), DATASETS[name]
    assert table.X.shape == entry.shape
    assert content_sha256(table.X, table.y) == entry.sha256
    monkeypatch.setenv("PATHFOREST_DATA", str(FOLDER))
    bunch = load(name)
    np.testing.assert_array_equal(bunch.data, table.X)
    assert len(bunch.feature_names) == bunch.data.shape[1]
    assert len(bunch.target_names) == len(set(bunch.target.tolist()))
    assert set(entry.classes) <= set(bunch.target.tolist())
    assert entry.title in bunch.DESCR


def test_a_named_folder_is_not_questioned_and_classes_and_features_have_names(tmp_path, monkeypatch):
    monkeypatch.setenv("PATHFOREST_DATA", str(tmp_path))
    for name in ("cone_torus", "data1", "breast_tissue"):
        write(tmp_path / f"{name}.csv.gz", np.eye(3)[[0, 1, 2, 0]], [3, 1, 1, 2])
    bunch, (values, y) = load("cone_torus"), load("cone_torus", return_X_y=True)
    np.testing.assert_array_equal(values, np.eye(3)[[0, 1, 2, 0]])
    np.testing.assert_array_equal(y, [3, 1, 1, 2])
    same([bunch.data, bunch.target], [values, y])
    assert bunch.filename == str(tmp_path / "cone_torus.csv.gz")
    assert bunch.target_names.tolist() == ["cone", "torus", "normal"]
    assert load("data1").target_names.tolist() == ["1", "2", "3"]
    assert load("data1").feature_names == ["x0", "x1", "x2"]
    assert load("breast_tissue").feature_names[:2] == ["I0", "PA500"]


def test_the_next_origin_stands_in_for_one_that_fails(server, cache, monkeypatch):
    archive, files = DATASETS["thyroid"].origins
    assert (archive.members, len(files.addresses)) == (("ann-train.data", "ann-test.data"), 2)
    parts = original("numbers", X, Y)
    origins = (
        Origin((server.add("broken.zip", b"no archive"),), archive.members),
        Origin((server.add("other.zip", zipped(readme=b"")),), archive.members),
        Origin(tuple(server.add(f"part{i}", part) for i, part in enumerate(parts))),
    )
    entry = DATASETS["thyroid"]._replace(origins=origins, sha256=sha256(X, Y))
    monkeypatch.setitem(DATASETS, "thyroid", entry)
    np.testing.assert_array_equal(read(fetch("thyroid")).X, X)


def test_without_a_named_folder_it_is_data_if_the_content_is_right(server, cache, monkeypatch, tmp_path):
    serve(server, monkeypatch, "data1", X, Y, sha=sha256(X, Y))
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "data1.csv.gz"
    write(path, X, Y)
    assert fetch("data1").resolve() == path
    for wrong in (X + 1, X[:, :1]):
        write(path, wrong, Y)
        with pytest.raises(ValueError, match=r"data1\.csv\.gz does not have .*: PATHFOREST_DATA=data"):
            fetch("data1")
        np.testing.assert_array_equal(read(path).X, wrong)  # it is the user's
    assert not server.requests


@pytest.mark.parametrize("content", [b"", gzip.compress(b"label,f0\n1,2\n", mtime=0)])
def test_a_cached_file_with_other_content_is_replaced(server, cache, monkeypatch, content):
    serve(server, monkeypatch, "data1", X, Y, sha=sha256(X, Y))
    cache.mkdir()
    (cache / "data1.csv.gz").write_bytes(content)
    np.testing.assert_array_equal(read(fetch("data1")).X, X)


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ("404", ConnectionError, r"data1 could not be fetched from http.*404.*data1\.csv.*PATHFOREST_DATA"),
        ("cut off", ConnectionError, "data1 could not be fetched from http.*IncompleteRead"),
        ("other content", ValueError, f"has the checksum {sha256(X, Y)}; expected was {'0' * 64}"),
    ],
)
def test_a_failure_leaves_nothing_and_a_retry_succeeds(server, cache, monkeypatch, how, error, message):
    serve(server, monkeypatch, "data1", X, Y, sha=sha256(X, Y))
    with monkeypatch.context() as patch:
        if how == "404":
            patch.setattr(server, "files", {})
        elif how == "cut off":
            patch.setattr(server, "missing_bytes", 5)
        else:
            patch.setitem(DATASETS, "data1", DATASETS["data1"]._replace(sha256="0" * 64))
        with pytest.raises(error, match=message):
            fetch("data1")
        assert not list(cache.rglob("*"))
    np.testing.assert_array_equal(read(fetch("data1")).X, X)


@pytest.mark.parametrize("form", ["libopf", "libsvm", "numbers", "anomaly", "breast_tissue"])
@pytest.mark.parametrize(
    "content", [b"", b"<html>Not now</html>\n", b"\xff\xfe\0\1" * 40], ids=["none", "html", "bytes"]
)
def test_a_page_in_place_of_the_set_is_reported(server, cache, monkeypatch, form, content):
    name = next(name for name in NAMES if DATASETS[name].form == form)
    origin = Origin((server.add("page", content),))
    monkeypatch.setitem(DATASETS, name, DATASETS[name]._replace(origins=(origin,)))
    with pytest.raises(ValueError, match=f"{name} could not be fetched from {origin.addresses[0]}"):
        fetch(name)
    assert not list(cache.rglob("*"))


def test_without_pooch_the_extra_and_the_folder_are_reported(cache, monkeypatch):
    monkeypatch.delenv("PATHFOREST_CACHE")
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"boat\.csv\.gz.*pathforest\[datasets\].*PATHFOREST_DATA"):
        fetch("boat")
