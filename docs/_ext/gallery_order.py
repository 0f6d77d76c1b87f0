"""The order in which the gallery tells its stories."""

STORIES = [
    "plot_idea.py",
    "plot_memberships.py",
    "plot_competitions.py",
    "plot_ties.py",
    "plot_wrong_labels.py",
    "plot_sigma.py",
    "plot_tuning.py",
    "plot_radial.py",
    "plot_why.py",
    "plot_digits.py",
    "plot_clustering.py",
    "plot_scaling.py",
]


def by_story(file_name):
    """Sort key of a script; one that is not in the list is an error, so that none is forgotten."""
    return STORIES.index(file_name)
