"""Tables as text."""


def markdown(header, rows):
    """The table as markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def restructured(header, rows):
    """The table as a csv-table of reStructuredText."""
    quoted = [",".join('"' + str(x).replace('"', '""') + '"' for x in row) for row in rows]
    head = ", ".join(f'"{x}"' for x in header)
    body = "\n".join("   " + line for line in quoted)
    return f".. csv-table::\n   :header: {head}\n\n{body}\n"
