#!/usr/bin/env python3
"""Makes a Word file of Markdown: make_docx.py IN.md OUT.docx"""
import re
import sys
import zipfile
from xml.sax.saxutils import escape

HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TYPES = HEAD + """<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>
<Override PartName="/word/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/>
</Types>"""
RELATIONS = HEAD + """<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>
</Relationships>"""
OF_DOCUMENT = HEAD + """<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/>
</Relationships>"""


def styles():
    made = ['<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/><w:pPr><w:spacing w:after="120"/></w:pPr>'
            '<w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri"/><w:sz w:val="22"/></w:rPr></w:style>']
    for level, size in enumerate([36, 30, 26, 24, 22, 22], start=1):
        made.append(f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/><w:basedOn w:val="Normal"/>'
                    f'<w:pPr><w:keepNext/><w:spacing w:before="240" w:after="120"/><w:outlineLvl w:val="{level - 1}"/></w:pPr>'
                    f'<w:rPr><w:b/><w:sz w:val="{size}"/></w:rPr></w:style>')
    made.append('<w:style w:type="paragraph" w:styleId="ListParagraph"><w:name w:val="List Paragraph"/><w:basedOn w:val="Normal"/>'
                '<w:pPr><w:ind w:left="360" w:hanging="360"/></w:pPr></w:style>')
    return f'{HEAD}<w:styles {W}>{"".join(made)}</w:styles>'


MARKED = re.compile(r"\*\*(?P<b>.+?)\*\*|(?<![\w*])(?:\*(?P<i>[^\s*](?:[^*]*[^\s*])?)\*|_(?P<u>[^\s_](?:[^_]*[^\s_])?)_)(?!\w)")


def runs(text):
    made, at = [], 0
    for mark in MARKED.finditer(text):
        made += run(text[at:mark.start()], ""), run(mark["b"] or mark["i"] or mark["u"], "b" if mark["b"] else "i")
        at = mark.end()
    return "".join([*made, run(text[at:], "")])


def run(text, look):
    look = f"<w:rPr><w:{look}/></w:rPr>" if look else ""
    return f'<w:r>{look}<w:t xml:space="preserve">{escape(clean(text))}</w:t></w:r>' if text else ""


def clean(text):
    """XML has no place for control characters."""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "", text)


def paragraph(text, style=None):
    kind = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{kind}{runs(text)}</w:p>"


def cells(line):
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def table(lines):
    rows = [cells(line) for line in lines if not re.fullmatch(r"[|\s:-]+", line)]
    edge = "".join(f'<w:{side} w:val="single" w:sz="4" w:color="999999"/>' for side in ["top", "left", "bottom", "right", "insideH", "insideV"])
    made = [f'<w:tbl><w:tblPr><w:tblW w:w="0" w:type="auto"/><w:tblBorders>{edge}</w:tblBorders></w:tblPr>']
    width = max(len(row) for row in rows)
    for number, row in enumerate(rows):
        filled = row + [""] * (width - len(row))
        made.append("<w:tr>" + "".join(f"<w:tc>{paragraph('**' + cell + '**' if number == 0 and cell else cell)}</w:tc>" for cell in filled) + "</w:tr>")
    return "".join(made) + "</w:tbl>" + paragraph("")


def body(text):
    made, rows, said = [], [], []

    def flush():
        if said:
            made.append(paragraph(" ".join(said)))
            said.clear()
        if rows:
            made.append(table(rows))
            rows.clear()

    for line in text.splitlines():
        stripped = line.strip()
        heading = re.match(r"(#{1,6})\s+(.*)", stripped)
        item = re.match(r"(?:[-*+]|(\d+[.)]))\s+(.*)", stripped)
        if stripped.startswith("|"):
            if said:
                flush()
            rows.append(stripped)
            continue
        if not stripped or heading or item or rows:
            flush()
        if heading:
            made.append(paragraph(heading[2], f"Heading{len(heading[1])}"))
        elif item:
            made.append(paragraph(f"{item[1] or '•'} {item[2]}", "ListParagraph"))
        elif stripped:
            said.append(stripped)
    flush()
    return "".join(made)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    document = f"{HEAD}<w:document {W}><w:body>{body(text)}<w:sectPr><w:pgSz w:w=\"11906\" w:h=\"16838\"/></w:sectPr></w:body></w:document>"
    files = {"[Content_Types].xml": TYPES, "_rels/.rels": RELATIONS, "word/_rels/document.xml.rels": OF_DOCUMENT,
             "word/styles.xml": styles(), "word/document.xml": document}
    with zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    print(f"made {sys.argv[2]}")


main()
