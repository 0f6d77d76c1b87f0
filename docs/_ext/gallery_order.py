"""The order of the examples in the gallery."""

STORIES = [
    "plot_idea.py",
    "plot_memberships.py",
    "plot_competitions.py",
    "plot_ties.py",
    "plot_wrong_labels.py",
    "plot_find_issues.py",
    "plot_growing.py",
    "plot_sigma.py",
    "plot_tuning.py",
    "plot_radial.py",
    "plot_why.py",
    "plot_digits.py",
    "plot_clustering.py",
]


def by_story(file_name):
    """Sort key of a script; a script that is missing from the list raises an error."""
    return STORIES.index(file_name)
