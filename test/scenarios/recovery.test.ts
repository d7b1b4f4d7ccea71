import { expect, test } from "vitest";

import { TestHost } from "../support/host.ts";
import { runsInOrder, startModelHost, startWithoutContainers } from "../support/model-host.ts";
import { engineWithAgentImage } from "../support/engine.ts";

test("a hot container outlives kill -9 of the host and is taken over at the next start", async () => {
  await using host = await TestHost.start();

  await host.ask("family", "@crab run export MARK=kept");
  const before = await host.containers();
  await host.end("SIGKILL");
  await host.boot();
  const reply = await host.ask("family", "@crab run echo $MARK");

  expect(reply.text).toContain("kept");
  expect(await host.containers()).toEqual(before);
});

test("a container whose configuration changed while the host was down is replaced", async () => {
  await using host = await TestHost.start();

  await host.ask("family", "@crab run export MARK=kept");
  const before = await host.containers();
  await host.end("SIGKILL");
  await host.changeConfig({ sandbox: { pids: 128 } });
  await host.boot();
  const reply = await host.ask("family", "@crab run echo mark=$MARK");

  expect(reply.text).toContain("mark=\n");
  expect(await host.containers()).not.toEqual(before);
  expect(await host.containers()).toHaveLength(1);
  expect(await host.mailFolders()).toHaveLength(1);
});

test("a turn that kill -9 of the host interrupts is answered once after the next start, its tool call not run again", async () => {
  await using running = await startModelHost((request) => {
    if (request.toolOutputs.length === 0 && !request.lastText.includes("unknown")) {
      return { toolCalls: [{ name: "shell", input: { command: "echo run >> /workspace/group/runs; sleep 300" } }] };
    }
    return { text: request.toolOutputs.join(" ") };
  });
  const { host } = running;

  await host.say("family", "@crab go", { id: "one" });
  await expect.poll(() => host.readGroupFile("family", "runs")).toBe("run\n");
  await host.end("SIGKILL");
  await host.boot();
  const reply = await host.replyTo("one");

  expect(reply).toMatchObject({ kind: "reply", inReplyTo: ["one"] });
  expect(reply.text).toContain("interrupted, result unknown");
  expect(await host.readGroupFile("family", "runs")).toBe("run\n");
  expect(await host.containers()).toHaveLength(1);
});

test("a container that dies during a turn is replaced once and the turn goes on", async () => {
  await using running = await startModelHost((request) => {
    if (request.toolOutputs.length === 0) return { toolCalls: [{ name: "shell", input: { command: "sleep 300" } }] };
    return { text: `told: ${request.toolOutputs.join(" ")}` };
  });
  const { host } = running;

  await host.say("family", "@crab go", { id: "one" });
  await expect.poll(async () => (await host.cli("logs", "--group", "family")).stdout).toContain("the agent is working");
  await host.killContainers();
  const reply = await host.replyTo("one");

  expect(reply.kind).toBe("reply");
  expect(reply.text).toContain("interrupted, result unknown");
});

test("a container that dies twice in a turn ends it with a notice, and the operator can retry it", async () => {
  let deadly = true;
  await using running = await startModelHost((request) =>
    deadly
      ? { toolCalls: [{ name: "shell", input: { command: "kill -9 -1" } }] }
      : { text: `fine: ${request.messages.length > 0}` },
  );
  const { host } = running;

  const notice = await host.ask("family", "@crab go", { id: "one" });
  deadly = false;
  const turn = notice.turn ?? "";
  const retried = await host.cli("turns", "retry", turn);
  await expect
    .poll(async () => (await host.replies()).filter((reply) => reply.inReplyTo.includes("one")))
    .toHaveLength(2);
  const last = (await host.replies()).at(-1);

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
  await using running = await startModelHost(async () => {
    await answer.promise;
    return { text: "late" };
  });
  const { host } = running;

  await host.say("family", "@crab go", { id: "one" });
  const code = await host.end("SIGTERM");
  const left = await host.containers();
  answer.resolve();
  await host.boot();
  const reply = await host.replyTo("one");

  expect(code).toBe(0);
  expect(left).toEqual([]);
  expect(reply.text).toBe("late");
});

test("a second start in the same home is refused and says who holds it", async () => {
  await using host = await TestHost.start({ withoutContainers: "all" });

  const second = await host.cli("start");

  expect(second.code).not.toBe(0);
  expect(second.stderr).toContain(String(host.pid));
});

test("with room for one container, the group that speaks takes the place of the idle one", async () => {
  await using host = await TestHost.start({ groups: { one: {}, two: {} }, config: { sessions: { maxHot: 1 } } });

  await host.ask("one", "@crab run true");
  const first = await host.containers();
  await host.ask("two", "@crab run true");
  const second = await host.containers();

  expect(first).toHaveLength(1);
  expect(second).toHaveLength(1);
  expect(second).not.toEqual(first);
});

test("a container that is idle for too long is ended, and the next message gets a new one", async () => {
  await using host = await TestHost.start({ config: { sessions: { idleStopMinutes: 0.005 } } });

  await host.ask("family", "@crab run true");
  await expect.poll(() => host.containers()).toEqual([]);
  const reply = await host.ask("family", "@crab run echo back");

  expect(reply.text).toContain("back");
});

test("a container that somebody else made with this home's label is removed at start", async () => {
  await using host = await TestHost.start();
  await host.ask("family", "@crab run true");
  const [real] = await host.containers();
  await host.end("SIGKILL");
  const { engine, image } = await engineWithAgentImage();
  const labels = { "crabpot.instance": await host.instance(), "crabpot.session": "nobody", "crabpot.generation": "1" };
  const stranger = await engine.create(`crabpot-stranger-${Date.now()}`, {
    Image: image,
    Labels: labels,
    HostConfig: { NetworkMode: "none" },
    Cmd: ["sleep", "300"],
  });
  await engine.start(stranger);

  await host.boot();

  expect(await engine.inspect(stranger)).toBeUndefined();
  expect(await host.containers()).toEqual([real]);
});

test("the conversation goes on after a restart", async () => {
  await using running = await startModelHost(runsInOrder());
  const { host, model } = running;

  await host.ask("family", "@crab my color is teal");
  await host.end("SIGTERM");
  await host.boot();
  await host.ask("family", "@crab which color?");

  expect(
    model.requests
      .at(-1)
      ?.messages.map((message) => message.text)
      .join("\n"),
  ).toContain("teal");
});
