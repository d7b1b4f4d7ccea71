"""What all kinds of documents are read with: words for what cannot be read, and the part of a text that is asked for."""

MOST_LINE = 4000
# What saying which page it is takes of the room for characters.
PAGE_COST = 60


class Refusal(Exception):
    """Says why a document cannot be read, for the model: the end of a sentence."""


class Window:
    """The lines that are asked for: of the first page from a line on, and of the pages that follow, as far as there is room."""

    def __init__(self, page, first, lines, chars):
        self.first_page, self.first_line = page, first
        self.lines_left, self.chars_left = lines, chars
        self.page = page
        self.pages = []
        self.next = None
        # Lines of the first page before the first one that is wanted.
        self.skipped = 0

    @property
    def is_full(self):
        return self.next is not None

    def begin(self, page):
        """A page, or whatever the document has instead."""
        self.page = page
        self.chars_left -= PAGE_COST
        if self.pages and (self.chars_left < 0 or self.lines_left == 0):
            self.next = self.next or {"page": page, "line": 1}
        else:
            self.pages.append({"page": page, "lines": []})

    def add(self, number, text):
        """The next line of the page. Numbers grow, and need not be without gaps."""
        if self.is_full:
            return
        if self.page == self.first_page and number < self.first_line:
            self.skipped = number
            return
        lines = self.pages[-1]["lines"]
        if not text.strip() and (not lines or lines[-1][1] == ""):
            return
        if len(text) > MOST_LINE:
            text = f"{text[:MOST_LINE]} [… {len(text) - MOST_LINE} characters more]"
        # With its number and its end.
        cost = len(text) + 8
        if self.lines_left == 0 or cost > self.chars_left:
            self.next = {"page": self.page, "line": number}
            return
        self.lines_left -= 1
        self.chars_left -= cost
        lines.append([number, text])

    def result(self):
        for page in self.pages:
            if page["lines"] and page["lines"][-1][1] == "":
                page["lines"].pop()
        return {"pages": self.pages, "next": self.next, "skipped": self.skipped}


class Lines:
    """Writes text into a window that comes in pieces, line by line. What is too long for a line is dropped as it comes."""

    def __init__(self, window):
        self.window = window
        self.number = 0
        self.pieces, self.length = [], 0

    def write(self, text):
        room = 2 * MOST_LINE - self.length
        if room > 0 and text:
            self.pieces.append(text[:room])
        self.length += len(text)

    def end_line(self):
        text = "".join(self.pieces)
        self.pieces, self.length = [], 0
        for line in text.split("\n"):
            self.number += 1
            self.window.add(self.number, line.rstrip())
