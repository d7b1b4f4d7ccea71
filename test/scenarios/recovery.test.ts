import { existsSync } from "node:fs";
import { glob } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { startWithoutContainers } from "../support/model-host.ts";
import { engineWithAgentImage } from "../support/engine.ts";
import { bootForAll, keepRunning, restart } from "../support/restarts.ts";
import { shareModelHost } from "../support/shared-host.ts";
import { editSettings } from "../../src/operations/settings/operations.ts";

/** Groups whose messages say what is run. */
const scripted = { model: "scripted" };

const hosts = shareModelHost({
  groups: {
    taken: scripted,
    next: scripted,
    changed: scripted,
    interrupted: {},
    dying: {},
    deadly: {},
    unanswered: {},
    idle: scripted,
    labeled: scripted,
    going: {},
  },
  models: { routes: { main: ["gpt/test-model"], scripted: ["offline/scripted"] } },
  providers: { offline: { kind: "offline" } },
  // One at a time: a group that speaks takes the place of the one before it.
  config: { sessions: { maxHot: 1 } },
  withoutContainers: ["going"],
});
keepRunning(() => hosts.running);

test("a hot container outlives kill -9 of the host and is taken over at the next start, until another group takes its place", async () => {
  const { host } = hosts.running;

  await host.ask("taken", "@crab run export MARK=kept");
  const before = await host.containers();
  await restart(host);
  const reply = await host.ask("taken", "@crab run echo $MARK");
  const after = await host.containers();
  await host.ask("next", "@crab run true");
  const last = await host.containers();

  expect(reply.text).toContain("kept");
  expect(before).toHaveLength(1);
  expect(after).toEqual(before);
  expect(last).toHaveLength(1);
  expect(last).not.toEqual(after);
});

test("a container whose configuration changed while the host was down is replaced", async () => {
  const { host } = hosts.running;

  await host.ask("changed", "@crab run export MARK=kept");
  const before = await host.containers();
  await restart(host, { between: () => host.changeConfig({ sandbox: { pids: 128 } }) });
  const reply = await host.ask("changed", "@crab run echo mark=$MARK");

  expect(reply.text).toContain("mark=\n");
  expect(before).toHaveLength(1);
  expect(await host.containers()).not.toEqual(before);
  expect(await host.containers()).toHaveLength(1);
  expect(await Array.fromAsync(glob("sessions/*/mail/*", { cwd: host.home }))).toHaveLength(1);
});

test("a turn that kill -9 of the host interrupts is answered once after the next start, its tool call not run again", async () => {
  const { host } = hosts.running;
  const group = hosts.group("interrupted", (request) => {
    if (request.toolOutputs.length === 0 && !request.lastText.includes("unknown")) {
      return { toolCalls: [{ name: "shell", input: { command: "echo run >> /workspace/group/runs; sleep 300" } }] };
    }
    return { text: request.toolOutputs.join(" ") };
  });

  await group.say("@crab go", { id: "one" });
  await expect.poll(() => group.readFile("runs")).toBe("run\n");
  await restart(host);
  const reply = await group.replyTo("one");

  expect(reply).toMatchObject({ kind: "reply", inReplyTo: ["one"] });
  expect(reply.text).toContain("interrupted, result unknown");
  expect(await group.readFile("runs")).toBe("run\n");
  expect(await host.containers()).toHaveLength(1);
});

test("a container that dies during a turn is replaced once and the turn goes on", async () => {
  const { host } = hosts.running;
  const group = hosts.group("dying", (request) => {
    if (request.toolOutputs.length === 0) {
      return { toolCalls: [{ name: "shell", input: { command: "touch begun; sleep 300" } }] };
    }
    return { text: `told: ${request.toolOutputs.join(" ")}` };
  });

  await group.say("@crab go", { id: "one" });
  await expect.poll(() => existsSync(join(host.home, "groups/dying/begun"))).toBe(true);
  await using engine = await host.openEngine();
  for (const id of await host.containers()) await engine.kill(id);
  const reply = await group.replyTo("one");

  expect(reply.kind).toBe("reply");
  expect(reply.text).toContain("interrupted, result unknown");
});

test("a container that dies twice in a turn ends it with a notice, and the operator can retry it", async () => {
  let deadly = true;
  const { host } = hosts.running;
  const group = hosts.group("deadly", (request) =>
    deadly
      ? { toolCalls: [{ name: "shell", input: { command: "kill -9 -1" } }] }
      : { text: `fine: ${request.messages.length > 0}` },
  );

  const notice = await group.ask("@crab go", { id: "one" });
  deadly = false;
  const turn = notice.turn ?? "";
  const retried = await host.cli("turns", "retry", turn);
  await expect
    .poll(async () => (await group.replies()).filter((reply) => reply.inReplyTo.includes("one")))
    .toHaveLength(2);
  const last = (await group.replies()).at(-1);

  expect(notice.kind).toBe("notice");
  expect(notice.text).toContain("ended again and again. Your message is kept");
  expect(retried.code).toBe(0);
  expect(last).toMatchObject({ kind: "reply", text: "fine: true" });
});

test("members are told in plain words that a model cannot be reached, the main group once with what was tried", async () => {
  await using running = await startWithoutContainers(() => ({ fault: "status", status: 401, message: "no such key" }), {
    groups: { family: {}, friends: {}, boss: { main: true } },
  });
  const { host } = running;

  const notice = await host.ask("family", "@crab go");
  const again = await host.ask("family", "@crab go on");
  await host.ask("friends", "@crab go");
  const own = await host.ask("boss", "go");
  const told = (await host.replies()).filter(({ group, inReplyTo }) => group === "boss" && inReplyTo.length === 0);
  const shown = await host.cli("turns", "show", notice.turn ?? "");

  const plain = "I could not finish this: I cannot reach my model just now. The operator has been told.";
  expect([notice.kind, notice.text, again.text]).toEqual(["notice", plain, plain]);
  expect(told.map(({ text }) => text)).toEqual([
    expect.stringMatching(/group family failed: .*gpt\/test-model.*401.*turns show/),
  ]);
  expect(own.text).toContain("gpt/test-model");
  expect(shown.stdout).toContain("gpt/test-model");
  expect(notice.text + own.text + told.map(({ text }) => text).join("")).not.toContain("canary");
});

test("SIGTERM ends the host with 0 and leaves no container; unanswered messages are answered at the next start", async () => {
  const answer = Promise.withResolvers<void>();
  const { host } = hosts.running;
  const group = hosts.group("unanswered", async () => {
    await answer.promise;
    return { text: "late" };
  });

  await group.say("@crab go", { id: "one" });
  await expect.poll(() => group.requests.length).toBe(1);
  const code = await host.end("SIGTERM");
  const left = await host.containers();
  answer.resolve();
  await bootForAll(host);
  const reply = await group.replyTo("one");

  expect(code).toBe(0);
  expect(left).toEqual([]);
  expect(reply.text).toBe("late");
});

test("a second start in the same home is refused and says who holds it", async () => {
  const { host } = hosts.running;

  const second = await host.cli("start");

  expect(second.code).not.toBe(0);
  expect(second.stderr).toContain(String(host.pid));
});

test("a container that is idle for too long is ended, and the next message gets a new one", async () => {
  const { host } = hosts.running;
  const path = ["sessions", "idleStopMinutes"];
  await host.control.call(editSettings, { edits: [{ path, value: 0.005 }] });

  const first = await host.ask("idle", "@crab run echo here");
  await expect.poll(() => host.containers()).toEqual([]);
  const reply = await host.ask("idle", "@crab run echo back");
  await host.control.call(editSettings, { edits: [{ path, value: undefined }] });

  expect([first.text, reply.text]).toEqual([expect.stringContaining("here"), expect.stringContaining("back")]);
});

test("a container that somebody else made with this home's label is removed at start", async () => {
  const { host } = hosts.running;
  await host.ask("labeled", "@crab run true");
  const [real] = await host.containers();
  let stranger = "";
  const { engine, image } = await engineWithAgentImage();
  await using _ = engine;
  const labels = { "crabpot.instance": await host.instance(), "crabpot.session": "nobody", "crabpot.generation": "1" };

  await restart(host, {
    between: async () => {
      stranger = await engine.create(`crabpot-stranger-${Date.now()}`, {
        Image: image,
        Labels: labels,
        HostConfig: { NetworkMode: "none" },
        Cmd: ["sleep", "300"],
      });
      await engine.start(stranger);
    },
  });

  expect(await engine.inspect(stranger)).toBeUndefined();
  expect(await host.containers()).toEqual([real]);
});

test("the conversation goes on after a restart", async () => {
  const group = hosts.group("going", () => ({ text: "ok" }));

  await group.ask("@crab my color is teal");
  await restart(hosts.running.host, { signal: "SIGTERM" });
  await group.ask("@crab which color?");

  const shown = group.requests.at(-1)?.messages ?? [];
  expect(shown.map((message) => message.text).join("\n")).toContain("teal");
});
