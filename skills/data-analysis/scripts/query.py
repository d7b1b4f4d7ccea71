#!/usr/bin/env python3
"""Asks tables in SQL: query.py FILE [FILE…] "select … from data" [--csv]"""
import csv
import sqlite3
import sys

sys.dont_write_bytecode = True
from tables import number, read  # noqa: E402

MOST_LINES = 1_000


def main():
    args = [arg for arg in sys.argv[1:] if arg != "--csv"]
    if len(args) < 2:
        sys.exit(__doc__)
    *files, query = args
    try:
        database = opened(files)
        database.execute("pragma query_only = on")
        answer = database.execute(query)
    except sqlite3.Error as error:
        sys.exit(f"the query failed: {error}")
    if answer.description is None:
        sys.exit("the query has no result: begin it with select")
    heads = [column[0] for column in answer.description]
    rows = answer.fetchmany(MOST_LINES + 1)
    show(heads, rows[:MOST_LINES], "--csv" in sys.argv)
    if len(rows) > MOST_LINES:
        print(f"… cut after {MOST_LINES} lines", file=sys.stderr)


def opened(files):
    with open(files[0], "rb") as file:
        if file.read(16) == b"SQLite format 3\0":
            return sqlite3.connect(f"file:{files[0]}?mode=ro", uri=True)
    database = sqlite3.connect(":memory:")
    for index, path in enumerate(files, start=1):
        names, rows = read(path)
        table = "data" if len(files) == 1 else f"data{index}"
        database.execute(f"create table {table} ({', '.join(quoted(name) for name in names)})")
        marks = ", ".join("?" * len(names))
        database.executemany(f"insert into {table} values ({marks})", ([value(cell) for cell in row] for row in rows))
    return database


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def value(cell):
    found = number(cell)
    return None if cell == "" else cell if found is None else found


def show(heads, rows, as_csv):
    if as_csv:
        csv.writer(sys.stdout, lineterminator="\n").writerows([heads, *rows])
        return
    lines = [[("" if cell is None else str(cell)) for cell in row] for row in [heads, *rows]]
    widths = [min(60, max(len(line[index]) for line in lines)) for index in range(len(heads))]
    for line in lines:
        print("  ".join(cell[:60].ljust(width) for cell, width in zip(line, widths)).rstrip())


main()
