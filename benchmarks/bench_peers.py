"""Ours against what one would pick instead: CPU time, memory, noise and coverage.

Every peer is installed from the package index into an environment of its own below
``benchmarks/.envs``, and runs in a process of its own (``benchmarks/peers``). Everything is CPU
time of one thread, the least of some calls after the imports; memory is what the first call added
to the process at its peak. Only ratios are meant to be compared between machines.

Run: python benchmarks/bench_peers.py [--write DIRECTORY] [--only peers noise coverage]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from peer_data import coverage_data, timing_data
from peer_questions import MEMORY, OUR_DATA, QUESTIONS, REASONS, WRONG
from tables import markdown, restructured
from timing import seconds

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = HERE / ".envs"
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
TIME_LIMIT, TRIAL_LIMIT, GIGABYTES = 12, 20, 8
PATIENCE = {"MLstatkit": 4}  # times the limit: in 20 s it has few of its intervals

# Package, script, and whether it needs an environment: scipy and scikit-learn are here already.
PEERS = {
    "confidenceinterval": ("confidenceinterval_peer.py", True),
    "prob-conf-mat": ("prob_conf_mat_peer.py", True),
    "credible": ("credible_peer.py", True),
    "baycomp": ("baycomp_peer.py", True),
    "MLstatkit": ("mlstatkit_peer.py", True),
    "scipy": ("scipy_peer.py", False),
    "scikit-learn": ("sklearn_peer.py", False),
    "numpy": ("numpy_floor.py", False),
    "skuncertain": ("ours.py", False),
}
FLOORS = ("scikit-learn", "numpy")  # values without intervals, and the bare operation


def environment(package):
    """Interpreter of the environment of a peer, made when it is missing; or an error."""
    place = ENVIRONMENTS / package
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not (place / ".complete").exists():
        print(f"installing {package} ...", file=sys.stderr, flush=True)
        venv.create(place, with_pip=True, clear=True)
        done = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", package], capture_output=True, text=True
        )
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            return None, f"not installed: {(lines or ['pip failed'])[0][:120]}"
        (place / ".complete").touch()
    return str(python), None


def ask(peer, job, mode, data, limit):
    """Answer of one peer, or a dict with an error."""
    script, own = PEERS[peer]
    python, error = environment(peer) if own else (sys.executable, None)
    if error:
        return {"error": error}
    variables = os.environ | ONE_THREAD
    if own:
        variables.pop("PYTHONPATH", None)
    request = {"job": job, "mode": mode, "data": str(data), "seconds": limit}
    request["gigabytes"] = GIGABYTES
    try:
        done = subprocess.run(
            [python, "-W", "ignore", str(HERE / "peers" / script)],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            timeout=2 * limit + 30,
            env=variables,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"stopped after {2 * limit + 30} s"}
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return {"error": last[:120]}
    return json.loads(lines[-1])


def timings(files):
    """One row per question and peer."""
    ours, rows = {}, []
    for row in QUESTIONS:
        own = OUR_DATA.get(row.data, row.data.removesuffix("few"))
        if (row.ours, own) not in ours:
            ours[row.ours, own] = ask("skuncertain", row.ours, "time", files[own], TIME_LIMIT)
        theirs = ask(row.peer, row.theirs, "time", files[row.data], TIME_LIMIT)
        rows.append(timing_row(row, theirs, ours[row.ours, own]))
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    return rows


def timing_row(row, theirs, ours):
    name = " ".join(filter(None, (row.peer, theirs.get("version"))))
    start = [row.question, name, row.what]
    if "error" in ours:
        return [*start, "", f"ours failed: {ours['error']}", "", "", ""]
    if "cpu" not in theirs:
        text = theirs.get("error", "not offered")
        return [*start, text, seconds(ours["cpu"]), "", "", ""]
    ratio = row.scale * theirs["cpu"] / ours["cpu"]
    part = f" ({row.scale} x a part)" if row.scale > 1 else ""
    note = WRONG.get((row.question.split(".")[0], row.peer), "")
    if ratio < (0.5 if row.peer in FLOORS else 1):
        reason = REASONS.get((row.question.split(".")[0], row.peer), "behind")
        note = "; ".join(filter(None, (reason, note)))
    peaks = [x.get("peak") for x in (theirs, ours)]
    if None not in peaks and row.peer not in FLOORS and peaks[1] > 2 * peaks[0] + 8 * 2**20:
        note = "; ".join(
            filter(None, (note, MEMORY.get(row.question.split(".")[0], "more memory")))
        )
    memory = " / ".join("?" if x is None else f"{x / 2**20:.0f}" for x in peaks)
    cpu = seconds(row.scale * theirs["cpu"]) + part
    return [*start, cpu, seconds(ours["cpu"]), ratio_text(ratio), memory, note]


def ratio_text(ratio):
    return f"{float(f'{ratio:.3g}'):,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def trials(jobs, mode):
    """Answers of many peers at once: nothing is timed here."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        limits = [TRIAL_LIMIT * PATIENCE.get(peer, 1) for peer, *_ in jobs]
        return list(pool.map(lambda job, limit: ask(*job[:2], mode, job[2], limit), jobs, limits))


METHODS = ("skuncertain", "confidenceinterval", "prob-conf-mat", "credible", "MLstatkit", "scipy")


def noise_rows(files):
    jobs = [(peer, "f1", files["table"]) for peer in METHODS]
    macro = ("skuncertain", "confidenceinterval", "prob-conf-mat", "scipy")
    jobs += [(peer, "macro_f1", files["ten"]) for peer in macro]
    rows = []
    for (peer, job, _), found in zip(jobs, trials(jobs, "noise"), strict=True):
        text = [f"{100 * x:.2g} %" if x > 1e-12 else "0" for x in found.get("sd", ())]
        rows.append(
            [{"f1": "F1, 251 rows", "macro_f1": "macro F1, 10 classes"}[job], peer]
            + (text or [found.get("error", "not offered"), ""])
        )
    return rows


def coverage_rows(files):
    names = {"rare": "f1", "perfect": "f1", "balanced": "f1", "cv": "folds_f1"}
    jobs = [
        (peer, job, files[name])
        for name, job in names.items()
        for peer in (*METHODS, *(["scikit-learn"] if name == "cv" else []))
    ]
    answers = iter(trials(jobs, "coverage"))
    table = {peer: [peer] for peer in (*METHODS, "scikit-learn")}
    for name in names:
        for peer, row in table.items():
            if peer == "scikit-learn" and name != "cv":
                row.append("")
                continue
            found = next(answers)
            if "inside" not in found:
                row.append(found.get("error", "not offered"))
                continue
            row.append(coverage_text(**found))
    return list(table.values())


def coverage_text(inside, length, failed, samples, **_):
    """Share with its standard error, samples, mean length, and how often there was no interval."""
    near = (inside * samples + 2) / (samples + 4)  # a share of 100 % has an error, too
    error = (near * (1 - near) / samples) ** 0.5
    text = f"{100 * inside:.1f} ± {100 * error:.1f} of {samples}; {length:.3f}"
    return text + (f"; {100 * failed / samples:.0f} % without" if failed else "")


TABLES = {
    "peers": [
        "question", "peer", "what it does", "theirs", "ours", "ratio", "MB theirs / ours", "note",
    ],
    "noise": ["question", "method", "sd of the lower bound", "sd of the upper bound"],
    "coverage": ["method", "rare class", "near-perfect", "balanced", "10-fold CV"],
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="directory for the tables of the docs")
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    options = parser.parse_args()
    write = options.write
    make = {"peers": timings, "noise": noise_rows, "coverage": coverage_rows}
    with tempfile.TemporaryDirectory() as folder:
        files = timing_data(Path(folder))
        if "coverage" in options.only:
            files |= coverage_data(Path(folder))
        tables = {name: make[name](files) for name in options.only}
    for name, rows in tables.items():
        print(f"\n{markdown(TABLES[name], rows)}")
        if write:
            write.mkdir(parents=True, exist_ok=True)
            (write / f"{name}.rst.inc").write_text(restructured(TABLES[name], rows))


if __name__ == "__main__":
    main()
