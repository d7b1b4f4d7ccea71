import { execFile } from "node:child_process";
import { appendFile, cp, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import type { Attack, Evidence } from "../suite/attack.ts";
import type { CommandEnd } from "../suite/commands.ts";
import { shellAttack } from "../suite/programs.ts";
import type { Stage } from "../suite/stage.ts";

/** Change to the lines of a copied log. */
type Tampering = readonly [name: string, change: (lines: string[]) => string[]];

const tamperings: readonly Tampering[] = [
  ["one byte", (lines) => lines.with(5, (lines[5] ?? "").replace(/"actor":"./, '"actor":"X'))],
  ["deleted", (lines) => lines.toSpliced(7, 1)],
  ["inserted", (lines) => lines.toSpliced(7, 0, lines[3] ?? "")],
  ["swapped", (lines) => lines.toSpliced(7, 2, lines[8] ?? "", lines[7] ?? "")],
  ["the end cut off", (lines) => lines.slice(0, 10)],
  ["the beginning cut off", (lines) => lines.slice(3)],
  ["emptied", () => []],
];

function isOfTheLog(path: string): boolean {
  return !path.endsWith(".sock") && !/\/(?:mail|groups|global)(?:\/|$)/.test(path);
}

function isNamed({ code, output }: CommandEnd): boolean {
  return code === 1 && output.includes("firstBadSeq");
}

/** Exit code and output of `crabpot audit verify` for a home with a changed log. */
async function verifyCopy(
  stage: Stage,
  change: (paths: { audit: string; file: string; keys: string }) => Promise<void>,
): Promise<CommandEnd> {
  const copy = join(stage.playground.userHome, "copy");
  await cp(stage.home, copy, { recursive: true, filter: isOfTheLog });
  try {
    const audit = join(copy, "audit");
    const [file = ""] = (await readdir(audit)).filter((entry) => entry.endsWith(".jsonl"));
    await change({ audit, file: join(audit, file), keys: join(copy, "keys") });
    return await stage.commands.run({ ...stage.playground.environment, CRABPOT_HOME: copy }, [
      "audit",
      "verify",
      "--json",
    ]);
  } finally {
    await rm(copy, { recursive: true });
  }
}

function inLines(change: (lines: string[]) => string[]) {
  return async ({ file }: { file: string }): Promise<void> => {
    const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
    await writeFile(
      file,
      change(lines)
        .map((line) => `${line}\n`)
        .join(""),
    );
  };
}

/**
 * Makes each change in a copy of a log that has something in it; tells those that were not found, or whose search did
 * not end.
 */
async function tamper(
  stage: Stage,
  changes: readonly Change[],
  wanted: (end: CommandEnd) => boolean,
): Promise<Evidence> {
  await stage.ask("red", "@crab hello");
  const missed: string[] = [];
  for (const [name, change] of changes) if (!wanted(await verifyCopy(stage, change))) missed.push(name);
  return { seen: missed.join(", ") || `${changes.length} found`, holds: missed.length === 0 };
}

type Change = readonly [name: string, change: Parameters<typeof verifyCopy>[1]];

/** Changes to files instead of lines. */
const exchanges: readonly Change[] = [
  [
    "the log and its checkpoints as they were ten records ago",
    async ({ audit, file }) => {
      await inLines((lines) => lines.slice(0, -10))({ file });
      await rm(join(audit, "checkpoints"), { force: true });
    },
  ],
  ["the log is a FIFO", async ({ file }) => replaceBy(file, () => promisify(execFile)("mkfifo", [file]))],
  ["the log is a link to another file", async ({ file }) => replaceBy(file, () => symlink("/etc/passwd", file))],
  ["the log is a folder", async ({ file }) => replaceBy(file, () => mkdir(file))],
  ["a line of thirty megabytes", async ({ file }) => appendFile(file, `${"x".repeat(30_000_000)}\n`)],
  ["NULs and bytes that are not text", async ({ file }) => appendFile(file, new Uint8Array([0, 0, 0xff, 0xfe, 10]))],
];

async function replaceBy(file: string, make: () => Promise<unknown>): Promise<void> {
  await rm(file);
  await make();
}

export const attacks: readonly Attack[] = [
  {
    id: "M1",
    title: "records changed, deleted, inserted, swapped, the end and the beginning cut off, in a copy of the home",
    from: "program",
    expected: "each is found by `crabpot audit verify`",
    audit: { type: "message-in" },
    attempt: (stage) =>
      tamper(
        stage,
        tamperings.map(([name, change]) => [name, inLines(change)] as const),
        isNamed,
      ),
  },
  {
    id: "M10",
    title: "the log rolled back with its checkpoints, exchanged for a FIFO, a link, a folder, with giant lines",
    from: "program",
    expected: "`crabpot audit verify` ends, and never says that it is intact",
    audit: { type: "message-in" },
    attempt: (stage) =>
      tamper(stage, exchanges, ({ code, output }) => code !== null && code !== 0 && !output.includes('"ok":true')),
  },
  {
    id: "M5",
    title: "forged lines: records and terminal sequences in ids, names, tool names and inputs",
    from: "chat",
    expected: "one line stays one line; the log verifies",
    audit: { type: "tool-denied", where: ({ data }) => String(data["name"]).includes("forged") },
    attempt: async (stage) => {
      const forged = 'forged"}\n{"v":1,"seq":1,"type":"host-stop"}\u001b[2J\u2028';
      await stage.say("red", "x", { id: `m5 ${forged}`, sender: { id: forged, name: forged } });
      await stage.calls("red", [[{ name: forged.slice(0, 60), input: { [forged]: forged } }]]);
      const { code, output } = await stage.command("audit", "verify", "--json");
      const raw = await stage.command("audit", "export").then(({ output: text }) => text.includes("\u001b[2J"));
      return {
        seen: `verify: exit ${code}${raw ? "; raw sequences are printed" : ""}`,
        holds: code === 0 && !raw && output.includes('"ok":true'),
      };
    },
  },
  shellAttack({
    id: "M8",
    title: "the agent looks for the log and its key",
    expected: "they are not in the container",
    quick: true,
    program: `
find / -xdev \\( -name 'audit*.jsonl' -o -name 'audit-ed25519*' -o -name 'audit-salt' -o -name checkpoints -o -name 'crabpot.db*' -o -name control.sock \\) 2>/dev/null | sed 's/^/OPEN /'
echo done`,
  }),
  {
    id: "M9",
    title: "a line appended to the log behind the host's back, while it writes (in a copy)",
    from: "program",
    expected: "found by `crabpot audit verify`",
    audit: { type: "message-in" },
    attempt: async (stage) => {
      await stage.ask("red", "@crab hello");
      const { code } = await verifyCopy(stage, ({ file }) => appendFile(file, '{"v":1,"seq":999999}\n'));
      return { seen: `exit ${code}`, holds: code === 1 };
    },
  },
];
