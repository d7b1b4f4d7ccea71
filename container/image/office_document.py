"""Reads Word, Excel and PowerPoint files (docx, xlsx, pptx and their kin) and EPUBs: archives of XML.

What they refer to outside of themselves is never fetched, macros are not run, and declarations of XML that could grow are
refused. Whatever an archive says of its sizes, only bytes that came out of it count.
"""

import posixpath
import re
import zipfile
import zlib
from urllib.parse import unquote
from xml.parsers import expat

from document_text import Refusal

MEBIBYTE = 1024 * 1024
MOST_ENTRIES = 20_000
# Unpacked, of all that is read for one look.
MOST_BYTES = 256 * MEBIBYTE
MOST_DEPTH = 500
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


class Archive:
    """A ZIP archive of which no more is read than is good."""

    def __init__(self, path):
        self.left = MOST_BYTES
        try:
            self.zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError, EOFError):
            raise Refusal("it is damaged or cut off: its list of contents cannot be read") from None
        names = self.zip.namelist()
        if len(names) > MOST_ENTRIES:
            raise Refusal(f"it has {len(names)} entries, and at most {MOST_ENTRIES} are read")
        # Names are compared without capitals, as the format has it.
        self.names = {name.lower(): name for name in names}

    def has(self, name):
        return name.lower() in self.names

    def chunks(self, name):
        entry = self.names.get(name.lower())
        if entry is None:
            raise Refusal(f"it is damaged: it has no {name[:200]}")
        if self.zip.getinfo(entry).flag_bits & 1:
            raise Refusal("it is encrypted")
        try:
            with self.zip.open(entry) as file:
                while chunk := file.read(64 * 1024):
                    self.left -= len(chunk)
                    if self.left < 0:
                        raise Refusal(f"it unpacks to more than {MOST_BYTES} bytes, as archives do that are made to exhaust memory")
                    yield chunk
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, ValueError, OSError):
            raise Refusal(f"it is damaged: {name[:200]} cannot be unpacked") from None

    def read(self, name, most=4 * MEBIBYTE):
        parts, length = [], 0
        for chunk in self.chunks(name):
            parts.append(chunk)
            length += len(chunk)
            if length > most:
                raise Refusal(f"its {name[:200]} is larger than {most} bytes")
        return b"".join(parts)


class Stop(Exception):
    """Enough was read."""


def parse_xml(archive, name, start, end=None, text=None):
    """Calls `start(tag, attributes)`, `end(tag)` and `text(characters)`, with names without their prefixes, until one raises Stop."""
    depth = 0

    def started(tag, attributes):
        nonlocal depth
        depth += 1
        if depth > MOST_DEPTH:
            raise Refusal("it is nested too deeply")
        # Where a name stands both with a prefix and without, the one with it is meant.
        named = sorted(attributes.items(), key=lambda pair: " " in pair[0])
        start(tag.rpartition(" ")[2], {key.rpartition(" ")[2]: value for key, value in named})

    def ended(tag):
        nonlocal depth
        depth -= 1
        if end:
            end(tag.rpartition(" ")[2])

    def declared(*_):
        raise Refusal("it declares entities of XML, which no office program does")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler, parser.EntityDeclHandler = started, ended, declared
    if text:
        parser.CharacterDataHandler = text
    try:
        for chunk in archive.chunks(name):
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except Stop:
        pass
    except expat.ExpatError as error:
        raise Refusal(f"it is damaged: {name[:200]} is no valid XML ({error})") from None


def content_types(archive):
    """The parts of an office file by the beginning of what they are."""
    found = []

    def start(tag, attributes):
        if tag == "Override":
            found.append((attributes.get("PartName", "").lstrip("/"), attributes.get("ContentType", "")))

    parse_xml(archive, "[Content_Types].xml", start)
    return found


def relations(archive, part):
    """What a part refers to within the file, by id. Addresses outside are left out."""
    folder, name = posixpath.split(part)
    path = posixpath.join(folder, "_rels", f"{name}.rels")
    found = {}

    def start(tag, attributes):
        if tag == "Relationship" and attributes.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, attributes.get("Target", "")))
            found[attributes.get("Id", "")] = (target.lstrip("/"), attributes.get("Type", "").rpartition("/")[2])

    if archive.has(path):
        parse_xml(archive, path, start)
    return found


def external_links(archive):
    """How many addresses outside the file its parts refer to, other than what people may click on."""
    count = 0

    def start(tag, attributes):
        nonlocal count
        if tag == "Relationship" and attributes.get("TargetMode") == "External":
            count += not attributes.get("Type", "").endswith("/hyperlink")

    for name in sorted(archive.names.values())[:200]:
        if name.endswith(".rels"):
            parse_xml(archive, name, start)
    return count


class OfficeDocument:
    """Finds out what an archive is by what it contains."""

    @staticmethod
    def open(path):
        with open(path, "rb") as file:
            head = file.read(8)
        if head == OLE:
            raise Refusal(reason_of_old(path))
        archive = Archive(path)
        if archive.has("META-INF/container.xml"):
            from epub_document import EpubDocument

            return EpubDocument(archive)
        if not archive.has("[Content_Types].xml"):
            raise Refusal(describe_archive(archive))
        parts = content_types(archive)
        document = open_office(archive, parts)
        if any("vbaProject" in kind for _, kind in parts):
            document.notes.append("it has macros, which are not run")
        if count := external_links(archive):
            document.notes.append(f"it refers to {count} address{'es' if count > 1 else ''} outside, which are not fetched")
        return document


def open_office(archive, parts):
    for part, kind in parts:
        if re.search(r"(wordprocessingml|ms-word).*\.main\+xml$", kind):
            from word_document import WordDocument

            return WordDocument(archive, part)
        if re.search(r"(spreadsheetml|ms-excel).*\.main\+xml$", kind):
            from excel_document import ExcelDocument

            return ExcelDocument(archive, part)
        if re.search(r"(presentationml|ms-powerpoint).*\.main\+xml$", kind):
            from slides_document import SlidesDocument

            return SlidesDocument(archive, part)
    raise Refusal(describe_archive(archive))


def reason_of_old(path):
    """Old Office files are file systems of their own; encrypted new ones are put into such."""
    with open(path, "rb") as file:
        beginning = file.read(4 * MEBIBYTE)
    if "EncryptedPackage".encode("utf-16-le") in beginning:
        return "it is encrypted; ask for it without a password"
    return "it is of an old kind (doc, xls, ppt, msg …) that cannot be read; ask for it as PDF, docx or xlsx"


def describe_archive(archive):
    if archive.has("mimetype") and b"opendocument" in archive.read("mimetype", 200):
        return "it is an OpenDocument file (odt, ods, odp …) that cannot be read; ask for it as PDF, docx or xlsx"
    names = ", ".join(ascii(name)[1:-1][:60] for name in list(archive.names.values())[:10])
    return f"it is a ZIP archive with {len(archive.names)} entries ({names}) and no document; unpack it in the shell"


def resolve(base, reference):
    """A reference of one file of an archive to another one."""
    path = unquote(reference.partition("#")[0])
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(base), path)).lstrip("/")
