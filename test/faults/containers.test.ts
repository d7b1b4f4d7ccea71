import { readdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { test, vi } from "vitest";

import { findViolations } from "../support/checker.ts";
import { containerTroubles, agentPid } from "../support/container-troubles.ts";
import type { ContainerTrouble } from "../support/container-troubles.ts";
import type { TestHost } from "../support/host.ts";
import { groupOf, startModelHost } from "../support/model-host.ts";
import type { ModelHost } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { Client, endAndAudit, listTurns } from "../support/traffic.ts";

const moments = ["starting", "asking", "running", "idle"] as const;
/** Hosts at once: one for what is noticed at once, and one for what is noticed by silence, which is waited for. */
const kinds = [
  { are: "killed, removed or out of memory", troubles: ["killed", "removed", "out-of-memory"] },
  { are: "paused or hung", troubles: ["paused", "hung"] },
] as const satisfies readonly { readonly are: string; readonly troubles: readonly ContainerTrouble[] }[];
const casesOf = (troubles: readonly ContainerTrouble[]) =>
  troubles.flatMap((trouble) => moments.map((moment) => ({ group: `${moment}-${trouble}`, trouble, moment })));
/** Also what a container gets to start: four of them do at once, and on a busy machine. */
const sessions = { silenceTimeoutSeconds: 20, maxHot: 4 };

/** Holds the first question of the groups that are asking; lets those that are running begin a long command. */
class HoldingModel {
  readonly #asked = new Map<string, PromiseWithResolvers<void>>();
  readonly #released = new Map<string, PromiseWithResolvers<void>>();

  readonly script: ModelScript = async (request) => {
    const group = groupOf(request);
    if (request.toolOutputs.length > 0) return { text: request.toolOutputs.join(" ") };
    if (group.startsWith("running")) {
      return { toolCalls: [{ name: "shell", input: { command: "echo begun >> begun; sleep 300" } }] };
    }
    if (group.startsWith("asking")) {
      gate(this.#asked, group).resolve();
      await gate(this.#released, group).promise;
    }
    return { text: "done" };
  };

  asked(group: string): Promise<void> {
    return gate(this.#asked, group).promise;
  }

  /** Resolves when the group's long command has begun, as the file that it writes says. */
  async running(group: string, read: () => Promise<string>): Promise<void> {
    await vi.waitUntil(async () => (await read()) === "begun\n", { timeout: 120_000, interval: 20 });
  }

  release(group: string): void {
    gate(this.#released, group).resolve();
  }
}

function gate(gates: Map<string, PromiseWithResolvers<void>>, group: string): PromiseWithResolvers<void> {
  const found = gates.get(group) ?? Promise.withResolvers<void>();
  gates.set(group, found);
  return found;
}

/**
 * On a busy machine the engine sometimes cannot freeze a container, and one may be replaced between the look and the
 * deed.
 */
async function befall(host: TestHost, group: string, trouble: ContainerTrouble): Promise<void> {
  for (let left = 5; ; left -= 1) {
    try {
      return await containerTroubles[trouble](await host.containerOf(group));
    } catch (error) {
      if (left === 0 || !/unable to freeze|No such container|is not running/.test(String(error))) throw error;
    }
  }
}

const message = (group: string, index: number) => ({ group, id: `${group}-${index}`, text: "@crab go" });

async function breakAt(
  { host }: ModelHost,
  { client, model }: { client: Client; model: HoldingModel },
  { group, trouble, moment }: ReturnType<typeof casesOf>[number],
): Promise<void> {
  await client.say(message(group, 1));
  if (moment === "asking") await model.asked(group);
  if (moment === "running") await model.running(group, () => host.readGroupFile(group, "begun"));
  if (moment === "idle") await host.replyTo(`${group}-1`);
  await befall(host, group, trouble);
  model.release(group);
  if (moment === "idle") await client.say(message(group, 2));
}

test("every trouble is among them", ({ expect }) => {
  expect(kinds.flatMap(({ troubles }) => troubles).toSorted()).toEqual(Object.keys(containerTroubles).toSorted());
});

test.concurrent.for(kinds)(
  "containers that are $are at any step are replaced, and their turns go on",
  { timeout: 600_000 },
  async ({ troubles }, { expect }) => {
    const cases = casesOf(troubles);
    const model = new HoldingModel();
    const groups = cases.map(({ group }) => group);
    await using running = await startModelHost(model.script, {
      process: "shared",
      groups: Object.fromEntries(groups.map((group) => [group, {}])),
      config: { sessions, sandbox: { memoryMb: 256 } },
    });
    const { host } = running;
    const client = new Client(host);

    for (const trouble of troubles) {
      const own = cases.filter((each) => each.trouble === trouble);
      await Promise.all(own.map((each) => breakAt(running, { client, model }, each)));
      await client.readAll(120_000);
    }
    const turns = await listTurns(host, groups);
    const end = await endAndAudit(host);

    expect(findViolations({ sent: client.sent, replies: client.replies, turns, ...end })).toEqual([]);
    // The engine notices most ends for lack of memory, not all.
    const notices = client.replies.filter(({ kind }) => kind !== "reply");
    expect(notices.filter(({ group }) => !group.endsWith("out-of-memory"))).toEqual([]);
    const known =
      /^The container(?: ran out of memory and was ended|'s memory was used up: (?:a|\d+) process(?:es)? had to be ended)\.$/;
    expect(notices.filter(({ text }) => !known.test(text ?? ""))).toEqual([]);
    const interrupted = client.replies.filter(({ text }) => text?.includes("interrupted, result unknown"));
    expect(interrupted.map(({ group }) => group).toSorted()).toEqual(
      groups.filter((group) => group.startsWith("running")).toSorted(),
    );
  },
);

/** Waits for a message with these words in a mailbox of the home, and cuts it off in the middle. */
async function truncateMessage(home: string, folder: "to-host" | "to-agent", words: string): Promise<void> {
  const mail = join(home, "sessions");
  const isCut = async (): Promise<boolean> => {
    // A folder may go meanwhile.
    const names = await readdir(mail, { recursive: true }).catch((): string[] => []);
    for (const name of names.filter((path) => path.includes(`/${folder}/`) && path.endsWith(".json"))) {
      const text = await readFile(join(mail, name), "utf8").catch(() => "");
      if (!text.includes(words)) continue;
      await truncate(join(mail, name), Math.floor(text.length / 2));
      return true;
    }
    return false;
  };
  await vi.waitUntil(isCut, { timeout: 120_000, interval: 20 });
}

test.concurrent("a message of the agent that is cut off is noticed at once, and the turn goes on in another container", async ({
  expect,
}) => {
  await using running = await startModelHost((request) =>
    request.toolOutputs.length === 0
      ? {
          toolCalls: [{ name: "shell", input: { command: "echo begun > begun; until [ -e go ]; do sleep 0.1; done" } }],
        }
      : { text: request.toolOutputs.join(" ") },
  );
  const { host } = running;

  await host.say("family", "@crab go", { id: "one" });
  await expect.poll(() => host.readGroupFile("family", "begun")).toBe("begun\n");
  process.kill(host.pid, "SIGSTOP");
  await writeFile(join(host.home, "groups/family/go"), "");
  await truncateMessage(host.home, "to-host", "model-request");
  process.kill(host.pid, "SIGCONT");
  const reply = await host.replyTo("one");

  expect(reply.kind).toBe("reply");
  expect(reply.text).toContain("interrupted, result unknown");
});

test.concurrent("a message to the agent that is cut off is noticed by its silence, and the turn goes on in another container", async ({
  expect,
}) => {
  const model = new HoldingModel();
  await using running = await startModelHost(model.script, {
    process: "shared",
    groups: { asking: {} },
    config: { sessions },
  });
  const { host } = running;

  await host.say("asking", "@crab go", { id: "one" });
  await model.asked("asking");
  const pid = await agentPid(await host.containerOf("asking"));
  process.kill(pid, "SIGSTOP");
  model.release("asking");
  await truncateMessage(host.home, "to-agent", "model-response");
  process.kill(pid, "SIGCONT");
  const reply = await host.replyTo("one");

  expect(reply).toMatchObject({ kind: "reply", text: "done" });
  await expect.poll(() => host.output.join("")).toContain("no sign of life");
});
