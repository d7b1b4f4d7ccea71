"""Looks at a mount with review from inside, where the kernel joins its two layers.

`folders`: prints, as JSON, the folders of the layer that show what the real folder has (`open`), and those that hide
some of it without a word about each (`hiding`). Only the kernel and root can read the mark that makes the difference.
`try`: changes a folder of a known shape in all the ways that a layer has to keep.
"""

import base64
import json
import os
import shutil
import stat
import sys

LAYER, REAL, SEEN = b"/review/layer", b"/review/real", b"/review/seen"
# More folders than this are not looked at: the host then says that there are too many changes.
MOST_FOLDERS = 50_000


def is_folder(path):
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def encode(path):
    return base64.b64encode(path[1:]).decode()


def folders():
    found = {"open": [], "hiding": []}
    waiting, looked = [b""], 0
    while waiting:
        below = waiting.pop()
        looked += 1
        if looked > MOST_FOLDERS:
            sys.exit("too many folders")
        names = os.listdir(LAYER + below)
        if below and is_folder(SEEN + below):
            others = set(os.listdir(REAL + below)) - set(names)
            seen = set(os.listdir(SEEN + below))
            # Where the real folder has nothing else, nobody can tell.
            if others:
                found["hiding" if others - seen else "open"].append(encode(below))
        for name in names:
            path = below + b"/" + name
            # A folder that is new has nothing below it to hide, nor has anything in it.
            if is_folder(LAYER + path) and is_folder(REAL + path):
                waiting.append(path)
    print(json.dumps(found))


def attempt():
    os.chdir(SEEN)
    with open("added", "w", encoding="utf8") as file:
        file.write("added")
    with open("changed", "a", encoding="utf8") as file:
        file.write("changed")
    os.remove("deleted")
    shutil.rmtree("replaced")
    os.mkdir("replaced")


if sys.argv[1:] == ["folders"]:
    folders()
elif sys.argv[1:] == ["try"]:
    attempt()
else:
    sys.exit("usage: review.py folders|try")
