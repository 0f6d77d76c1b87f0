"""Hypothesis profiles: `ci` repeats the same examples on every run, `thorough` looks much further.

Also what every test needs around it.
"""

import os

from hypothesis import HealthCheck, settings

os.environ.setdefault("MPLBACKEND", "agg")  # pictures need no screen

common = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("ci", derandomize=True, max_examples=30, **common)
settings.register_profile("thorough", max_examples=1000, **common)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_configure(config):
    """Let classes of one sample pass: scikit-learn takes many of them for a regression target, and warns."""
    config.addinivalue_line("filterwarnings", "ignore:The number of unique classes:UserWarning")
