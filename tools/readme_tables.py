"""Write the figures of the README that come from benchmarks.

Run: python tools/readme_tables.py [--check]
"""

import csv
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLES = ROOT / "docs" / "benchmark_tables"
README = ROOT / "README.md"
BEGIN, END = "<!-- peers:begin (tools/readme_tables.py writes this) -->", "<!-- peers:end -->"
PEERS = ("confidenceinterval", "prob-conf-mat", "credible", "scipy", "baycomp", "MLstatkit")


def read(name):
    """Rows of a table of the benchmarks."""
    lines = (TABLES / f"{name}.rst.inc").read_text(encoding="utf-8").splitlines()
    return list(csv.reader(line.strip() for line in lines if line.startswith('   "')))


def ratio(text):
    """Ratio with two digits."""
    value = float(text)
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def speed():
    """Return a row per question: CPU time of every peer over ours, the least of several."""
    found: dict = {}
    for question, peer, _, theirs, _, times, *_ in read("peers"):
        name, times = peer.split(" ")[0], times.replace(",", "")
        if name in PEERS:
            cells = found.setdefault(re.sub(r"^\d+\. ", "", question), {})
            old = cells.get(name)
            if times:
                cells[name] = times if old is None else min(old, times, key=float)
            else:
                cells.setdefault(name, "fails" if "Error" in theirs else "too slow")
    rows = [["CPU time of others / ours", *PEERS]]
    for question, cells in found.items():
        texts = [cells.get(peer, "") for peer in PEERS]
        rows.append([question, *(ratio(t) if t[:1].isdigit() else t for t in texts)])
    return rows


def reasons():
    """Return why others are faster in some rows, a line per package."""
    found = {}
    for _, peer, *_, times, _, note in read("peers"):
        name = peer.split(" ")[0]
        if name in PEERS and times and float(times.replace(",", "")) < 1:
            found.setdefault(name, {})[note.partition("; memory:")[0]] = None
    lines = [f"- {name}: {'; '.join(notes)}." for name, notes in found.items()]
    return "\n".join(lines) or "- Nowhere."


def coverage():
    """Return a row per method: coverage of F1 in per cent with its standard error."""
    rows = [["method", "rare class", "near-perfect", "balanced", "10-fold CV"]]
    for method, *cells in read("coverage"):
        shares = [re.match(r"[\d.]+ ± [\d.]+ of (\d+)", cell) for cell in cells]
        enough = [m and int(m[1]) >= 100 for m in shares]
        if any(enough):
            texts = [
                m[0].partition(" of ")[0] if ok else ""
                for m, ok in zip(shares, enough, strict=True)
            ]
            rows.append([method, *texts])
    return rows


def markdown(rows):
    """Table with the first column to the left, the others to the right."""
    lines = [rows[0], ["---", *["---:"] * (len(rows[0]) - 1)], *rows[1:]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main():
    text = README.read_text(encoding="utf-8")
    block = f"""{BEGIN}

Measured by `make bench` in one run; above 1 we are faster:

{markdown(speed())}

Where it is below 1, and why:

{reasons()}

How often, in %, a nominal 95 % interval of F1 held the true value, with the standard error. No
interval counts as not held. scikit-learn is Student's t of the fold scores. Scenarios and widths
are in the [benchmarks](docs/benchmarks.rst).

{markdown(coverage())}

{END}"""
    new = re.sub(r"<!-- peers:begin.*<!-- peers:end -->", lambda _: block, text, flags=re.S)
    if "--check" in sys.argv:
        sys.exit(None if new == text else "README.md: run python tools/readme_tables.py")
    README.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
