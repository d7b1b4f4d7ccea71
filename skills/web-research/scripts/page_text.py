#!/usr/bin/env python3
"""Prints the text of a web page: page_text.py FILE.html"""
import re
import sys
from html.parser import HTMLParser

SKIPPED = {"script", "style", "noscript", "template", "svg", "head"}
BLOCKS = {"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "table", "ul", "ol", "pre", "blockquote"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.text, self.skipped, self.title = [], 0, ""
        self.in_title = False

    def handle_starttag(self, tag, attributes):
        if tag in SKIPPED:
            self.skipped += 1
        if tag == "title":
            self.in_title = True
        if tag in BLOCKS:
            self.text.append("\n")
        if re.fullmatch(r"h[1-6]", tag):
            self.text.append("#" * int(tag[1]) + " ")
        if tag == "li":
            self.text.append("- ")
        if tag in ("td", "th"):
            self.text.append(" | ")

    def handle_endtag(self, tag):
        if tag in SKIPPED and self.skipped > 0:
            self.skipped -= 1
        if tag == "title":
            self.in_title = False
        if tag in BLOCKS:
            self.text.append("\n")

    def handle_data(self, data):
        if self.in_title:
            self.title += data
        elif not self.skipped:
            self.text.append(re.sub(r"\s+", " ", data))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as file:
        raw = file.read(10 * 1024 * 1024)
    found = re.search(rb"charset=[\"']?([\w-]+)", raw[:4096])
    try:
        text = raw.decode(found[1].decode() if found else "utf-8", errors="replace")
    except LookupError:
        text = raw.decode("utf-8", errors="replace")
    page = Page()
    page.feed(text)
    if page.title.strip():
        print(f"# {page.title.strip()}\n")
    body = re.sub(r"[ \t]*\n[ \t]*", "\n", "".join(page.text))
    print(re.sub(r"\n{3,}", "\n\n", body).strip())


main()
