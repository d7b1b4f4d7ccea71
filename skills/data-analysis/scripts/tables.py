"""Reads a file of data as a table."""
import csv
import json
import re
import sys

csv.field_size_limit(10 * 1024 * 1024)
MOST_ROWS = 2_000_000


def read(path):
    """Names of the columns, and the rows as texts; an empty text is a missing value."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return read_json(file) if re.search(r"\.(jsonl?|ndjson)$", path) else read_csv(file, path)
    except (OSError, UnicodeDecodeError, csv.Error, ValueError) as error:
        sys.exit(f"{path} cannot be read as a table: {error}")


def read_csv(file, path):
    sample = file.read(64 * 1024)
    file.seek(0)
    first = sample.split("\n", 1)[0]
    delimiter = "\t" if path.endswith(".tsv") else max(",;\t|", key=first.count)
    rows = csv.reader(file, delimiter=delimiter)
    names = columns(next(rows, []))
    return names, [fit(row, len(names)) for row in limited(rows) if row]


def read_json(file):
    text = file.read()
    records = json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in text.splitlines() if line.strip()]
    keys = list(dict.fromkeys(key for record in records for key in record))
    return columns(keys), [[said(record.get(key)) for key in keys] for record in limited(records)]


def said(value):
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def limited(rows):
    for number, row in enumerate(rows):
        if number >= MOST_ROWS:
            sys.exit(f"there are more than {MOST_ROWS} rows: split the file")
        yield row


def fit(row, width):
    return [cell.strip() for cell in (row + [""] * width)[:width]]


def columns(heads):
    names = []
    for number, head in enumerate(heads, start=1):
        name = re.sub(r"\W+", "_", head.strip()).strip("_").lower() or f"column_{number}"
        while name in names:
            name += "_"
        names.append(name)
    if not names:
        raise ValueError("it has no first line with the names of its columns")
    return names


def number(text):
    """The number that a text stands for, or None: 1234, -1.5, 1,234.50, 12 %."""
    plain = text.replace(" ", "").removesuffix("%")
    if re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?", plain):
        plain = plain.replace(",", "")
    if not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", plain):
        return None
    # A leading zero is part of a code, such as that of a place.
    if re.match(r"[-+]?0\d", plain):
        return None
    return float(plain) if re.search(r"[.eE]", plain) else int(plain)
