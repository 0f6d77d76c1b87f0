"""Reviews of small tables, hostile ones among them."""

import numpy as np
from sklearn.datasets import load_digits, load_iris

from pathforest import find_issues
from pathforest._pages.review import Table, make_review

X, codes = load_iris(return_X_y=True)
# What a page, a spreadsheet or a script could take for something else than text.
HOSTILE = [
    "</script><script>document.title='bad'</script>",
    "=cmd('x'),\"quoted\"\nnext line",
    "<img src=x onerror=\"document.title='bad'\"> ünï\u202e☃ '&amp;",
]
NAMES = ["<b>length</b>", "</style>", "${x}`'\"", "petal & width"]


def hostile_labels():
    """Return iris labels under hostile names, some of them wrong."""
    labels = np.array(HOSTILE)[codes]
    labels[[3, 20, 81, 120]] = np.array(HOSTILE)[[1, 2, 2, 0]]
    return labels


def a_review(X=X, labels=None, names=NAMES, file="<i>table</i>.csv", others=None, **options):
    """Review a table whose lines count from 2, as in a CSV file."""
    labels = hostile_labels() if labels is None else labels
    places = range(2, len(X) + 2)
    others = {"<u>note</u>": HOSTILE * (len(X) // 3 + 1)} if others is None else others
    table = Table(file, "line", places, X, X, list(names), "kind", others, "sha256:0123456789abcdef")
    return make_review(table, find_issues(X, labels, **options))


def a_review_of_digits():
    """Review images, some with wrong labels."""
    X, y = load_digits(return_X_y=True)
    y[:40:8] = (y[:40:8] + 1) % 10
    return a_review(X[:600], y[:600], [f"pixel_{i // 8}_{i % 8}" for i in range(64)], "digits.csv", {})
