"""Reads the text of EPUBs, in the order of the book: each of its files is a chapter."""

from html.parser import HTMLParser

from document_text import Lines, Refusal
from office_document import Stop, parse_xml, resolve

BLOCKS = {
    *("address article aside blockquote body br caption center dd details div dl dt fieldset figcaption figure footer".split()),
    *("form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody tfoot thead tr ul".split()),
}
LEFT_OUT = {"head", "script", "style", "svg", "math", "template"}
EMPTY = {"br", "hr", "img", "link", "meta", "input", "col", "wbr"}


class EpubDocument:
    kind, unit = "EPUB", "chapter"

    def __init__(self, archive):
        self.archive, self.notes = archive, []
        package = self.find_package()
        files, order, titles = {}, [], []

        def start(tag, attributes):
            if tag == "item":
                files[attributes.get("id", "")] = resolve(package, attributes.get("href", ""))
            elif tag == "itemref":
                order.append(attributes.get("idref", ""))

        parse_xml(archive, package, start)
        self.parts = [files[id] for id in order if id in files and archive.has(files[id])]
        self.count, self.names = len(self.parts), titles
        if self.count == 0:
            raise Refusal("it is damaged: it has no chapters")
        if self.parts[0] in self.protected():
            raise Refusal("it is encrypted (copy protection)")

    def find_package(self):
        found = []

        def start(tag, attributes):
            if tag == "rootfile":
                found.append(attributes.get("full-path", ""))

        parse_xml(self.archive, "META-INF/container.xml", start)
        if not found:
            raise Refusal("it is damaged: it does not say where its contents are")
        return found[0]

    def protected(self):
        found = set()

        def start(tag, attributes):
            if tag == "CipherReference":
                found.add(resolve("", attributes.get("URI", "")))

        if self.archive.has("META-INF/encryption.xml"):
            parse_xml(self.archive, "META-INF/encryption.xml", start)
        return found

    def read(self, page, window):
        for number in range(page, self.count + 1):
            window.begin(number)
            if window.is_full:
                return
            reader = ChapterReader(Lines(window))
            try:
                for text in decoded(self.archive.chunks(self.parts[number - 1])):
                    reader.feed(text)
                reader.close()
                reader.end_block()
            except Stop:
                return


def decoded(chunks):
    """Text in pieces; a character may lie across two of them."""
    from codecs import getincrementaldecoder

    decoder = None
    for chunk in chunks:
        if decoder is None:
            name = "utf-16" if chunk[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
            decoder = getincrementaldecoder(name)("replace")
        yield decoder.decode(chunk)


class ChapterReader(HTMLParser):
    """Takes pages as they are, valid or not; nothing that they refer to is looked for."""

    def __init__(self, lines):
        super().__init__(convert_charrefs=True)
        self.lines = lines
        self.pieces, self.prefix = [], ""
        self.left_out = []
        self.in_pre = False

    def handle_starttag(self, tag, attributes):
        if self.left_out or tag in LEFT_OUT:
            if tag not in EMPTY and len(self.left_out) < 10_000:
                self.left_out.append(tag)
            return
        if tag in BLOCKS:
            self.end_block()
        if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self.prefix = "#" * int(tag[1]) + " "
        elif tag == "li":
            self.prefix = "- "
        elif tag in ("td", "th"):
            self.pieces.append(" | ")
        elif tag == "pre":
            self.in_pre = True
        elif tag == "img":
            alt = dict(attributes).get("alt")
            self.pieces.append(f"[picture: {alt[:300]}]" if alt else "")

    def handle_startendtag(self, tag, attributes):
        if not self.left_out and tag not in LEFT_OUT:
            self.handle_starttag(tag, attributes)
            if tag not in EMPTY:
                self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if self.left_out:
            if tag in self.left_out:
                del self.left_out[self.left_out.index(tag) :]
            return
        if tag in BLOCKS:
            self.end_block()
        if tag == "pre":
            self.in_pre = False

    def handle_data(self, data):
        if not self.left_out and len(self.pieces) < 20_000:
            self.pieces.append(data)

    def end_block(self):
        text = "".join(self.pieces)
        text = text.strip("\n") if self.in_pre else " ".join(text.split())
        self.pieces = []
        if text == "":
            return
        self.lines.write(self.prefix + text)
        self.lines.end_line()
        self.prefix = ""
        if self.lines.window.is_full:
            raise Stop
