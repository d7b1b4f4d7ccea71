import { cp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

import type { Attack } from "../suite/attack.ts";
import { ownLog, OwnHome } from "../suite/own-host.ts";
import type { Stage } from "../suite/stage.ts";

const config = { groups: { family: { channel: "http", chat: "family" } } };
/** File in which a home records its path. */
const placeFile = "place.json";

type Part = "store" | "log";

async function filesOf(part: Part, folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => (part === "log" ? name === "audit" : name.startsWith("crabpot.sqlite")));
}

async function exchange(part: Part, from: string, to: string): Promise<void> {
  for (const name of await filesOf(part, to)) await rm(join(to, name), { recursive: true });
  for (const name of await filesOf(part, from)) await cp(join(from, name), join(to, name), { recursive: true });
}

/** A home after two lives of a host, with its parts after the first one. */
interface TwoLives {
  readonly home: string;
  readonly kept: string;
}

type End = "ended" | "killed";

/** By how the second life ended. Lived once for all attacks on a stage: it takes longer than what is done to it. */
const lived = new WeakMap<Stage, Map<End, Promise<TwoLives>>>();

function twoLives(stage: Stage, end: End): Promise<TwoLives> {
  const ofStage = lived.get(stage) ?? new Map<End, Promise<TwoLives>>();
  lived.set(stage, ofStage);
  const known = ofStage.get(end) ?? liveTwice(stage, end);
  ofStage.set(end, known);
  return known;
}

/** Its home goes with the stage. */
async function liveTwice(stage: Stage, end: End): Promise<TwoLives> {
  const home = await OwnHome.open(stage);
  await home.configure(config);
  await home.live();
  const kept = join(home.playground.userHome, "kept");
  await cp(home.path, kept, { recursive: true, filter: isFile });
  await home.live(async (host) => {
    await home.say(host, "family", { id: "after" });
    if (end === "killed") await host.end("SIGKILL");
  });
  return { home: home.path, kept };
}

function isFile(path: string): boolean {
  return !path.endsWith(".sock");
}

/** A copy of a home with two lives in which these parts are those of the first one. */
async function putBack(stage: Stage, parts: readonly Part[], end: End = "ended"): Promise<OwnHome> {
  const { home: from, kept } = await twoLives(stage, end);
  const home = await OwnHome.open(stage);
  await cp(from, home.path, { recursive: true, filter: isFile });
  // It has always lain here, as far as it knows: that a home was copied is another story.
  await rm(join(home.path, placeFile));
  await home.configure(config);
  for (const part of parts) await exchange(part, kept, home.path);
  return home;
}

/** Log of a home after another start. */
async function declaredIn(home: OwnHome): Promise<string> {
  const declared = [...(await home.records("store-older")), ...(await home.records("audit-broken"))];
  return declared.map(({ type }) => type).join(" ");
}

/** Last record of each life, as noted elsewhere. */
async function headOf(stage: Stage): Promise<{ seq: number; hash: string }> {
  await using home = await putBack(stage, []);
  const { output } = await home.command("audit", "verify", "--json");
  return (JSON.parse(output) as { head: { seq: number; hash: string } }).head;
}

async function verify(home: OwnHome, ...more: readonly string[]): Promise<number | null> {
  const { code } = await home.command("audit", "verify", "--json", ...more);
  return code;
}

export const attacks: readonly Attack[] = [
  {
    id: "M11",
    title: "the store is put back to an older copy under a newer log; the host was ended well before",
    from: "program",
    expected: "verification fails before and after the next start; the host starts, and says it in both logs",
    audit: ownLog,
    attempt: async (stage) => {
      await using home = await putBack(stage, ["store"]);
      const before = await verify(home);
      const { output } = await home.live();
      const after = await verify(home);
      const declared = await declaredIn(home);
      const doctor = await home.command("doctor", "--json");
      const words = doctor.output.split("\n").find((line) => line.includes('"audit"')) ?? "";
      return {
        seen: `verify ${before}, then ${after}; ${declared || "nothing declared"}`,
        holds:
          before === 1 &&
          after === 1 &&
          declared === "store-older" &&
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
      await using crash = await putBack(stage, [], "killed");
      await using older = await putBack(stage, ["store"], "killed");
      await Promise.all([crash.live(), older.live()]);
      const after = await verify(crash);
      const declared = await Promise.all([crash, older].map(declaredIn));
      return {
        seen: `crash: ${declared[0] || "nothing"}; older store: ${declared[1] || "nothing"}`,
        holds: declared[0] === "" && after === 0 && declared[1] === "store-older",
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
      await using log = await putBack(stage, ["log"]);
      await using both = await putBack(stage, ["log", "store"]);
      const { seq, hash } = await headOf(stage);
      await Promise.all([log.live(), both.live()]);
      const declared = await declaredIn(log);
      const [after, anchored] = [await verify(log), await verify(both, "--anchor", `${seq}:${hash}`)];
      return {
        seen: `log: ${declared}, verify ${after}; both: anchor ${anchored}`,
        holds: declared === "audit-broken" && after === 1 && anchored === 1,
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
