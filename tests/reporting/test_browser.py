"""Reports as HTML in a real browser."""

import functools
import http.server
import json
import subprocess
import threading

import html5lib
import pytest

from html_cases import KINDS, LONG, PLAIN, report_of, text_of

# --------------------------------------------------------------------------------------------------
# In a browser


class Site(http.server.SimpleHTTPRequestHandler):
    """Serves a directory and remembers what was asked for."""

    def do_GET(self):
        self.server.asked.append(self.path)
        super().do_GET()

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Local server of an empty directory."""
    folder = tmp_path_factory.mktemp("site")
    handler = functools.partial(Site, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.asked, server.folder = [], folder
        server.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browse(chromium, tmp_path_factory):
    """Open an address in a real browser and return the document as it then is."""
    profile = tmp_path_factory.mktemp("profile")

    def run(address):
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        options += ["--disable-background-networking", "--disable-component-update"]
        options += ["--disable-sync", f"--user-data-dir={profile}"]
        options += ["--virtual-time-budget=2000", "--dump-dom", address]
        done = subprocess.run([chromium, *options], capture_output=True, timeout=60, check=True)
        return html5lib.parse(done.stdout.decode("utf-8"), namespaceHTMLElements=False)

    return run


def attack(address):
    """Names that change the title and call home, each in another way."""
    act = f"document.title='hacked';new Image().src='{address}/leak'"
    return (
        f"<script>{act}</script>",
        "<script>alert(1)</script>",
        f'<img src="{address}/leak" onerror="{act}">',
        f'" onload="{act}" style="background:url({address}/leak)',
        f"</title></style><script>{act}</script><link rel=stylesheet href={address}/leak>",
        f"<svg onload=\"{act}\"><iframe src='{address}/leak'></iframe>",
    )


@pytest.mark.parametrize("kind", ["classification", "cross-validation", "counts search"])
def test_saved_page_in_a_browser(browse, site, kind):
    """Classes, models and parameters, from a file as a colleague would open it."""
    names = attack(site.url)
    report = report_of(kind, names)
    site.asked.clear()
    tree = browse(report.save(site.folder / "report.html").as_uri())
    assert tree.find("head/title").text == report.to_dict()["title"]
    used = names[:2] if kind == "cross-validation" else names
    for name in used:
        assert name in text_of(tree.find("body"))
    assert not list(tree.iter("script"))
    assert site.asked == []


def test_the_browser_would_see_an_attack(browse, site):
    """The same harness, on a page that does not defend itself."""
    names = attack(site.url)
    page = f"<!DOCTYPE html><title>Control</title>{names[0]}{names[2]}"
    site.asked.clear()
    (site.folder / "control.html").write_text(page, encoding="utf-8")
    tree = browse((site.folder / "control.html").as_uri())
    assert tree.find("head/title").text == "hacked"
    assert "/leak" in site.asked


# A window of Chromium has 500 pixels at least; a frame may have any width.
LOOK = """<!DOCTYPE html><meta charset="utf-8"><title>frames</title>
<style>iframe { width: 360px; height: 800px; border: 0 }</style>
FRAMES
<pre id="result"></pre>
<script>
addEventListener("load", () => {
  const found = {};
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument, root = page.documentElement;
    for (const details of page.querySelectorAll("details")) details.open = true;
    found[frame.id] = {
      title: page.title, text: page.body.textContent,
      width: root.clientWidth, needed: Math.max(root.scrollWidth, page.body.scrollWidth),
    };
  }
  document.getElementById("result").textContent = JSON.stringify(found);
});
</script>
"""


@pytest.fixture(scope="module")
def phone(browse, site):
    """What a browser says of all kinds of reports with all kinds of names on 360 pixels."""
    sets = {"plain": PLAIN, "long": LONG, "evil": attack(site.url)}
    reports = {
        f"{kind}, {name}": report_of(kind, names) for kind in KINDS for name, names in sets.items()
    }
    pages = {name: report.to_html() for name, report in reports.items()}
    pages["control"] = (
        "<!DOCTYPE html><title>Control</title><style>body { margin: 0 } p { width: 400px }</style>"
        f"<p>wide</p><script>document.title = 'hacked'</script><img src='{site.url}/control'>"
    )
    frames = []
    for k, (name, page) in enumerate(pages.items()):
        (site.folder / f"{k}.html").write_text(page, encoding="utf-8")
        frames.append(f'<iframe id="{name}" src="{k}.html"></iframe>')
    text = LOOK.replace("FRAMES", "\n".join(frames))
    (site.folder / "index.html").write_text(text, encoding="utf-8")
    site.asked.clear()
    tree = browse(f"{site.url}/index.html")
    found = json.loads(next(tree.iter("pre")).text)
    control = found.pop("control")
    assert (control["title"], control["width"], control["needed"]) == ("hacked", 360, 400)
    assert set(found) == set(reports)
    return found, reports, site.asked.copy()


def test_all_kinds_in_a_browser(phone):
    found, reports, asked = phone
    for name, page in found.items():
        summary = reports[name].to_dict()
        assert page["title"] == summary["title"]
        assert summary["question"] in page["text"]
    assert "/control" in asked
    assert not [path for path in asked if "leak" in path]


def test_no_page_scrolls_sideways_on_a_phone(phone):
    for name, page in phone[0].items():
        assert 340 <= page["width"] <= 360  # there may be a bar to scroll down
        assert page["needed"] <= page["width"], name
