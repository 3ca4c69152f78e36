"""How the web page bears many requests, clients that say nothing, and expensive questions.

    python benchmarks/page_load.py            # all parts, some minutes
    python benchmarks/page_load.py --forms 50 # a shorter search

It starts a server of its own on loopback, and ends it. Everything is bounded: the requests by their
number, the clients by WAVE, and the whole by SECONDS.
"""

import argparse
import contextlib
import http.client
import json
import random
import re
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from skuncertain.app._forms import FIELDS, KINDS, PRIORS, metric_options
from skuncertain.app._tasks import compute

WAVE = 50  # clients at a time
SECONDS = 1800
COUNTS = ("0", "1", "2", "6", "26", "40", "1000", "54321", "999999999")
RATES = ("", "", "1e-300", "1e-9", "0.001", "0.1", "0.5", "0.9", "0.999999999")
LEVELS = ("0.95", "0.5", "1e-9", "0.999", "0.999999999")
HEADERS = {"Content-Type": "application/json", "Sec-Fetch-Site": "same-origin"}


# --------------------------------------------------------------------------------------------------
# Questions


def table(rng, n_classes, columns, n):
    """Rows of labels as CSV; small classes are rare, and 70 % of the predictions are right."""

    def label():
        return f"c{min(rng.randrange(n_classes), rng.randrange(n_classes))}"

    lines = [",".join(("y", "a", "b")[:columns])]
    for _ in range(n):
        true = label()
        said = [true if rng.random() < 0.7 else label() for _ in range(columns - 1)]
        lines.append(",".join([true, *said]))
    return "\n".join(lines) + "\n"


def random_form(rng):
    """Page and form, mostly without problems, often at an extreme."""
    page = rng.choice(("one", "one", "one", "two", "plan"))
    given = {
        "metric": rng.choice([name for _, names in metric_options(page) for name, _ in names]),
        "kind": rng.choice(list(KINDS)),
        "prior": rng.choice(list(PRIORS)),
        "level": rng.choice(LEVELS),
    }
    if given["prior"] == "number":
        given["pseudo"] = rng.choice(("0", "1e-9", "0.5", "1000", "1e12"))
    for name in FIELDS[page]:
        if name.rpartition("_")[2] in ("tp", "fn", "fp", "tn"):
            given[name] = rng.choice(COUNTS)
    n_classes = 2
    if page != "plan" and rng.random() < 0.35:
        n_classes = rng.choice((2, 3, 8, 20))
        rows = table(rng, n_classes, 2 if page == "one" else 3, rng.choice((20, 400, 5000)))
        given |= {"source": "rows", "csv": rows, "pos_label": "c0"}
    if page == "one":
        low, high = rng.choice((("0.9", ""), ("", ""), ("0.2", "0.8")))
        given |= {"low": low, "high": high, "n_new": rng.choice(("1", "30", "1000", "100000"))}
        given["show"] = rng.choice(("posterior", "posterior", "predictive"))
        if n_classes == 2 and given["metric"] != "prevalence":
            given["prevalence"] = rng.choice(RATES)
    elif page == "two":
        given["rope"] = rng.choice(("0", "0.01", "0.3"))
    else:
        given |= {
            "expected": rng.choice(("0", "1e-6", "0.5", "0.9", "1")),
            "concentration": rng.choice(("", "2.1", "10", "1e6")),
            "width": rng.choice(("0.01", "0.03", "0.1", "0.5", "0.99")),
            "n": rng.choice(("1", "100", "5000", "100000")),
            "power": rng.choice(("0.5", "0.95", "0.999999")),
        }
        if given["metric"] in ("recall", "specificity", "fpr", "fnr"):
            given["prevalence"] = rng.choice(RATES)
    return page, given


def search(n, seed=0):
    """CPU seconds of `n` random forms, in this process."""
    rng, found = random.Random(seed), []
    compute({"page": "one", "values": FIELDS["one"], "errors": {}, "kind": None})
    for _ in range(n):
        page, given = random_form(rng)
        task = {"page": page, "values": FIELDS[page] | given, "errors": {}, "kind": None}
        begin = time.process_time()
        answered = compute(task)["answer"] is not None
        found.append((time.process_time() - begin, answered, page, given))
    found.sort(key=lambda one: -one[0])
    seconds = [one[0] for one in found]
    print(f"{n} random forms, {sum(one[1] for one in found)} of them without problems")
    print(
        f"CPU s: median {seconds[n // 2]:.2f}, 90 % {seconds[n // 10]:.2f}, most {seconds[0]:.2f}"
    )
    for spent, _, page, given in found[:5]:
        lines = given.get("csv", "").count("\n")
        shown = given | ({"csv": f"{lines - 1} rows"} if lines else {})
        print(f"  {spent:.2f} {page} {shown}")


# --------------------------------------------------------------------------------------------------
# Requests


def start():
    """Server as a program, and its place."""
    code = "from skuncertain.app import serve; serve(port=0, open_browser=False)"
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    place = re.search(r"http://(.+):(\d+)/", server.stdout.readline())
    return server, (place[1], int(place[2]))


def ask(place, page="one", **given):
    """Status and seconds of one question."""
    begin = time.monotonic()
    connection = http.client.HTTPConnection(*place, timeout=120)
    try:
        body = json.dumps(FIELDS[page] | given)
        connection.request("POST", f"/answer/{page}", body, HEADERS)
        response = connection.getresponse()
        response.read()
        return response.status, time.monotonic() - begin
    except OSError as error:
        return type(error).__name__, time.monotonic() - begin
    finally:
        connection.close()


def told(name, results):
    seconds = sorted(spent for _, spent in results)
    middle, most = seconds[len(seconds) // 2], seconds[-1]
    statuses = dict(Counter(status for status, _ in results))
    print(f"{name}: {statuses}, seconds: median {middle:.3f}, most {most:.3f}", flush=True)


def waves(place, n):
    """`n` requests, WAVE at a time."""
    begin = time.monotonic()
    with ThreadPoolExecutor(WAVE) as clients:
        results = list(clients.map(lambda k: ask(place, tp=str(k % 97)), range(n)))
    told(f"{n} requests, {WAVE} at a time, {time.monotonic() - begin:.1f} s", results)


def half_open(place, n=100):
    """Requests while `n` clients have connected and say little or nothing."""
    held = [socket.create_connection(place, 60) for _ in range(n)]
    for sock in held[::2]:
        sock.sendall(b"POST /answer/one HTTP/1.1\r\nHost: loc")
    told(f"20 requests beside {n} half-open connections", [ask(place) for _ in range(20)])
    begin, closed = time.monotonic(), 0
    for sock in held:
        with contextlib.suppress(OSError):
            closed += sock.recv(1) == b""
        sock.close()
    print(f"  {closed} of them closed by the server within {time.monotonic() - begin:.1f} s more")


def beside_expensive(place, n=3):
    """Cheap requests while `n` expensive ones run."""
    rows = table(random.Random(0), 20, 2, 5000)
    given = {"source": "rows", "csv": rows, "metric": "f1_macro", "show": "predictive"}
    given |= {"n_new": "100000", "kind": "hdi"}
    over, cheap, expensive = threading.Event(), [], []

    def insist():
        while not over.is_set():
            expensive.append(ask(place, **given))

    with ThreadPoolExecutor(n) as clients:
        running = [clients.submit(insist) for _ in range(n)]
        time.sleep(2.0)
        while len(cheap) < 40:
            cheap.append(ask(place, tp=str(len(cheap))))
            time.sleep(0.1)
        over.set()
        for future in running:
            future.result()
    told(f"cheap requests beside {n} expensive ones", cheap)
    told("  the expensive ones", expensive)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--forms", type=int, default=500)
    args = parser.parse_args()
    server, place = start()
    stop = threading.Timer(SECONDS, server.kill)
    stop.daemon = True
    stop.start()
    try:
        told("first questions", [ask(place) for _ in range(5)])
        waves(place, args.requests)
        half_open(place)
        for _ in range(5):  # all processes are started
            with ThreadPoolExecutor(4) as clients:
                list(clients.map(lambda _: ask(place), range(4)))
        beside_expensive(place)
    finally:
        stop.cancel()
        server.terminate()
        server.wait()
    if args.forms:
        search(args.forms)


if __name__ == "__main__":
    main()
