"""The file readers under libFuzzer, which is given the branches that an input takes.

``python -m tools.fuzz.libfuzzer -runs=1000000 -seed=1``, with atheris installed. The first byte
says which reader; the rest is the file. It starts from corpus.json, and ends at a violation.
"""

import sys
import tempfile
import warnings
from pathlib import Path

OUTCOMES = {"read": 0, "refused": 0}


def main():
    import atheris

    with atheris.instrument_imports(include=["skuncertain", "csv", "json", "ast"]):
        from tools.fuzz.readers import SEEDS, unknown

    def one_input(data):
        """Anything but an answer or a documented error ends the run, and so does a warning."""
        if data:
            OUTCOMES[unknown(data[0] % 4, data[1:])] += 1
            if sum(OUTCOMES.values()) % 100_000 == 0:
                print(OUTCOMES, flush=True)

    warnings.simplefilter("error")
    with tempfile.TemporaryDirectory(prefix="skuncertain-fuzz-") as folder:
        for number, seed in enumerate(SEEDS):
            for kind in range(4):
                Path(folder, f"{number}-{kind}").write_bytes(bytes([kind]) + seed)
        atheris.Setup([*sys.argv, folder], one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
