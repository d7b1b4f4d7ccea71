import { chmod, mkdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Attack, Evidence } from "../suite/attack.ts";
import { engineVariables, openPlayground, writeHome } from "../suite/host.ts";
import type { Playground } from "../suite/host.ts";
import type { Stage } from "../suite/stage.ts";

const notRunning = {
  none: "the host refuses to start, so nobody writes a log; its exit code and words are the evidence",
};

type Spoilt = readonly [name: string, prepare: (playground: Playground) => Promise<void>];

/** Tries to start a host in a home that was prepared badly; each must be refused with words. */
async function refusedStarts(stage: Stage, cases: readonly Spoilt[]): Promise<Evidence> {
  const started: string[] = [];
  for (const [name, prepare] of cases) {
    await using playground = await openPlayground(
      engineVariables(stage.playground.environment),
      stage.playground.userHome,
    );
    await prepare(playground);
    const { code, output } = await stage.commands.run(playground.environment, ["start"]);
    if (code === 0 || code === null || !output.includes("fix:")) started.push(`${name}: ${code} ${output.slice(-200)}`);
  }
  return { seen: started.join("; ") || `${cases.length} refused`, holds: started.length === 0 };
}

const good = { channels: { terminal: {} }, groups: { main: { channel: "terminal", chat: "main" } } };

function withConfig(config: object): (playground: Playground) => Promise<void> {
  return ({ home }) => writeHome(home, { config });
}

export const attacks: readonly Attack[] = [
  {
    id: "K1",
    title: "a configuration that others may write, that is a link, in a home or below a folder that others may write",
    from: "program",
    expected: "the host does not start, and says how to mend it",
    audit: notRunning,
    attempt: (stage) =>
      refusedStarts(stage, [
        [
          "writable configuration",
          async ({ home }) => {
            await writeHome(home, { config: good });
            await chmod(join(home, "config.yaml"), 0o666);
          },
        ],
        [
          "linked configuration",
          async ({ home, userHome }) => {
            await writeHome(home, { config: good });
            await rename(join(home, "config.yaml"), join(userHome, "real.yaml"));
            await chmod(join(userHome, "real.yaml"), 0o666);
            await symlink(join(userHome, "real.yaml"), join(home, "config.yaml"));
          },
        ],
        ["writable home", ({ home }) => chmod(home, 0o777)],
        ["writable parent", ({ userHome }) => chmod(userHome, 0o777)],
        [
          "a link in place of the audit folder",
          async ({ home, userHome }) => {
            await mkdir(join(userHome, "elsewhere"));
            await symlink(join(userHome, "elsewhere"), join(home, "audit"));
          },
        ],
      ]),
  },
  {
    id: "K2",
    title: "unknown keys, wrong types, dangerous values: network host, no limits, servers without a token",
    from: "program",
    expected: "the host does not start, and names the key",
    audit: notRunning,
    attempt: (stage) =>
      refusedStarts(stage, [
        ["unknown key", withConfig({ ...good, sandboxx: {} })],
        ["privileged", withConfig({ ...good, sandbox: { privileged: true } })],
        ["network host", withConfig({ ...good, sandbox: { network: "host" } })],
        ["no limit", withConfig({ ...good, sandbox: { pids: -1 } })],
        ["open server", withConfig({ ...good, gateway: { host: "0.0.0.0" } })],
        ["name with options", withConfig({ ...good, groups: { "--privileged": { channel: "terminal", chat: "x" } } })],
      ]),
  },
  {
    id: "K6",
    title: "names that are options or paths, given to the operator's commands",
    from: "program",
    expected: "refused; no group of such a name exists",
    audit: { type: "control-request" },
    attempt: async (stage) => {
      const names = ["--privileged", "../../etc", "a/b", "x\ny", "$(id)", "global"];
      const add = (name: string) => stage.command("groups", "add", "--channel", "http", "--chat", "k6", "--", name);
      const ends = await Promise.all(names.map(add));
      await stage.command("sessions", "stop", "nobody");
      const made = names.filter((_, index) => ends[index]?.code === 0);
      return { seen: made.join(", ") || `${names.length} refused`, holds: made.length === 0 };
    },
  },
  {
    id: "K7",
    title: "a second host in the same home",
    from: "program",
    expected: "it does not start; the first one goes on, its log has one writer",
    audit: { type: "message-in" },
    attempt: async (stage) => {
      const before = await readFile(join(stage.home, "instance"), "utf8");
      const { code, output } = await stage.command("start");
      await stage.ask("red", "@crab hello");
      const after = await readFile(join(stage.home, "instance"), "utf8");
      return { seen: output.split("\n").at(-3) ?? "", holds: code !== 0 && before === after };
    },
  },
  {
    id: "K8",
    title: "dangerous environment variables for the host: options of Node, another home in the agent's words",
    from: "container",
    expected: "what the agent exports stays in its shell",
    audit: { type: "tool-call" },
    attempt: async (stage) => {
      await stage.shell(
        "red",
        "export NODE_OPTIONS='--require /workspace/group/evil.cjs' LD_PRELOAD=/workspace/group/evil.so; echo 'throw 1' > /workspace/group/evil.cjs",
      );
      await writeFile(join(stage.groupFolder("red"), "checked"), "").catch(() => undefined);
      const { output } = await stage.shell(
        "red",
        "echo alive; rm -f /workspace/group/evil.cjs; unset NODE_OPTIONS LD_PRELOAD",
      );
      return { seen: output.split("\n")[0] ?? "", holds: output.includes("alive") && stage.host.running };
    },
  },
];
