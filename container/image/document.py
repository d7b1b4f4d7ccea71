"""Prints what a document says: `document.py text|picture <path> <page> <first line> <most lines> <most characters>`.

Documents come from strangers, and what reads them has faults. So this is a process of its own for one look at one file,
with little memory and time; it fetches nothing, runs nothing that is in the file, and writes no file. It prints one JSON
object, or the bytes of a picture. What it cannot do it says in one line on standard error, with exit code 3.
"""

import os
import resource
import subprocess
import sys
from json import dumps

# An isolated Python does not look beside its program by itself.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from document_text import Refusal, Window
from office_document import OfficeDocument

MEBIBYTE = 1024 * 1024
MOST_MEMORY = 1024 * MEBIBYTE
MOST_SECONDS = 30
MOST_FILE = 128 * MEBIBYTE
# The long edge of a page that is shown as a picture: small print stays legible.
PICTURE_PIXELS = 2048
# Pages that one run of pdftotext is asked for.
PAGES_AT_ONCE = 50


def limit():
    """For this process and all that it starts."""
    try:
        with open("/sys/fs/cgroup/memory.max") as file:
            memory = min(MOST_MEMORY, int(file.read()))
    except (OSError, ValueError):
        memory = MOST_MEMORY
    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, MOST_SECONDS),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 64),
    ):
        _, hard = resource.getrlimit(kind)
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        # A second earlier it is told by a signal of its own that its time is over.
        resource.setrlimit(kind, (bound - 1 if kind == resource.RLIMIT_CPU else bound, bound))
    try:
        # If the container runs out of memory all the same, this ends and nothing else.
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass


class PdfDocument:
    """Read by poppler's programs."""

    kind, unit, names = "PDF", "page", ()

    def __init__(self, path):
        self.path = path
        info, fault = self.run(["pdfinfo"], [])
        lines = dict(line.partition(":")[::2] for line in info.decode("utf-8", "replace").splitlines())
        count = lines.get("Pages", "").strip()
        if not count.isdigit():
            raise Refusal(reason_of(fault))
        self.count = int(count)
        self.notes = ["it has programs (JavaScript), which are not run"] if lines.get("JavaScript", "").strip() == "yes" else []

    def run(self, command, more):
        done = subprocess.run([*command, self.path, *more], stdin=subprocess.DEVNULL, capture_output=True)
        return done.stdout, done.stderr.decode("utf-8", "replace")

    def read(self, page, window):
        """Into the window, until it is full."""
        while page <= self.count and not window.is_full:
            last = min(page + PAGES_AT_ONCE - 1, self.count)
            self.read_some(page, last, window)
            page = last + 1

    def read_some(self, page, last, window):
        command = ["pdftotext", "-q", "-layout", "-enc", "UTF-8", "-f", str(page), "-l", str(last), self.path, "-"]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as reader:
            window.begin(page)
            number, ended = 0, False
            for raw in lines_of(reader.stdout):
                line = raw.decode("utf-8", "replace")
                # Each page ends with a form feed, at the beginning of the line that follows.
                while line.startswith("\f"):
                    ended, page, number, line = page == last, page + 1, 0, line[1:]
                    if not ended:
                        window.begin(page)
                if ended:
                    continue
                number += 1
                window.add(number, line.rstrip())
                if window.is_full:
                    reader.kill()
                    break
        if not window.is_full and reader.returncode != 0:
            raise Refusal(
                "reading it took too much memory or time"
                if reader.returncode < 0
                else f"its page {page} is damaged or cannot be read"
            )

    def picture(self, page):
        command = ["pdftoppm", "-q", "-f", str(page), "-l", str(page), "-singlefile", "-jpeg", "-jpegopt", "quality=80"]
        for pixels in (PICTURE_PIXELS, PICTURE_PIXELS // 2):
            bytes, _ = self.run([*command, "-scale-to", str(pixels)], [])
            if len(bytes) < 3 * MEBIBYTE:
                break
        if bytes[:2] != b"\xff\xd8" or len(bytes) >= 3 * MEBIBYTE:
            raise Refusal(f"no picture of page {page} could be made")
        return bytes


def lines_of(stream):
    """Bounded ones: what has no end of line is cut into some."""
    while line := stream.readline(65536):
        yield line


def reason_of(fault):
    if "assword" in fault:
        return "it is encrypted; with its password, `pdftotext -upw PASSWORD` in the shell makes text of it"
    said = next((line for line in reversed(fault.splitlines()) if "rror" in line), "it has no pages")
    return f"it is damaged or no PDF ({said.strip()[:200]})"


def open_document(path):
    size = os.stat(path).st_size
    if size > MOST_FILE:
        raise Refusal(f"it has {size} bytes, and at most {MOST_FILE} are read")
    with open(path, "rb") as file:
        head = file.read(8)
    if head.startswith(b"%PDF-"):
        return PdfDocument(path)
    return OfficeDocument.open(path)


def look(how, path, page, first, lines, chars):
    document = open_document(path)
    if page > document.count:
        raise Refusal(f"it has only {document.count} {document.unit}{'' if document.count == 1 else 's'}")
    if how == "picture":
        if document.kind != "PDF":
            raise Refusal("only pages of PDFs can be shown as pictures")
        sys.stdout.buffer.write(document.picture(page))
        return
    window = Window(page, first, lines, chars)
    document.read(page, window)
    found = {"kind": document.kind, "unit": document.unit, "count": document.count}
    names = [name[:100] for name in document.names[:50]]
    sys.stdout.write(dumps({**found, "names": names, "notes": document.notes, **window.result()}))


def main():
    limit()
    how, path, *numbers = sys.argv[1:]
    try:
        look(how, path, *map(int, numbers))
    except Refusal as refusal:
        sys.exit(say(str(refusal)))
    except MemoryError:
        sys.exit(say("reading it takes too much memory"))
    except RecursionError:
        sys.exit(say("it is nested too deeply"))


def say(text):
    print(text, file=sys.stderr)
    return 3


if __name__ == "__main__":
    main()
