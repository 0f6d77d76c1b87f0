"""Errors that a user cannot mend: shown as bugs, with how to report them, and never as mistakes."""

from pathlib import Path

import numpy as np
import pytest
from commands import IRIS, fail, run, succeed
from joblib.externals.loky.process_executor import TerminatedWorkerError

import pathforest
from pathforest import OPFClassifier
from pathforest._engines.torch import devices

BUG = "this is a bug in pathforest"


def a_ufunc():
    np.sqrt(np.array([10**20], dtype=object))


def an_attribute():
    getattr(None, "shape")  # noqa: B009


def an_index():
    [][0]


def a_key():
    {}["k"]


def a_division():
    return 1 // 0


def a_depth():
    a_depth()


def of_a_library():  # this file is none of the package's
    raise RuntimeError("the library's own")


def of_a_base_class():
    raise NotImplementedError


def a_call_in_the_package():
    exec(compile("len(5)", str(Path(pathforest.__file__).parent / "fault.py"), "exec"))


FAULTS = (
    a_call_in_the_package,
    a_ufunc,
    an_attribute,
    an_index,
    a_key,
    a_division,
    a_depth,
    of_a_library,
    of_a_base_class,
)


@pytest.fixture
def fault(monkeypatch, request):
    """Make every fit of a classifier go wrong."""
    monkeypatch.setattr(OPFClassifier, "fit", lambda *args, **kwargs: request.param())
    return request.param


@pytest.mark.parametrize("fault", FAULTS, indirect=True)
def test_what_no_user_can_mend_is_shown_as_a_bug(folder, fault):
    said = fail(f"train {IRIS} -e opf -o m.pf")
    with pytest.raises(Exception) as raised:  # noqa: PT011
        fault()
    assert f"{BUG} " in said
    assert f"{raised.type.__name__}: {raised.value}" in said
    assert said.endswith(
        "please report it to the developers, with the command and what it prints with --debug added\n"
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"train {IRIS} -e opf --set metric=5 -o m.pf", "metric=5 must be the name of a metric"),
        (f"train {IRIS} --set k_max=x -o m.pf", "k_max='x' must be an integer, not str"),
        (f"train {IRIS} -e opf --set n_jobs=x -o m.pf", "n_jobs='x' must be None or an integer"),
        (f"cluster {IRIS} --set 'metric_params=[1]' -o c.csv", "metric_params=[1] must be None or a dict"),
    ],
)
def test_what_we_refuse_is_a_mistake_whatever_its_type(folder, line, message):
    said = fail(line)
    assert message in said
    assert BUG not in said


def test_a_missing_gpu_is_not_a_bug(folder, monkeypatch):
    class Torch:
        __version__ = "0"
        cuda = type("cuda", (), {"is_available": staticmethod(lambda: False)})

    monkeypatch.setattr(devices, "require_torch", lambda: Torch)
    said = fail(f"audit {IRIS} --device cuda -o a.html")
    assert "device='cuda': PyTorch 0 sees no GPU" in said
    assert BUG not in said


def test_a_dead_process_is_not_a_bug(folder, monkeypatch):
    def die(*args):
        raise TerminatedWorkerError("killed")

    monkeypatch.setattr(OPFClassifier, "fit", die)
    assert "a process was killed, perhaps because memory ran out" in fail(f"train {IRIS} -e opf -o m.pf")


@pytest.mark.parametrize("fault", [an_index], indirect=True)
def test_debug_adds_the_traceback_to_a_bug(folder, fault):
    line = f"train {IRIS} -e opf -o m.pf"
    said = fail(line)
    done = run(f"{line} --debug")
    assert done.exit_code == 1
    assert done.stderr.startswith("Traceback (most recent call last):\n")
    assert ", in an_index\n" in done.stderr
    assert done.stderr.endswith(said)


def test_debug_adds_the_traceback_to_a_mistake(folder):
    done = run("train iris.csv -l knd -o m.pf --debug")
    assert ", in find_column\n" in done.stderr
    assert done.stderr.endswith(fail("train iris.csv -l knd -o m.pf"))


def test_debug_changes_nothing_that_succeeds(folder):
    assert succeed("info iris.csv -l kind --debug") == succeed("info iris.csv -l kind")
