"""Save the pictures of the gallery: python examples FOLDER [NAME ...].

Each ``plot_*.py`` here is a short example with pictures. Run on its own, as in ``python
examples/plot_idea.py``, it shows the pictures on the screen and writes nothing; this script saves the
pictures of all examples, or of those named, as PNG files.
"""

import runpy
import sys
import warnings
from pathlib import Path
from time import perf_counter

HERE = Path(__file__).parent


def save_pictures(script, folder):
    """Run one script without a screen; return the paths of its pictures, in order."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")  # plt.show() says so
        runpy.run_path(str(script), run_name="__main__")
    paths = []
    for number in plt.get_fignums():
        suffix = f"_{number}" if number > 1 else ""
        paths.append(Path(folder) / f"{script.stem}{suffix}.png")
        plt.figure(number).savefig(paths[-1], dpi=110)
    plt.close("all")
    return paths


def main(folder, *names):
    scripts = [HERE / f"{Path(name).stem}.py" for name in names] or sorted(HERE.glob("plot_*.py"))
    Path(folder).mkdir(parents=True, exist_ok=True)
    for script in scripts:
        start = perf_counter()
        paths = save_pictures(script, folder)
        print(f"{perf_counter() - start:6.1f} s  {', '.join(map(str, paths))}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python examples FOLDER [NAME ...]")
    main(*sys.argv[1:])
