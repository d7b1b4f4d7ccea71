"""Reads the text of PowerPoint files, slide by slide."""

from document_text import Lines
from office_document import Stop, parse_xml, relations


class SlidesDocument:
    kind, unit, names = "presentation", "slide", ()

    def __init__(self, archive, part):
        self.archive, self.notes = archive, []
        ids, known = [], relations(archive, part)

        def start(tag, attributes):
            if tag == "sldId":
                # Both the number and the reference are called id; the latter is no number.
                ids.append(attributes.get("id", ""))

        parse_xml(archive, part, start)
        self.parts = [known[id][0] for id in ids if id in known]
        self.count = len(self.parts)

    def read(self, page, window):
        for number in range(page, self.count + 1):
            window.begin(number)
            if window.is_full:
                return
            self.read_text(self.parts[number - 1], Lines(window))

    def read_text(self, part, lines):
        in_text = False

        def start(tag, _attributes):
            nonlocal in_text
            in_text = tag == "t"
            if tag == "br":
                lines.write("\n")

        def end(tag):
            nonlocal in_text
            in_text = False
            if tag == "p":
                lines.end_line()
                if lines.window.is_full:
                    raise Stop

        parse_xml(self.archive, part, start, end, lambda text: lines.write(text) if in_text else None)
