"""Reads the text of Word files: paragraphs as lines, headings with #, rows of tables with |."""

import re

from document_text import Lines
from office_document import Stop, parse_xml, relations

OFF = {"0", "false", "off", "none"}


class WordDocument:
    """One text, without pages: those are made when it is printed."""

    kind, unit, names, count = "Word document", "part", (), 1

    def __init__(self, archive, part):
        self.archive, self.part, self.notes = archive, part, []

    def read(self, _page, window):
        window.begin(1)
        lines = Lines(window)
        parse(self.archive, self.part, WordReader(lines))
        related = {kind: target for target, kind in relations(self.archive, self.part).values()}
        for kind, words in (("footnotes", "Footnotes"), ("endnotes", "Endnotes"), ("comments", "Comments")):
            target = related.get(kind)
            if target and self.archive.has(target) and not window.is_full:
                reader = WordReader(lines, heading=f"\n{words}:")
                parse(self.archive, target, reader)


def parse(archive, part, reader):
    parse_xml(archive, part, reader.start, reader.end, reader.text)


class WordReader:
    """Follows the elements of a text. What was deleted is left out; what is set hidden is marked as such."""

    def __init__(self, lines, heading=None):
        self.lines, self.heading = lines, heading
        # Paragraphs that are open, each with what it begins with: a frame with text may stand in another one.
        self.paragraphs = []
        # What the next paragraph begins with: the number of a note.
        self.mark = ""
        # Elements that are there a second time, for older programs.
        self.doubles = 0
        # Cells of the rows that are open: a table may stand in a cell of another one.
        self.rows, self.cells = [], []
        self.in_text = self.is_hidden = False

    def start(self, tag, attributes):
        if self.doubles or tag == "Fallback":
            self.doubles += 1
            return
        value = attributes.get("val", "")
        if tag == "t":
            self.in_text = True
        elif tag == "p":
            self.paragraphs.append([self.mark, []])
            self.mark = ""
        elif tag == "r":
            self.is_hidden = False
        elif tag == "vanish":
            self.is_hidden = value.lower() not in OFF
        elif tag == "pStyle":
            found = re.fullmatch(r"(?i)(?:heading|berschrift|titre)\s*([1-6])", value)
            if found or value.lower() == "title":
                self.begin_with("#" * int(found[1] if found else 1) + " ")
        elif tag == "numPr":
            self.begin_with("- ")
        elif tag in ("tab", "ptab"):
            self.add("\t")
        elif tag in ("br", "cr"):
            self.add("\n")
        elif tag in ("footnote", "endnote", "comment"):
            self.note(attributes)
        elif tag in ("footnoteReference", "endnoteReference", "commentReference"):
            self.add(f"[{attributes.get('id', '')}]")
        elif tag == "docPr" and attributes.get("descr"):
            self.add(f"[picture: {attributes['descr'][:300]}]")
        elif tag == "tr":
            self.rows.append([])
        elif tag == "tc":
            self.cells.append([])

    def text(self, characters):
        if self.in_text:
            self.add(f"[hidden: {characters}]" if self.is_hidden else characters)

    def end(self, tag):
        if self.doubles:
            self.doubles -= 1
        elif tag == "t":
            self.in_text = False
        elif tag == "p":
            self.end_paragraph()
        elif tag == "tc" and self.cells and self.rows:
            self.rows[-1].append(" ".join(self.cells.pop()).replace("\n", " "))
        elif tag == "tr" and self.rows:
            row = "| " + " | ".join(self.rows.pop()) + " |"
            if self.cells:
                self.cells[-1].append(row)
            else:
                self.write(row)

    def begin_with(self, prefix):
        if self.paragraphs:
            self.paragraphs[-1][0] = self.paragraphs[-1][0] or prefix

    def add(self, text):
        if self.paragraphs and len(self.paragraphs[-1][1]) < 20_000:
            self.paragraphs[-1][1].append(text)

    def note(self, attributes):
        if attributes.get("type") in ("separator", "continuationSeparator"):
            return
        author = f" {attributes['author'][:60]}:" if attributes.get("author") else ""
        self.mark = f"[{attributes.get('id', '')}]{author} "

    def end_paragraph(self):
        prefix, pieces = self.paragraphs.pop() if self.paragraphs else ("", [])
        text = "".join(pieces)
        if self.cells:
            if len(self.cells[-1]) < 2_000:
                self.cells[-1].append(text)
        elif self.heading is None or text.strip():
            self.write(prefix + text)

    def write(self, text):
        for line in [text] if self.heading is None else [self.heading, text]:
            self.lines.write(line)
            self.lines.end_line()
        self.heading = None
        if self.lines.window.is_full:
            raise Stop
