"""Builds the driver for each platform, runs it, and compares its hashes with hashes.txt.

Usage: platforms.py NATIVE [PLATFORM ...]

NATIVE is a build folder of the package; the driver is linked from the objects of the package itself.
Platforms whose tools are missing are named and left out. With --write, the hashes of this machine become the
expected ones.
"""

import glob
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
EXPECTED = HERE / "hashes.txt"
SETTINGS = {
    "aarch64": [
        "-DCMAKE_SYSTEM_NAME=Linux",
        "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
        "-DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++",
        "-DCMAKE_CXX_FLAGS_RELEASE=-O2",
        "-DCMAKE_EXE_LINKER_FLAGS=-static",
    ],
    "wasm": [
        "-DCMAKE_SYSTEM_NAME=WASI",
        "-DCMAKE_SYSTEM_PROCESSOR=wasm32",
        "-DCMAKE_CXX_COMPILER=clang++",
        "-DCMAKE_CXX_COMPILER_TARGET=wasm32-wasi",
        "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -msimd128",
        "-DPATHFOREST_THREADS=OFF",
    ],
}
RUNNERS = {
    "aarch64": ["qemu-aarch64"],
    "wasm": ["node", str(ROOT / "cpp/wasm/run.mjs")],
}
TOOLS = {
    "aarch64": {"aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu", "qemu-aarch64": "qemu-user"},
    "wasm": {
        "clang++": "clang",
        "wasm-ld": "lld",
        "/usr/lib/wasm32-wasi/libc.a": "wasi-libc",
        "/usr/lib/wasm32-wasi/libc++.a": "libc++-dev-wasm32",
        "/usr/lib/llvm-*/lib/clang/*/lib/wasi/libclang_rt.builtins-wasm32.a": "libclang-rt-dev-wasm32",
        "node": "nodejs",
    },
}


def missing(name):
    """Name the Debian packages that the platform needs and this machine lacks."""
    return [package for tool, package in TOOLS[name].items() if not (shutil.which(tool) or glob.glob(tool))]


def build(folder, target, settings=()):
    """Build a target without bindings, in a folder that is kept."""
    tools = Path(sys.executable).parent
    if settings:
        ninja = f"-DCMAKE_MAKE_PROGRAM={shutil.which('ninja', path=tools) or shutil.which('ninja')}"
        options = ["-DSKBUILD_PROJECT_VERSION=0", "-DPATHFOREST_BINDINGS=OFF", ninja, *settings]
        run("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *options)
    run("cmake", "--build", folder, "--target", target)


def run(tool, *arguments):
    """Run a tool of this environment; what it says is shown only if it fails."""
    found = shutil.which(tool, path=Path(sys.executable).parent) or tool
    done = subprocess.run([found, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}\n{tool} failed")


def answers(command, level=None):
    """Return what the driver prints, with the instruction set lowered if asked."""
    environment = {**os.environ, **({"PATHFOREST_SIMD": level} if level else {})}
    done = subprocess.run([*command], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stderr}\nthe driver failed: {' '.join(map(str, command))}")
    return done.stdout


def compare(name, found):
    """Say whether the hashes are the expected ones, and which are not."""
    expected = EXPECTED.read_text()
    if found == expected:
        print(f"{name}: the same bits")
        return True
    lines = set(expected.splitlines())
    wrong = [line for line in found.splitlines() if line not in lines]
    print(f"{name}: {len(wrong)} of {len(lines)} answers differ", *wrong[:20], sep="\n  ")
    return False


def check_native(folder):
    """Compare every instruction set that this machine has."""
    build(folder, "pathforest_hashes")
    driver = [Path(folder) / "pathforest_hashes"]
    if "--write" in sys.argv:
        EXPECTED.write_text(answers(driver))
    here, same = platform.machine(), True
    for level in ("baseline", "avx2", "avx512") if here in ("x86_64", "AMD64") else (None,):
        if level and answers([*driver, "level"], level).strip() != level:
            print(f"{here} {level}: not tested, this machine lacks it")
        else:
            same &= compare(f"{here} {level or ''}".rstrip(), answers(driver, level))
    return same


def build_other(name, target):
    """Build a target for another platform and return its folder, or say which tools are missing."""
    if lacking := missing(name):
        print(f"{name}: not tested, for want of {', '.join(lacking)} (names of Debian packages)")
        return None
    folder = ROOT / "build/platforms" / name
    build(folder, target, SETTINGS[name])
    return folder


def check_other(name):
    """Compare a platform that is built and run with tools of this machine."""
    folder = build_other(name, "pathforest_hashes")
    return folder is None or compare(name, answers([*RUNNERS[name], str(folder / "pathforest_hashes")]))


if __name__ == "__main__":
    native, *others = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    results = [check_native(native), *(check_other(name) for name in others or SETTINGS)]
    sys.exit(0 if all(results) else "some answers depend on the platform")
