"""Optimum-Path Forest straight from its definition: slow, obvious, and sharing nothing with the library.

Whole models are in `reference.models`, what `find_issues` reports in `reference.issues`.
"""

from reference.clusters import *  # noqa: F403
from reference.distances import *  # noqa: F403
from reference.forest import *  # noqa: F403
from reference.graph import *  # noqa: F403
