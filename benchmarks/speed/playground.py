"""How quickly the playground opens and follows a slider in Chromium: python -m benchmarks.speed.playground.

It opens the file of `make playground` from disk, without a window. *Opens*: from the navigation to the first
model, drawn. *Fit and draw*: the time that the page's script takes to fit again, colour the plane coarsely
and draw everything. *Frame*: from one picture on the screen to the next while a slider moves in every frame;
16.7 ms is the display's own rate. Medians. Run it on an idle machine.
"""

from __future__ import annotations

import gzip
import shutil
import sys
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import sync_playwright

from benchmarks.tables import head, line

PAGE = Path(__file__).parents[2] / "build" / "playground" / "pathforest-playground.html"
SIZES = 500, 2000
ROUNDS = 40
SLIDERS = {
    "plain": "n_conquerors",
    "fuzzy": "sigma",
    "tree": "sigma",
    "clusters": "min_height",
    "semi": "n_labels",
}

FRAMES = """async ([name, rounds]) => {
  const input = document.querySelector(`input[name=${name}]`);
  const frame = () => new Promise(requestAnimationFrame);
  const [low, high, step] = [input.min, input.max, input.step].map(Number);
  const gaps = [];
  let last = await frame();
  for (let i = 0; i < rounds; i++) {
    playground.change({ [name]: low + ((i * step) % (high - low)) });
    const now = await frame();
    gaps.push(now - last);
    last = now;
  }
  return gaps;
}"""


def opening(browser: Any) -> float:
    """Milliseconds until a page that was opened from disk shows a model."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(PAGE.as_uri())
    page.wait_for_selector("body.ready")
    taken = page.evaluate("performance.now()")  # from the start of the navigation, an upper bound
    page.close()
    return taken


def main() -> None:
    """Print the tables."""
    if not PAGE.is_file():
        sys.exit(f"{PAGE} is missing; run: make playground")
    size = len(gzip.compress(PAGE.read_bytes()))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        opened = [opening(browser) for _ in range(7)]
        print(f"Chromium {browser.version}; {size:,} bytes compressed; opens in {median(opened):.0f} ms\n")
        print(head(["points", "estimator", "fit and draw (ms)", "frame (ms)"]))
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(PAGE.as_uri())
        page.wait_for_selector("body.ready")
        for n in SIZES:
            for model, slider in SLIDERS.items():
                page.evaluate(f"playground.change({{ set: 'moons', n: {n}, wrong: 10, model: '{model}' }})")
                page.wait_for_timeout(300)
                fits = page.evaluate(f"Array.from({{ length: {ROUNDS} }}, () => playground.measure())")
                frames = page.evaluate(FRAMES, [slider, ROUNDS])
                print(line([str(n), model, f"{median(fits):.1f}", f"{median(frames):.1f}"]))
        browser.close()


if __name__ == "__main__":
    main()
