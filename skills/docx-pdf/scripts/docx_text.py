#!/usr/bin/env python3
"""Prints a Word file as Markdown: docx_text.py FILE"""
import re
import sys
import xml.etree.ElementTree as xml
import zipfile

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MOST_BYTES = 50 * 1024 * 1024


def text_of(node):
    parts = []
    for child in node.iter():
        if child.tag == W + "t":
            parts.append(child.text or "")
        elif child.tag == W + "tab":
            parts.append("\t")
        elif child.tag in (W + "br", W + "cr"):
            parts.append("\n")
    return "".join(parts)


def paragraph(node):
    text = text_of(node).strip()
    if not text:
        return ""
    properties = node.find(W + "pPr")
    if properties is None:
        return text
    style = properties.find(W + "pStyle")
    name = (style.get(W + "val") if style is not None else "") or ""
    if name.lower().startswith("heading") and name[-1:].isdigit():
        return "#" * int(name[-1]) + " " + text
    if name.lower() == "title":
        return "# " + text
    if properties.find(W + "numPr") is not None or name.lower().startswith("list"):
        return text if re.match(r"\d+[.)]\s", text) else "- " + text.lstrip("•").strip()
    return text


def table(node):
    rows = [[text_of(cell).strip().replace("\n", " ").replace("|", "\\|") for cell in row.iter(W + "tc")] for row in node.iter(W + "tr")]
    if not rows:
        return ""
    width = max(len(row) for row in rows)
    lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * width] + lines[1:])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        with zipfile.ZipFile(sys.argv[1]) as archive:
            info = archive.getinfo("word/document.xml")
            if info.file_size > MOST_BYTES:
                sys.exit(f"{sys.argv[1]}: its text has {info.file_size} bytes; at most {MOST_BYTES} are read")
            document = archive.read(info)
    except (zipfile.BadZipFile, KeyError, OSError) as error:
        sys.exit(f"{sys.argv[1]} cannot be read as a Word file: {error}")
    if b"<!DOCTYPE" in document or b"<!ENTITY" in document:
        sys.exit(f"{sys.argv[1]}: it defines entities, which no Word file does")
    body = xml.fromstring(document).find(W + "body")
    for node in body if body is not None else []:
        said = paragraph(node) if node.tag == W + "p" else table(node) if node.tag == W + "tbl" else ""
        if said:
            print(said + "\n")


main()
