"""Hypothesis profiles: `ci` repeats the same examples on every run, `thorough` looks much further.

Also what every test needs around it.
"""

import os
import socket
import sys

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("MPLBACKEND", "agg")  # pictures need no screen

common = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("ci", derandomize=True, max_examples=30, **common)
settings.register_profile("thorough", max_examples=1000, **common)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


HERE = {None, "", "localhost", "::1", "::", "0.0.0.0"}


def stay_here(event, arguments):
    """Fail what would leave this machine, a look at names included."""
    if event == "socket.connect" and arguments[0].type == socket.SOCK_DGRAM:
        return  # a look at the routes for the own address, as Dask takes it; nothing is sent
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None  # else a file, or an open connection
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = arguments[0]
    else:
        return
    if host not in HERE and not host.startswith("127."):
        # No pytest.fail: Dask waits for ever if what its loop raises is not an Exception.
        raise AssertionError(f"a test asks the network for {host}")


@pytest.fixture(scope="session", autouse=True)
def small_random_forests():
    """No test needs a good random forest; only `test_issues` needs the searches of the thorough method."""
    from pathforest._issues import unseen
    from pathforest._search.transformers import JointFeatures

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JointFeatures.__init__, "__defaults__", (1, 3.0, 10, 0, None, None))
        patch.setattr(unseen, "N_TREES", 10)
        patch.setattr(unseen, "out_of_fold", unseen.out_of_bag)
        yield


def pytest_configure(config):
    """Forbid the network, and let pass what scikit-learn warns of: classes of one sample."""
    sys.addaudithook(stay_here)
    config.addinivalue_line("filterwarnings", "ignore:The number of unique classes:UserWarning")
