"""Coverage-guided fuzzing of the file readers: ``python -m tools.fuzz.guided --cases 20000``.

Inputs that reach new lines of the readers join the corpus, and are damaged in turn.
``--update`` writes the corpus to corpus.json, which the other families start from.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

import skuncertain
from tools.fuzz.readers import CORPUS, SEEDS, damaged, kind_of, unknown
from tools.fuzz.runner import Violation
from tools.fuzz.source import Source

PACKAGE = Path(skuncertain.__file__).parent
WATCHED = tuple(map(str, sorted((PACKAGE / "_io").glob("*.py"))))


def lines_of(kind, data):
    """Outcome, and the steps from line to line that the readers took."""
    seen = set()

    def trace(frame, event, argument):
        if frame.f_code.co_filename not in WATCHED:
            return None
        last = [0]

        def local(frame, event, argument):
            if event == "line":
                seen.add((frame.f_code.co_filename, last[0], frame.f_lineno))
                last[0] = frame.f_lineno
            return local

        return local

    sys.settrace(trace)
    try:
        outcome = unknown(kind, data)
    except Violation as error:
        outcome = f"violation: {error}"
    except Exception as error:
        outcome = f"violation: {type(error).__name__}: {error}"
    finally:
        sys.settrace(None)
    return outcome, seen


def search(cases, seed, corpus):
    """The corpus after so many cases, the outcomes, and the violations."""
    corpus, known = list(corpus), set()
    outcomes, violations = Counter(), []
    for data in corpus:
        for kind in range(4):
            known |= lines_of(kind, data)[1]
    for index in range(cases):
        source = Source(f"{seed}/guided/{index}")
        data = damaged(source, source.pick(corpus))[:4000]
        kind = kind_of(source, data)
        outcome, seen = lines_of(kind, data)
        outcomes[outcome.split(":")[0]] += 1
        if outcome.startswith("violation"):
            violations.append(json.dumps({"kind": kind, "data": repr(data), "what": outcome}))
        elif seen - known:
            known |= seen
            corpus.append(data)
    return corpus, outcomes, violations, len(known)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz.guided", description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--update", action="store_true", help="write corpus.json")
    options = parser.parse_args(argv)
    corpus, outcomes, violations, steps = search(options.cases, options.seed, SEEDS)
    print(
        f"{options.cases} cases, seed {options.seed}: {dict(outcomes)}, {len(SEEDS)} seeds became "
        f"{len(corpus)}, {steps} steps between lines, {len(violations)} violations"
    )
    for line in violations[:20]:
        print(line)
    if options.update:
        texts = [data.decode("latin-1") for data in corpus]
        CORPUS.write_text(json.dumps(texts, indent=0) + "\n", encoding="utf-8")
    return int(bool(violations))


if __name__ == "__main__":
    sys.exit(main())
