"""Command line of the fuzzing harness: ``python -m tools.fuzz --help``."""

import argparse
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from tools.fuzz import families
from tools.fuzz.runner import FAMILIES, Tally, replay, run_chunk


def parse(argv):
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000, help="cases to count, valid ones")
    parser.add_argument("--malformed", type=int, default=None, help="default: a tenth of --cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--family", action="append", choices=sorted(FAMILIES), default=None)
    parser.add_argument("--violations", type=Path, default=None, help="file for a line of each")
    parser.add_argument("--replay", metavar="LINE", help="run a stored violation again")
    return parser.parse_args(argv)


def commit():
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12"], capture_output=True, text=True
    )
    return done.stdout.strip() or "unknown"


def run(cases, seed, jobs, names, chunk=40):
    """Rounds of chunks, every family by its share, until `cases` are counted."""
    tally, position = Tally(), dict.fromkeys(names, 0)
    total_share = sum(FAMILIES[name].share for name in names)
    with ProcessPoolExecutor(jobs) as pool:
        while sum(tally.cases.values()) < cases:
            tasks = []
            for name in names:
                n = max(1, round(chunk * len(names) * FAMILIES[name].share / total_share))
                tasks.append(pool.submit(run_chunk, name, seed, position[name], position[name] + n))
                position[name] += n
            for task in as_completed(tasks):
                found = task.result()
                tally.add(found)
                for line in found.violations:
                    print(f"\n{line}", file=sys.stderr)
            done = sum(tally.cases.values())
            print(f"\r{done} cases, {len(tally.violations)} violations", end="", file=sys.stderr)
    print(file=sys.stderr)
    return tally


def table(tally):
    """One line per family: cases, outcomes, CPU time."""
    lines = []
    for name in sorted(tally.cases):
        outcomes = ", ".join(
            f"{outcome} {number}"
            for (whose, outcome), number in sorted(tally.outcomes.items())
            if whose == name
        )
        lines.append(
            f"{name:24} {tally.cases[name]:>9}  {tally.seconds[name]:8.1f} s CPU, "
            f"slowest {tally.slowest[name]:5.2f} s: {outcomes}"
        )
    return "\n".join(lines)


def main(argv=None):
    options = parse(argv)
    if options.replay:
        found = replay(options.replay)
        print(found or "no violation")
        return int(found is not None)
    wanted = options.family or sorted(FAMILIES)
    print(f"commit {commit()}, seed {options.seed}, {families.describe()}")
    malformed = options.cases // 10 if options.malformed is None else options.malformed
    violations = []
    for kind, cases in (("valid", options.cases), ("malformed", malformed)):
        names = [name for name in wanted if FAMILIES[name].malformed == (kind == "malformed")]
        if not names or not cases:
            continue
        tally = run(cases, options.seed, options.jobs, names)
        violations += tally.violations
        print(f"\n{kind}: {sum(tally.cases.values())} cases, {len(tally.violations)} violations")
        print(table(tally))
    for line in violations[:40]:
        print(line)
    if options.violations and violations:
        options.violations.write_text("\n".join(violations) + "\n", encoding="utf-8")
    return int(bool(violations))


if __name__ == "__main__":
    sys.exit(main())
