"""Puts the playground into one HTML file: page, style, scripts and compiled core, for `make playground`."""

import base64
import gzip
import html
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WASM = ROOT / "build" / "wasm" / "pathforest.wasm"
PAGE = ROOT / "build" / "playground" / "pathforest-playground.html"

IMPORT = re.compile(r'^import (\{[^}]*\}) from "([^"]+)";$', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?(?:const|function|class) (\w+))", re.MULTILINE)
# name, what it says, lowest, highest, step
SLIDERS = (
    ("n", "Points", 10, 2000, 1),
    ("wrong", "Wrong labels", 0, 45, 1),
    ("sigma", "<code>sigma</code> membership of sparse samples", 0.1, 1.2, 0.05),
    ("k_max", "<code>k_max</code> largest neighbourhood", 1, 50, 1),
    ("n_conquerors", "<code>n_conquerors</code> samples that decide", 1, 30, 1),
    ("n_neighbors", "<code>n_neighbors</code> of the density", 0, 50, 1),
    ("threshold", "<code>threshold</code> height of a hill", 0, 600, 10),
    ("n_labels", "Labels per class", 1, 20, 1),
)
SETS = re.compile(r'^  (\w+): \{ name: "([^"]+)"', re.MULTILINE)


def script():
    """Join the modules, each after those it imports and in a scope of its own."""
    parts = {}

    def name_of(path):
        return f"module_{path.stem}"

    def add(path):
        if path in parts:
            return
        text = path.read_text(encoding="utf-8")
        for _, name in IMPORT.findall(text):
            add((path.parent / name).resolve())
        body = IMPORT.sub(lambda m: f"const {m[1]} = {name_of(Path(m[2]))};", text)
        exported = ", ".join(name for _, name in EXPORT.findall(text))
        body = EXPORT.sub(r"\1", body)
        if exported:
            body = f"const {name_of(path)} = (() => {{\n{body}return {{ {exported} }};\n}})();\n"
        parts[path] = body

    add((HERE / "main.js").resolve())
    return "\n".join(parts.values())


def slider(name, words, lowest, highest, step):
    """Write one row of the settings."""
    return (
        f'<div class="slider" id="row-{name}"><label for="{name}">{words}</label>'
        f'<output for="{name}"></output>'
        f'<input type="range" id="{name}" name="{name}" min="{lowest}" max="{highest}" step="{step}"></div>'
    )


def chips():
    """Write the buttons that choose a set, from the list in sets.js."""
    return "\n  ".join(
        f'<label class="chip"><input type="radio" name="set" value="{key}">'
        f'<canvas class="thumbnail" data-set="{key}" width="76" height="76" aria-hidden="true"></canvas>'
        f"<span>{html.escape(name)}</span></label>"
        for key, name in SETS.findall((HERE / "sets.js").read_text(encoding="utf-8"))
    )


def build(wasm=WASM):
    """Return the page."""
    core = gzip.compress(wasm.read_bytes(), compresslevel=9, mtime=0)
    contents = {
        "style": (HERE / "style.css").read_text(encoding="utf-8"),
        "script": script(),
        "core": base64.b64encode(core).decode(),
        "logo": base64.b64encode((ROOT / "docs" / "_static" / "logo.svg").read_bytes()).decode(),
        "sliders": "\n    ".join(slider(*row) for row in SLIDERS),
        "sets": chips(),
    }
    page = (HERE / "page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: contents[match[1]], page)


def main():
    """Write the page, or say what is missing."""
    if not WASM.is_file():
        print("no playground: build/wasm/pathforest.wasm is missing; `make wasm` says which tools it needs")
        return
    page = build().encode()
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_bytes(page)
    print(f"{PAGE}: {len(page):,} bytes, {len(gzip.compress(page)):,} compressed")


if __name__ == "__main__":
    sys.exit(main())
