"""Probabilities of the labels by models that have not seen them."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold

from pathforest._utils.threads import thread_count
from pathforest.fuzzy_cv import FuzzyOPFClassifierCV

TRANSFORMS = "kernel"  # the preset of the search
N_FOLDS = 5
N_TREES = 300
