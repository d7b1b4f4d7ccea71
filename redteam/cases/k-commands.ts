import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Attack } from "../suite/attack.ts";
import { engineVariables, openPlayground } from "../suite/host.ts";
import { steersTerminal } from "../suite/programs.ts";

/** Configurations that are no honest YAML. */
const documents: readonly (readonly [string, string | Uint8Array])[] = [
  [
    "aliases that multiply",
    `a: &a [x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 12 }, (_, n) => `b${n}: &b${n} [${Array.from({ length: 9 }, () => (n === 0 ? "*a" : `*b${n - 1}`)).join(",")}]`).join("\n")}\n`,
  ],
  ["an alias of itself", "channels: &a { terminal: *a }\n"],
  ["a key that changes prototypes as a group", 'groups: { "__proto__": { channel: terminal, chat: main } }\n'],
  ["depth", `channels: ${"[".repeat(50_000)}\n`],
  ["no text", new Uint8Array([0xff, 0xfe, 0, 1, 2, 3])],
  ["five megabytes", `# ${"x".repeat(5_000_000)}\nchannels: 7\n`],
];

export const attacks: readonly Attack[] = [
  {
    id: "K9",
    title: "configurations that multiply, refer to themselves, run programs, change prototypes, are not text",
    from: "program",
    expected: "refused in words within seconds",
    audit: { none: "the host is not started, so nobody writes a log; exit codes and words are the evidence" },
    attempt: async (stage) => {
      const odd: string[] = [];
      await Promise.all(
        documents.map(async ([name, text]) => {
          await using playground = await openPlayground(
            engineVariables(stage.playground.environment),
            stage.playground.userHome,
          );
          await writeFile(join(playground.home, "config.yaml"), text, { mode: 0o600 });
          const { code, output } = await stage.commands.run(playground.environment, ["config", "check"]);
          if (code === 0 || code === null || /\n\s+at /.test(output))
            odd.push(`${name}: ${code} ${output.slice(-120)}`);
        }),
      );
      return { seen: odd.join("; ") || `${documents.length} refused`, holds: odd.length === 0 };
    },
  },
  {
    id: "K10",
    title: "paths, options, patterns and terminal sequences as names for the operator's commands",
    from: "program",
    expected: "refused; no file of the machine is shown, nothing is printed unescaped",
    audit: { type: "control-request" },
    attempt: async (stage) => {
      const tries = [
        ["sessions", "stop", "--", "../../../../etc/passwd"],
        ["sessions", "stop", "--", "\u001b[2J\u001b]0;x\u0007"],
        ["turns", "show", "--", "../../../../etc/passwd"],
        ["turns", "retry", "--", "__proto__"],
        ["groups", "remove", "--", "\u001b[2J"],
        ["mounts", "check", "--", "/etc/passwd"],
        ["logs", "--", "\u001b[2J"],
      ];
      const ends = await Promise.all(tries.map((words) => stage.command(...words)));
      const odd = ends.flatMap(({ code, output }, index) =>
        code === null || code === 0 || steersTerminal(output) || /root:x:|\n\s+at /.test(output)
          ? [`${tries[index]?.join(" ")}: ${code} ${output.slice(0, 80)}`]
          : [],
      );
      return { seen: odd.join("; ") || `${ends.length} refused`, holds: odd.length === 0 };
    },
  },
];
