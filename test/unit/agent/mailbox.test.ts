import { mkdirSync, renameSync } from "node:fs";
import { mkdir, readFile, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { AgentMailbox } from "../../../container/agent/mailbox.ts";
import { limits } from "../../../src/protocol/limits.ts";
import { messageFileId, writeMessageFile } from "../../../src/protocol/mailbox-file.ts";
import { protocolVersion } from "../../../src/protocol/version.ts";
import type { HostPayload } from "../../../src/protocol/messages.ts";
import { messageFileName } from "../../../src/protocol/paths.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

interface AgentsEnd extends AsyncDisposable {
  readonly mailbox: AgentMailbox;
  readonly toAgent: string;
  readonly toHost: string;
  readonly received: HostPayload[];
  readonly complaints: string[];
}

async function openAgentsEnd(rescanMs?: number): Promise<AgentsEnd> {
  const folder = await temporaryFolder();
  const [toAgent, toHost] = [join(folder.path, "to-agent"), join(folder.path, "to-host")];
  await mkdir(toAgent);
  await mkdir(toHost);
  const received: HostPayload[] = [];
  const complaints: string[] = [];
  const mailbox = new AgentMailbox({
    toAgent,
    toHost,
    generation: 1,
    onMessage: (payload) => void received.push(payload),
    isBusy: () => false,
    rescanMs,
    onFailure: (error) => void complaints.push(String(error)),
    log: (text) => void complaints.push(text),
  });
  const end = async (): Promise<void> => {
    mailbox[Symbol.dispose]();
    await folder[Symbol.asyncDispose]();
  };
  return { mailbox, toAgent, toHost, received, complaints, [Symbol.asyncDispose]: end };
}

function cancelOf(turn: string, id: number): string {
  return JSON.stringify({
    version: protocolVersion,
    id,
    generation: 1,
    acked: 0,
    payload: { type: "cancel", turn, reason: "" },
  });
}

test("an agent whose host does not read waits before the folder is too full, and goes on when it is read", async () => {
  await using agent = await openAgentsEnd();
  const count = 2 * limits.files;
  let sent = 0;
  const sends = Array.from({ length: count }, async (_, index) => {
    await agent.mailbox.send({ type: "log", level: "info", text: String(index) });
    sent += 1;
  });

  await expect.poll(() => sent).toBeGreaterThanOrEqual(limits.files / 2 - 1);
  let fullest = 0;
  // Each look gives the agent the time of a look to write on.
  for (let look = 0; look < count; look += 1) fullest = Math.max(fullest, (await readdir(agent.toHost)).length);
  for (let taken = 0; taken < count;) {
    const names = await readdir(agent.toHost);
    fullest = Math.max(fullest, names.length);
    for (const name of names.filter((one) => messageFileId(one) !== undefined)) {
      await rm(join(agent.toHost, name));
      taken += 1;
    }
  }
  await Promise.all(sends);

  expect(fullest).toBeLessThanOrEqual(limits.files);
});

test("messages that were there before, and those that come later, arrive once and in order", async () => {
  await using agent = await openAgentsEnd();
  writeMessageFile(agent.toAgent, 11, cancelOf("b", 11));
  writeMessageFile(agent.toAgent, 10, cancelOf("a", 10));

  agent.mailbox.listen();
  await expect.poll(() => agent.received).toHaveLength(2);
  writeMessageFile(agent.toAgent, 12, cancelOf("c", 12));

  await expect.poll(() => agent.received.map((payload) => "turn" in payload && payload.turn)).toEqual(["a", "b", "c"]);
});

test("a message that cannot be understood is passed over, and the next one is taken", async () => {
  await using agent = await openAgentsEnd();
  agent.mailbox.listen();

  writeMessageFile(agent.toAgent, 1, "nonsense");
  writeMessageFile(agent.toAgent, 2, cancelOf("a", 2));

  await expect.poll(() => agent.received).toHaveLength(1);
  expect(agent.complaints).toEqual(["message 1 of the host was ignored: not JSON"]);
});

test("the host learns what the agent has taken", async () => {
  await using agent = await openAgentsEnd();
  writeMessageFile(agent.toAgent, 7, cancelOf("a", 7));
  agent.mailbox.listen();
  await expect.poll(() => agent.received).toHaveLength(1);

  await agent.mailbox.send({ type: "log", level: "info", text: "" });

  expect(JSON.parse(await readFile(join(agent.toHost, messageFileName(1)), "utf8"))).toMatchObject({ id: 1, acked: 7 });
});

test("where file events do not arrive, as in some sandboxed runtimes, messages are found by looking often", async () => {
  await using agent = await openAgentsEnd(50);
  agent.mailbox.listen();
  // What is watched is the folder that was there first; nobody hears of what is written into the new one.
  renameSync(agent.toAgent, `${agent.toAgent}.watched`);
  mkdirSync(agent.toAgent);

  writeMessageFile(agent.toAgent, 1, cancelOf("one", 1));

  await expect.poll(() => agent.received.map(({ type }) => type)).toEqual(["cancel"]);
});
