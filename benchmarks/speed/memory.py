"""Peak memory of a contender, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.speed.data import Spec, load


def peak_memory(name: str, spec: Spec, threads: int) -> dict[str, float] | None:
    """Measure MB before and at the peak of one call, libraries and data included; None if it fails."""
    command = [sys.executable, "-m", "benchmarks.speed.memory", name, *map(str, tuple(spec)), str(threads)]
    done = subprocess.run(command, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def megabytes(field: str) -> float:
    """Read a value of this process's status file; the peak from getrusage where there is none.

    The status file comes first because getrusage lets a child inherit the peak of its parent.
    """
    status = Path("/proc/self/status")
    if status.exists():
        kilobytes = next(
            line.split()[1] for line in status.read_text().splitlines() if line.startswith(field)
        )
        return int(kilobytes) * 1024 / 1e6
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


def _main(name: str, kind: str, n_samples: str, n_features: str, threads: str) -> None:
    from benchmarks.speed.machine import limited_threads
    from benchmarks.speed.rows import CONTENDERS

    problem = load(Spec(kind, int(n_samples), int(n_features)))
    before = megabytes("VmRSS")
    with limited_threads(int(threads)):
        CONTENDERS[name].prepare(problem, int(threads))()
    print(json.dumps({"before": before, "peak": megabytes("VmHWM")}))


if __name__ == "__main__":
    _main(*sys.argv[1:])
