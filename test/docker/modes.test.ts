import { afterAll, expect, test } from "vitest";

import { ReusedContainer } from "../support/reused-container.ts";
import { Sandbox } from "../support/sandbox.ts";

const stack = new AsyncDisposableStack();
const sandbox = stack.use(await Sandbox.open());
const container = stack.use(await ReusedContainer.start(sandbox));
afterAll(() => stack.disposeAsync());

const shell = (...lines: readonly string[]) => container.run(["bash", "-euc", lines.join("\n")]);
const python = (...lines: readonly string[]) => container.run(["python3", "-c", lines.join("\n")]);

test.runIf(process.arch === "x64")(
  "no system call gives a file of the group's folder the setuid or setgid bit",
  async () => {
    const { output } = await python(
      "import ctypes, errno, os, stat",
      "libc = ctypes.CDLL(None, use_errno=True)",
      "os.chdir('/workspace/group')",
      "place = ctypes.c_char_p(b'file')",
      "how = lambda mode: ctypes.byref((ctypes.c_uint64 * 3)(os.O_CREAT | os.O_WRONLY, mode, 0))",
      "at = ctypes.c_long(-100)",
      "def made(number, *rest): return lambda mode: libc.syscall(number, *[mode if part is Ellipsis else part for part in rest])",
      "def changed(call):",
      "    def run(mode):",
      "        os.close(os.open('file', os.O_CREAT, 0o755))",
      "        return call(mode)",
      "    return run",
      "def opened(mode):",
      "    handle = os.open('file', os.O_CREAT, 0o755)",
      "    return libc.syscall(91, handle, mode)",
      "ways = {",
      "    'chmod': changed(made(90, place, ...)), 'fchmod': opened, 'fchmodat': changed(made(268, at, place, ...)),",
      "    'fchmodat2': changed(made(452, at, place, ..., 0)), 'creat': made(85, place, ...),",
      "    'open': made(2, place, os.O_CREAT | os.O_WRONLY, ...), 'openat': made(257, at, place, os.O_CREAT | os.O_WRONLY, ...),",
      "    'openat2': lambda mode: libc.syscall(437, at, place, how(mode), 24),",
      "    'mknod': lambda mode: libc.syscall(133, place, stat.S_IFREG | mode, 0),",
      "    'mknodat': lambda mode: libc.syscall(259, at, place, stat.S_IFREG | mode, 0),",
      "}",
      "os.umask(0)",
      "for name, run in ways.items():",
      "    for mode in (0o4755, 0o2755, 0o6755):",
      "        try: os.unlink('file')",
      "        except FileNotFoundError: pass",
      "        result = run(mode)",
      "        found = os.stat('file').st_mode if os.path.exists('file') else 0",
      "        if result >= 0 or found & 0o6000: print('OPEN', name, oct(mode), oct(found))",
      "handle = os.open('/workspace/group', 0o20200000 | os.O_WRONLY, 0o755)",
      "for mode in (0o4755, 0o2755):",
      "    if libc.syscall(257, at, ctypes.c_char_p(b'/workspace/group'), 0o20200000 | os.O_WRONLY, mode) >= 0: print('OPEN tmpfile')",
      "os.unlink('file') if os.path.exists('file') else None",
      "print('done')",
    );

    expect(output).toBe("done\n");
  },
);

test.each([
  [
    "a mode that is left over in a register does not matter where nothing is made",
    `python3 -c '
import ctypes
libc = ctypes.CDLL(None)
print(libc.syscall(257, -100, b"/etc/hostname", 0, 0o6777) >= 0)'`,
    "True",
  ],
  ["chmod", "touch f && chmod 1777 f && chmod u+x,g-w f && stat -c %a f", "1757"],
  [
    "cp -p, install and tar",
    "echo x > f; chmod 750 f; cp -p f g; install -m 711 f h; tar cf t f g h; rm f g h; tar xpf t; stat -c %a f g h | tr '\\n' ' '",
    "750 750 711 ",
  ],
  [
    "git",
    "git init -q r && cd r && touch f && chmod +x f && git add f && git commit -qm x && git clone -q . ../c && stat -c %a ../c/f",
    "755",
  ],
  ["a private copy of Python", "python3 -m venv v && v/bin/python -c 'print(6 * 7)'", "42"],
  [
    "Node",
    `node -e 'const fs = require("fs"); fs.writeFileSync("f", "", { mode: 0o640 }); fs.chmodSync("f", 0o751); console.log((fs.statSync("f").mode & 0o7777).toString(8))'`,
    "751",
  ],
])("as usual: %s", async (_, command, expected) => {
  const { code, output } = await shell("cd; mkdir work; cd work", command);

  expect({ code, output: output.trimEnd() }).toEqual({ code: 0, output: expected.trimEnd() });
});

test("there are no pseudo-terminals, of which the whole machine has a few thousand; programs do without", async () => {
  const { output } = await shell(
    "ls -A /dev/pts",
    "python3 -c 'import os; os.openpty()' 2>&1 | tail -1",
    "(: < /dev/ptmx) 2>&1 | sed 's/.*: //'",
    "git --version > /dev/null; node -p process.stdout.isTTY; bash -ic 'echo interactive' 2>/dev/null",
  );

  expect(output.trim().split("\n")).toEqual([
    expect.stringMatching(/OSError|FileNotFoundError/),
    "No such file or directory",
    "undefined",
    "interactive",
  ]);
});
