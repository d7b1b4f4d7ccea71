"""Reads the cells of Excel files, sheet by sheet: a line is a row, its number is that of the row, and a tab is the next column."""

import re
from datetime import datetime, timedelta

from document_text import MOST_LINE, Refusal
from office_document import Stop, parse_xml, relations

MOST_STRINGS = 1_000_000
MOST_STRING_CHARS = 32 * 1024 * 1024
# A gap of more columns is said, not filled.
MOST_TABS = 12
# Numbers of formats of dates and times that every program knows.
DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}


class ExcelDocument:
    kind, unit = "spreadsheet", "sheet"

    def __init__(self, archive, part):
        self.archive, self.notes, self.names, self.parts = archive, [], [], []
        self.related = relations(archive, part)
        self.first_day = datetime(1899, 12, 30)

        def start(tag, attributes):
            if tag == "workbookPr" and attributes.get("date1904", "") in ("1", "true"):
                self.first_day = datetime(1904, 1, 1)
            target = self.related.get(attributes.get("id", ""))
            if tag == "sheet" and target and target[1] == "worksheet":
                is_hidden = attributes.get("state", "visible") != "visible"
                self.names.append(attributes.get("name", "") + (" (hidden)" if is_hidden else ""))
                self.parts.append(target[0])

        parse_xml(archive, part, start)
        self.count = len(self.parts)
        if self.count == 0:
            raise Refusal("it has no sheets with cells")

    def read(self, page, window):
        strings, dates = self.strings(), self.date_styles()
        for number in range(page, self.count + 1):
            window.begin(number)
            if window.is_full:
                return
            reader = SheetReader(window, strings, lambda style, value: self.shown(dates, style, value))
            parse_xml(self.archive, self.parts[number - 1], reader.start, reader.end, reader.text)

    def part_of(self, kind):
        return next((target for target, what in self.related.values() if what == kind and self.archive.has(target)), None)

    def strings(self):
        """Texts stand once in the file, and cells refer to them by number."""
        found, pieces, chars = [], [], 0
        reads = False

        def start(tag, _attributes):
            nonlocal reads
            # Readings of Japanese words are not what is shown.
            reads = tag == "t" and not skips
            if tag == "rPh":
                skips.append(tag)

        def text(characters):
            nonlocal chars
            if reads:
                chars += len(characters)
                if chars > MOST_STRING_CHARS:
                    raise Refusal(f"it has more than {MOST_STRING_CHARS} characters of text")
                pieces.append(characters)

        def end(tag):
            nonlocal reads
            reads = False
            if tag == "rPh" and skips:
                skips.pop()
            if tag == "si":
                found.append("".join(pieces))
                pieces.clear()
                if len(found) > MOST_STRINGS:
                    raise Refusal(f"it has more than {MOST_STRINGS} texts")

        skips = []
        if part := self.part_of("sharedStrings"):
            parse_xml(self.archive, part, start, end, text)
        return found

    def date_styles(self):
        """Of the styles in which a number is shown as a day or a time, their numbers; True: as a length, which has more than 24 hours."""
        own, styles, found = {"46": True}, [], {}

        def start(tag, attributes):
            if tag == "numFmt":
                # Without what is quoted or escaped, and then without colours.
                code = re.sub(r'"[^"]*"|\\.', "", attributes.get("formatCode", "")[:500])
                is_length = re.search(r"\[(h+|m+|s+)\]", code, re.IGNORECASE) is not None
                if is_length or re.search("[dmyhs]", re.sub(r"\[[^\]]*\]", "", code), re.IGNORECASE):
                    own[attributes.get("numFmtId", "")] = is_length
            elif tag == "cellXfs":
                styles.append(0)
            elif tag == "xf" and styles:
                format = attributes.get("numFmtId", "")
                if format in own or (format.isdigit() and len(format) < 4 and int(format) in DATES):
                    found[str(styles[0])] = own.get(format, False)
                styles[0] += 1

        def end(tag):
            if tag == "cellXfs":
                styles.clear()

        if part := self.part_of("styles"):
            parse_xml(self.archive, part, start, end)
        return found

    def shown(self, dates, style, value):
        if style not in dates:
            return value
        try:
            days = float(value)
            if dates[style]:
                return length_of(days)
            when = self.first_day + timedelta(days=days)
        except (ValueError, OverflowError):
            return value
        if when.microsecond >= 500_000:
            when += timedelta(seconds=1)
        when = when.replace(microsecond=0)
        if days < 1:
            return f"{when:%H:%M:%S}"
        return f"{when:%Y-%m-%d}" if days == int(days) else f"{when:%Y-%m-%d %H:%M:%S}"


def length_of(days):
    seconds = round(abs(days) * 86_400)
    sign = "-" if days < 0 else ""
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


class SheetReader:
    """Follows the elements of a sheet and writes a line for each row that has anything in it."""

    def __init__(self, window, strings, shown):
        self.window, self.strings, self.shown = window, strings, shown
        self.row, self.column, self.cells, self.filled, self.length = 0, 0, [], 0, 0
        self.kind = self.style = ""
        self.value, self.formula, self.into = [], [], None

    def start(self, tag, attributes):
        if tag == "row":
            number = attributes.get("r", "")
            self.row = int(number) if number.isdigit() and len(number) < 8 else self.row + 1
            self.column, self.cells, self.filled, self.length = 0, [], 0, 0
        elif tag == "c":
            self.column = column_of(attributes.get("r", "")) or self.column + 1
            self.kind, self.style = attributes.get("t", "n"), attributes.get("s", "")
            self.value, self.formula = [], []
        elif tag in ("v", "t"):
            self.into = self.value
        elif tag == "f":
            self.into = self.formula

    def text(self, characters):
        if self.into is not None and len(self.into) < 10_000:
            self.into.append(characters)

    def end(self, tag):
        if tag in ("v", "t", "f"):
            self.into = None
        elif tag == "c":
            self.end_cell()
        elif tag == "row":
            self.end_row()
        elif tag == "sheetData":
            raise Stop

    def end_cell(self):
        value = "".join(self.value)
        if self.kind == "s":
            value = self.strings[int(value)] if value.isdigit() and len(value) < 9 and int(value) < len(self.strings) else value
        elif self.kind == "b":
            value = "TRUE" if value == "1" else "FALSE"
        elif self.kind == "n" and value:
            value = self.shown(self.style, value)
        if not value and self.formula:
            value = f"={''.join(self.formula)}"
        if not value or self.length > 2 * MOST_LINE:
            return
        gap = self.column - self.filled - 1
        if gap > MOST_TABS:
            value = f"[column {letters_of(self.column)}:] {value}"
            gap = 0
        self.cells += [""] * max(gap, 0)
        self.cells.append(re.sub(r"\s+", " ", value[: 2 * MOST_LINE]))
        self.length += len(value) + gap
        self.filled = self.column

    def end_row(self):
        if self.cells:
            self.window.add(self.row, "\t".join(self.cells))
        if self.window.is_full:
            raise Stop


def column_of(reference):
    """AB12 → 28"""
    letters = re.match("[A-Za-z]{0,3}", reference)[0]
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def letters_of(column):
    text = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text
