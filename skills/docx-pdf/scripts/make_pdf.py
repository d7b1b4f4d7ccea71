#!/usr/bin/env python3
"""Makes a PDF of Markdown or plain text: make_pdf.py IN.md OUT.pdf (A4, letters of Western Europe)"""
import re
import sys

WIDTH, HEIGHT, MARGIN = 595, 842, 64
# Widths of Helvetica, in thousandths of its size, for letters that are not about 556 wide.
NARROW = {**dict.fromkeys("ijl'|", 222), **dict.fromkeys("ft/\\I.,:;!()[] -", 278), **dict.fromkeys('r"', 345), **dict.fromkeys("cksvxyzJ", 500)}
WIDE = {**dict.fromkeys("ABEKPSVXY&", 667), **dict.fromkeys("CDHNRUw", 722), **dict.fromkeys("GOQ", 778), **dict.fromkeys("mM", 833), "W": 944, "@": 1015}


def width_of(text, size, bold):
    units = sum(NARROW.get(letter, WIDE.get(letter, 556)) for letter in text)
    return units * size / 1000 * (1.08 if bold else 1)


def wrap(text, size, bold, room):
    lines, line = [], ""
    for word in text.split():
        while width_of(word, size, bold) > room:
            fits = next(count for count in range(len(word), 0, -1) if count == 1 or width_of(word[:count], size, bold) <= room)
            lines.append((line + " " + word[:fits]).strip() if not line else line)
            word, line = (word[fits:], "") if not line else (word, "")
        longer = f"{line} {word}".strip()
        if width_of(longer, size, bold) > room:
            lines.append(line)
            longer = word
        line = longer
    return lines + [line] if line else lines


def blocks(text):
    """Yields (text, size, bold, indent, space before)."""
    said = []

    def flush():
        if said:
            yield " ".join(said), 11, False, 0, 6
            said.clear()

    for raw in text.splitlines():
        line = re.sub(r"\*\*(.+?)\*\*", r"\1", raw.strip())
        line = re.sub(r"(?<![\w*])([*_])([^\s*_](?:[^*_]*[^\s*_])?)\1(?!\w)", r"\2", line)
        heading = re.match(r"(#{1,6})\s+(.*)", line)
        item = re.match(r"(?:[-*+]|(\d+[.)]))\s+(.*)", line)
        if heading or item or not line or line.startswith("|"):
            yield from flush()
        if heading:
            yield heading[2], {1: 20, 2: 16, 3: 13}.get(len(heading[1]), 11), True, 0, 14
        elif item:
            yield f"{item[1] or chr(0x2022)} {item[2]}", 11, False, 14, 3
        elif line.startswith("|"):
            if not re.fullmatch(r"[|\s:-]+", line):
                yield line.strip("| ").replace("|", "   "), 11, False, 0, 2
        elif line:
            said.append(line)
    yield from flush()


def encode(text):
    try:
        return text.encode("cp1252")
    except UnicodeEncodeError as error:
        sys.exit(f"{text[error.start]!r} cannot be written with this font. Make a Word file instead: make_docx.py")


def page_streams(text):
    pages, page, y = [], [], HEIGHT - MARGIN
    for said, size, bold, indent, space in blocks(text):
        y -= space
        for line in wrap(said, size, bold, WIDTH - 2 * MARGIN - indent):
            if y - size < MARGIN:
                pages.append(page)
                page, y = [], HEIGHT - MARGIN
            y -= size * 1.35
            escaped = re.sub(rb"([\\()])", rb"\\\1", encode(line))
            page.append(b"BT /%s %d Tf %d %.1f Td (%s) Tj ET" % (b"F2" if bold else b"F1", size, MARGIN + indent, y, escaped))
    return [b"\n".join(lines) for lines in [*pages, page]]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        streams = page_streams(file.read().replace("\t", "    "))
    fonts = [b"<< /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding /WinAnsiEncoding >>" % name for name in [b"Helvetica", b"Helvetica-Bold"]]
    first = 5
    kids = b" ".join(b"%d 0 R" % (first + 2 * index) for index in range(len(streams)))
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(streams)), *fonts]
    for index, stream in enumerate(streams):
        objects.append(b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents %d 0 R /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>"
                       % (WIDTH, HEIGHT, first + 2 * index + 1))
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    out, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1, table, len(objects) + 1, len(out))
    with open(sys.argv[2], "wb") as file:
        file.write(out)
    print(f"made {sys.argv[2]}: pages {len(streams)}")


main()
