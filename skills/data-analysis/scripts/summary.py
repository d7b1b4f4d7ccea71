#!/usr/bin/env python3
"""Says what is in a table: summary.py FILE (CSV, TSV, JSON lines)"""
import collections
import re
import statistics
import sys

sys.dont_write_bytecode = True
from tables import number, read  # noqa: E402


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    names, rows = read(sys.argv[1])
    doubles = len(rows) - len({tuple(row) for row in rows})
    print(f"rows {len(rows)}, columns {len(names)}, rows that are there twice {doubles}")
    for index, name in enumerate(names):
        values = [row[index] for row in rows if row[index] != ""]
        print(f"\n{name}: {kind_of(values)}, missing {len(rows) - len(values)}, different {len(set(values))}")
        numbers = [found for found in map(number, values) if found is not None]
        if numbers and len(numbers) >= 0.9 * len(values):
            print(f"  smallest {min(numbers)}, largest {max(numbers)}, mean {statistics.fmean(numbers):.6g}, median {statistics.median(numbers):.6g}, sum {sum(numbers):.12g}")
            if len(numbers) < len(values):
                print(f"  no numbers: {[value for value in values if number(value) is None][:5]}")
        else:
            often = collections.Counter(values).most_common(5)
            print("  " + ", ".join(f"{value[:60]!r} {count}×" for value, count in often))


def kind_of(values):
    if not values:
        return "empty"
    if all(number(value) is not None for value in values):
        return "numbers"
    if all(re.match(r"\d{4}-\d\d-\d\d", value) for value in values):
        return "dates"
    return "text"


main()
