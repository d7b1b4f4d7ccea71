import { appendFile, cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Attack } from "../suite/attack.ts";
import { runCommand } from "../suite/host.ts";
import { shellAttack } from "../suite/programs.ts";
import type { Stage } from "../suite/stage.ts";

/** What is done to the lines of a log that was copied. */
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

/** Whether `crabpot audit verify` finds each change in a copy of the home. */
async function unnoticed(stage: Stage): Promise<string[]> {
  const missed: string[] = [];
  for (const [name, change] of tamperings) {
    const copy = join(stage.playground.userHome, "copy");
    await cp(stage.home, copy, {
      recursive: true,
      filter: (path) => !path.endsWith(".sock") && !path.includes("/mail"),
    });
    const [file = ""] = (await readdir(join(copy, "audit"))).filter((entry) => entry.endsWith(".jsonl"));
    const path = join(copy, "audit", file);
    const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
    await writeFile(
      path,
      change(lines)
        .map((line) => `${line}\n`)
        .join(""),
    );
    const { code, output } = await runCommand({ ...stage.playground.environment, CRABPOT_HOME: copy }, [
      "audit",
      "verify",
      "--json",
    ]);
    if (code !== 1 || !output.includes("firstBadSeq")) missed.push(name);
    await rm(copy, { recursive: true });
  }
  return missed;
}

export const attacks: readonly Attack[] = [
  {
    id: "M1",
    title: "records changed, deleted, inserted, swapped, the end and the beginning cut off, in a copy of the home",
    from: "program",
    expected: "each is found by `crabpot audit verify`",
    audit: { type: "message-in" },
    attempt: async (stage) => {
      await stage.ask("red", "@crab hello");
      const missed = await unnoticed(stage);
      return { seen: missed.join(", ") || `${tamperings.length} found`, holds: missed.length === 0 };
    },
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
      const copy = join(stage.playground.userHome, "copy");
      await cp(stage.home, copy, {
        recursive: true,
        filter: (path) => !path.endsWith(".sock") && !path.includes("/mail"),
      });
      const [file = ""] = (await readdir(join(copy, "audit"))).filter((entry) => entry.endsWith(".jsonl"));
      await appendFile(join(copy, "audit", file), '{"v":1,"seq":999999}\n');
      const { code } = await runCommand({ ...stage.playground.environment, CRABPOT_HOME: copy }, [
        "audit",
        "verify",
        "--json",
      ]);
      await rm(copy, { recursive: true });
      return { seen: `exit ${code}`, holds: code === 1 };
    },
  },
];
