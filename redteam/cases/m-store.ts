import { cp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

import type { Attack } from "../suite/attack.ts";
import { ownLog, OwnHome } from "../suite/own-host.ts";
import type { Stage } from "../suite/stage.ts";

const config = { groups: { family: { channel: "http", chat: "family" } } };

type Part = "store" | "log";

async function filesOf(part: Part, folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => (part === "log" ? name === "audit" : name.startsWith("crabpot.sqlite")));
}

async function exchange(part: Part, from: string, to: string): Promise<void> {
  for (const name of await filesOf(part, to)) await rm(join(to, name), { recursive: true });
  for (const name of await filesOf(part, from)) await cp(join(from, name), join(to, name), { recursive: true });
}

/** A home with two lives of a host, and what its parts were after the first one. */
async function twoLives(stage: Stage, end?: "killed"): Promise<{ home: OwnHome; kept: string }> {
  const home = await OwnHome.open(stage);
  await home.configure(config);
  await home.live();
  const kept = join(home.playground.userHome, "kept");
  await cp(home.path, kept, { recursive: true, filter: (path) => !path.endsWith(".sock") });
  await home.live(async (host) => {
    await home.say(host, "family", { id: "after" });
    if (end) await host.end("SIGKILL");
  });
  return { home, kept };
}

async function putBack(stage: Stage, parts: readonly Part[], end?: "killed") {
  const { home, kept } = await twoLives(stage, end);
  await using _ = home;
  const { output: head } = await home.command("audit", "verify", "--json");
  for (const part of parts) await exchange(part, kept, home.path);
  const before = await home.command("audit", "verify", "--json");
  const { output } = await home.live();
  const after = await home.command("audit", "verify", "--json");
  const doctor = await home.command("doctor", "--json");
  const { seq, hash } = (JSON.parse(head) as { head: { seq: number; hash: string } }).head;
  const anchored = await home.command("audit", "verify", "--json", "--anchor", `${seq}:${hash}`);
  const declared = [...(await home.records("store-older")), ...(await home.records("audit-broken"))];
  return { before, output, after, doctor, anchored, declared: declared.map(({ type }) => type) };
}

export const attacks: readonly Attack[] = [
  {
    id: "M11",
    title: "the store is put back to an older copy under a newer log; the host was ended well before",
    from: "program",
    expected: "verification fails before and after the next start; the host starts, and says it in both logs",
    audit: ownLog,
    attempt: async (stage) => {
      const { before, output, after, doctor, declared } = await putBack(stage, ["store"]);
      const words = doctor.output.split("\n").find((line) => line.includes('"audit"')) ?? "";
      return {
        seen: `verify ${before.code}, then ${after.code}; ${declared.join(" ") || "nothing declared"}`,
        holds:
          before.code === 1 &&
          after.code === 1 &&
          declared.join(" ") === "store-older" &&
          output.includes("declares store-older") &&
          words.includes("older than the log"),
      };
    },
  },
  {
    id: "M12",
    title: "the same after a host that was killed a moment after its start; and a crash alone",
    from: "program",
    expected: "the older store is declared; the crash is not",
    audit: ownLog,
    attempt: async (stage) => {
      const crash = await putBack(stage, [], "killed");
      const older = await putBack(stage, ["store"], "killed");
      return {
        seen: `crash: ${crash.declared.join(" ") || "nothing"}; older store: ${older.declared.join(" ") || "nothing"}`,
        holds: crash.declared.length === 0 && crash.after.code === 0 && older.declared.join(" ") === "store-older",
      };
    },
  },
  {
    id: "M13",
    title: "the log is put back to an older copy under a newer store; both are put back together",
    from: "program",
    expected: "declared broken; both together are shown by an anchor",
    audit: ownLog,
    attempt: async (stage) => {
      const log = await putBack(stage, ["log"]);
      const both = await putBack(stage, ["log", "store"]);
      return {
        seen: `log: ${log.declared.join(" ")}, verify ${log.after.code}; both: anchor ${both.anchored.code}`,
        holds: log.declared.join(" ") === "audit-broken" && log.after.code === 1 && both.anchored.code === 1,
      };
    },
  },
  {
    id: "M14",
    title: "a secret in a tool's input, its progress and its output",
    from: "chat",
    expected: "in no log: not of the host, the session or the audit; only in the store",
    audit: { type: "tool-call", where: ({ group }) => group === "red" },
    attempt: async (stage) => {
      const canary = "canary-of-m14-6b1f0e";
      const { outputs } = await stage.shell("red", `echo ${canary} | wc -c`);
      const files = await readdir(stage.home, { recursive: true, withFileTypes: true });
      const logs = files.filter((file) => file.isFile() && /\.jsonl?(\.\d)?$|\.log(\.\d)?$/.test(file.name));
      const found: string[] = [];
      for (const { parentPath, name } of logs) {
        if (parentPath.includes("/mail/")) continue;
        if ((await readFile(join(parentPath, name), "utf8")).includes(canary)) found.push(name);
      }
      if (stage.host.output.includes(canary)) found.push("the host's output");
      return {
        seen: found.join(", ") || `in none of ${logs.length} logs`,
        holds: outputs.length === 1 && found.length === 0,
      };
    },
  },
];
