"""Files that the examples of the command line name."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def files(tmp_path, monkeypatch, global_random_seed):
    """A directory with the files that the examples name, and the labels in them."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(global_random_seed)
    y = rng.integers(2, size=200)
    a, b = (np.where(rng.random(200) < right, y, 1 - y) for right in (0.8, 0.9))
    shares = np.round(0.2 + 0.5 * np.array([a, b, a]) + 0.1 * rng.random((3, 200)), 3)
    columns = zip(y, a, b, a, np.arange(200) % 5, *shares, strict=True)
    rows = "".join(",".join(map(str, row)) + "\n" for row in columns)
    text = "y,model_a,model_b,yhat,fold,p_a,p_b,p\n" + rows
    for name in ("predictions.csv", "site_a.csv", "site_b.csv"):
        Path(name).write_text(text)
    Path("big.csv.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("matrix.csv", "a.csv", "b.csv"):
        Path(name).write_text(",well,ill\nwell,6,2\nill,0,26\n")
    Path("folds.json").write_text("[[[40, 5], [4, 31]], [[38, 7], [6, 29]], [[41, 4], [3, 32]]]")
    scores = rng.normal(0.8, 0.02, size=(3, 10))
    columns = {f"split{k}_test_f1": scores[:, k].tolist() for k in range(10)}
    columns["params"] = [{"C": c} for c in (1, 10, 100)]
    Path("cv_results.json").write_text(json.dumps(columns))
    head = ",".join(columns)
    rows = "".join(
        ",".join(map(repr, row.tolist())) + f",\"{{'C': {c}}}\"\n"
        for row, c in zip(scores, (1, 10, 100), strict=True)
    )
    Path("cv_results.csv").write_text(f"{head}\n{rows}")
    return y, a, b, columns
