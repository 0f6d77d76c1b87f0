"""Errors that a user cannot mend: shown as bugs, with how to report them, and never as mistakes."""

import sys
from pathlib import Path

import numpy as np
import pytest
from commands import IRIS, fail, run
from joblib.externals.loky.process_executor import TerminatedWorkerError

import pathforest
from pathforest import OPFClassifier

BUG = "this is a bug in pathforest"
LINE = f"train {IRIS} -e opf -o m.pf"


def raised(error):
    """Return a call that raises an error: in this file, which is none of the package's."""

    def call():
        raise error

    return call


def of_the_package():
    exec(compile("len(5)", str(Path(pathforest.__file__).parent / "fault.py"), "exec"))


FAULTS = {
    "of the package": of_the_package,
    "of Python": lambda: {}["k"],
    "of NumPy": lambda: np.sqrt(np.array([10**20], dtype=object)),
    "of a library": raised(RuntimeError("the library's own")),
    "of a base class": raised(NotImplementedError()),
}


def break_fits(monkeypatch, call):
    """Make every fit of a classifier go wrong."""
    monkeypatch.setattr(OPFClassifier, "fit", lambda *args, **kwargs: call())


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_what_no_user_can_mend_is_shown_as_a_bug(folder, monkeypatch, fault):
    break_fits(monkeypatch, fault)
    said = fail(LINE)
    with pytest.raises(Exception) as raised:  # noqa: PT011
        fault()
    assert f"{BUG} " in said
    assert f"{raised.type.__name__}: {raised.value}" in said
    assert said.endswith(
        "please report it to the developers, with the command and what it prints with --debug added\n"
    )
    done = run(f"{LINE} --debug")
    assert done.exit_code == 1
    assert "Traceback (most recent call last):\n" in done.stderr
    assert ", in call\n" in done.stderr or ", in <lambda>\n" in done.stderr
    assert done.stderr.endswith(said)


def test_a_missing_gpu_and_a_dead_process_are_no_bugs(folder, monkeypatch):
    class Torch:
        __version__ = "0"
        cuda = type("cuda", (), {"is_available": staticmethod(lambda: False)})

    monkeypatch.setitem(sys.modules, "torch", Torch)
    assert ": device='cuda': PyTorch 0 sees no GPU" in fail(f"audit {IRIS} --set device=cuda -o a.html")
    break_fits(monkeypatch, raised(TerminatedWorkerError("killed")))
    assert "a process was killed, perhaps because memory ran out" in fail(LINE)
