"""Look through built pages: links that lead nowhere, and anything that needs a network.

Run: python tools/check_html.py docs/_build/html
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes whose target a browser fetches by itself.
FETCHED = {
    ("img", "src"),
    ("script", "src"),
    ("link", "href"),
    ("iframe", "src"),
    ("source", "src"),
}
# Relations of <link> that are addresses only.
NOT_FETCHED = {"canonical", "index", "search", "next", "prev", "author", "license"}


class Page(HTMLParser):
    """Anchors of a page, and what it refers to."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.fetched = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Collect."""
        found = dict(attrs)
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        for name in ("href", "src"):
            target = found.get(name)
            if not target:
                continue
            line = self.getpos()[0]
            relations = set((found.get("rel") or "").split())
            if (tag, name) in FETCHED and not relations & NOT_FETCHED:
                self.fetched.append((line, target))
            self.links.append((line, target))


def problems(directory):
    """Number of pages, and a text for every link that leads nowhere or fetches from elsewhere."""
    directory = Path(directory).resolve()
    paths = [path for path in sorted(directory.rglob("*.html")) if "_static" not in path.parts]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}
    found = []
    for path, page in pages.items():
        where = path.relative_to(directory)
        for line, target in page.fetched:
            if urlsplit(target).netloc:
                found.append(f"{where}:{line}: needs a network: {target}")
        for line, target in page.links:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            goal = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            if goal.is_dir():
                goal /= "index.html"
            if not goal.exists():
                found.append(f"{where}:{line}: there is no {target}")
            elif parts.fragment and goal in pages:
                anchor = unquote(parts.fragment)
                if anchor not in pages[goal].anchors:
                    found.append(f"{where}:{line}: there is no place {target}")
    return len(pages), found


def main(directory):
    """Print what is wrong; the exit code says whether anything is."""
    number, found = problems(directory)
    for text in found:
        print(text)
    print(f"{number} pages, {len(found)} problems.")
    return int(bool(found) or number == 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
