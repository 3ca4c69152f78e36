"""A report as plain text and as Markdown."""

from skuncertain._reporting.text import clean, for_spreadsheet, table_texts, text_width

_TEXT_ROWS = 20  # of a table that is sorted, best first


def plain_text(summary, aside="Also in to_html(), to_markdown() and to_dict()"):
    """Report as plain text; `aside` says where the tables are that do not fit in."""
    title, settings = clean(summary["title"]), summary["settings"]["shown"]
    width = max(text_width(name) for name, _ in settings)
    blocks = [
        [title, "=" * text_width(title)],
        [f"{_pad(name, width)}  {clean(text)}" for name, text in settings],
        [f"Question: {clean(summary['question'])}"],
    ]
    tables = summary["sections"].values()
    blocks += [_text_table(table, summary["digits"]) for table in tables if table["in_text"]]
    left_out = [table["title"].lower() for table in tables if not table["in_text"]]
    if left_out:
        blocks.append([f"{aside}: {', '.join(left_out)}"])
    if summary["warnings"]:
        blocks.append(["Warnings", *(f"- {clean(text)}" for text in summary["warnings"])])
    return "\n\n".join("\n".join(block) for block in blocks)


def markdown(summary):
    """Report as Markdown: headings, lists and tables."""
    lines = [f"# {_escaped(summary['title'])}", ""]
    lines += [
        f"- {_escaped(name)}: {_escaped(text)}" for name, text in summary["settings"]["shown"]
    ]
    lines += ["", f"**Question.** {_escaped(summary['question'])}"]
    for section in summary["sections"].values():
        if section["rows"]:
            lines += ["", f"## {_escaped(section['title'])}", ""]
            lines += _markdown_table(section, summary["digits"])
    closing = {"Warnings": summary["warnings"], "How to read this": summary["reading"]}
    for title, texts in closing.items():
        if texts:
            lines += ["", f"## {title}", "", *(f"- {_escaped(text)}" for text in texts)]
    return "\n".join(lines) + "\n"


def _pad(text, width, right=False):
    space = " " * (width - text_width(text))
    return space + text if right else text + space


def _text_table(section, digits):
    header, rows, left_out = table_texts(section, digits, _TEXT_ROWS)
    table = [[clean(title) for title in header], *rows]
    widths = [max(text_width(row[k]) for row in table) for k in range(len(header))]
    lines = [
        "  ".join(
            _pad(text, width, right=k > 0)
            for k, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
    more = [f"... and {left_out} more"] if left_out else []
    return [section["title"], *lines, *more, *(clean(note) for note in section["notes"])]


def _markdown_table(section, digits):
    header, rows, left_out = table_texts(section, digits, _TEXT_ROWS, _escaped)
    lines = [_row(map(_escaped, header)), _row([":--"] + ["--:"] * (len(header) - 1))]
    lines += [_row(row) for row in rows]
    if left_out:
        lines += ["", f"... and {left_out} more"]
    for note in section["notes"]:  # lines without a blank one between them would run together
        lines += ["", _escaped(note)]
    return lines


def _row(texts):
    return "| " + " | ".join(texts) + " |"


def _escaped(text):
    """Text that Markdown shows as it is."""
    text = clean(text)
    first = text.lstrip(" ")[:1]
    formula = first not in ("'", '"') and for_spreadsheet(text).startswith("'")
    for letter in "\\`*_{}[]<>#|~$":
        text = text.replace(letter, "\\" + letter)
    text = text.replace("&", "&amp;")
    if formula:  # Markdown shows it as it is; a spreadsheet computes nothing
        text = text.replace(first, f"\\{first}" if first.isascii() else f"&#{ord(first)};", 1)
    return text
