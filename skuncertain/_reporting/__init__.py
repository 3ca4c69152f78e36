"""One summary, many renderings: text, Markdown, HTML, JSON, CSV, DataFrame.

A result fills an :class:`IntervalReport`; the renderers do not know where the numbers came from.
"""

# The command line needs these before numpy is there.
FORMATS = {
    "text": "__str__",
    "markdown": "to_markdown",
    "json": "to_json",
    "csv": "to_csv",
    "html": "to_html",
}
SUFFIXES = {
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".json": "json",
    ".csv": "csv",
    ".txt": "text",
}
