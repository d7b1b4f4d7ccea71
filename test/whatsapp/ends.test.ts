import { readdirSync, readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { supervisorLimits } from "../../src/channels/supervisor.ts";
import { sleep, type Sleep } from "../../src/lib/time/sleep.ts";
import { shareServerProcess } from "../support/whatsapp/fake-whatsapp.ts";
import { outgoing, WhatsAppRig } from "../support/whatsapp-rig.ts";

shareServerProcess();

/** Worker processes of this test. */
function workers(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const isWorker = readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("/programs-of-tests/worker.mjs");
        return (
          isWorker && readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[1] === String(process.pid)
        );
      } catch {
        return false;
      }
    });
}

test("an account that is unlinked on the phone stops the channel, its keys are set aside, and it can be linked anew", async () => {
  await using rig = await WhatsAppRig.linked();

  await rig.whatsapp.perform("unlink", { account: rig.whatsapp.bot.name });
  await expect.poll(() => rig.channel.state().state).toBe("logged-out");

  expect(rig.alarms).toEqual([expect.stringContaining("unlinked on the phone")]);
  expect(workers()).toEqual([]);
  expect((await rig.store.channelState.list("whatsapp")).size).toBe(0);
  expect((await rig.store.channelState.read("whatsapp/unlinked", ["credentials"])).size).toBe(1);
  const events = await rig.link();
  expect(events.at(-1)).toMatchObject({ state: "open" });
});

test("another session that takes over is not fought: one try, then the operator", async () => {
  await using rig = await WhatsAppRig.linked();

  await rig.whatsapp.endStream(440);
  await expect.poll(() => rig.states.map(({ state }) => state)).toEqual(["open", "conflict", "open"]);
  await rig.whatsapp.endStream(440);
  await expect.poll(() => rig.channel.state().state).toBe("conflict");

  expect(rig.alarms).toHaveLength(2);
  await expect.poll(() => workers()).toEqual([]);
});

test("a ban, a version that is too old and an account that is not for us are not tried in vain, and the operator is told", async () => {
  await using rig = await WhatsAppRig.linked();
  const ends = [
    [403, /^closed WhatsApp has banned the account;/],
    [411, /^closed the account cannot be used by linked devices;/],
    [402, /^connecting WhatsApp has banned the account; .* next try in 86400 s/],
    [405, /^connecting .* update crabpot, .* next try in 3600 s/],
  ] as const;

  for (const [code, expected] of ends) {
    await rig.stop();
    rig.alarms.length = 0;
    await rig.whatsapp.fault({ loginFailure: code });
    await rig.start();
    await expect.poll(() => `${rig.channel.state().state} ${rig.channel.state().detail ?? ""}`).toMatch(expected);
    expect(rig.alarms).toHaveLength(1);
  }
});

test("a restart that the server wants, a busy server and an upgrade that hangs end in a new connection", async () => {
  // Its time to connect is over when the test says so, not while a process starts on a busy machine.
  let timeIsOver = new AbortController();
  const wait: Sleep = (ms, signal) =>
    sleep(ms, ms === supervisorLimits.connectMs ? AbortSignal.any([signal, timeIsOver.signal]) : signal);
  await using rig = await WhatsAppRig.linked({ wait });
  const { ann, group } = await rig.family();
  const before = rig.states.length;

  await rig.whatsapp.endStream(515);
  await expect.poll(() => rig.states.length).toBe(before + 2);
  await rig.whatsapp.endStream(503);
  await expect.poll(() => rig.states.length).toBe(before + 4);
  await rig.whatsapp.fault({ upgrade: "refuse" });
  await rig.whatsapp.cut();
  await expect.poll(() => rig.channel.state().detail).toMatch(/answered with 503/);
  await rig.whatsapp.fault({ upgrade: "hang" });
  await expect.poll(() => rig.whatsapp.perform("trace", {})).toContain("! an upgrade hangs");
  const over = timeIsOver;
  timeIsOver = new AbortController();
  over.abort();
  await expect.poll(() => rig.channel.state().detail).toMatch(/not connected within/);
  const hung = workers();
  await rig.whatsapp.fault({ upgrade: "accept" });
  await expect.poll(() => rig.channel.state().state).toBe("open");
  await rig.send(outgoing(group.id, 1, "here again"));

  expect(hung.length).toBeLessThanOrEqual(1);
  expect(workers()).toHaveLength(1);
  expect(await ann.texts(group)).toEqual(["here again"]);
});

test("a line that has gone dead without a word is noticed and made anew", async () => {
  await using rig = await WhatsAppRig.linked({ supervisor: { silenceMs: 1_000, probeMs: 1_000 } });

  await rig.whatsapp.fault({ silent: true });
  await expect.poll(() => rig.channel.state().detail).toContain("no answer");
  await rig.whatsapp.fault({ silent: false });

  await expect.poll(() => rig.channel.state().state).toBe("open");
});

test("a worker that is stuck is killed, and another one takes over", async () => {
  const worker = { beatMs: 50, silenceMs: 12_000, endMs: 500 };
  await using rig = await WhatsAppRig.linked({ worker });
  const [stuck] = workers();

  process.kill(stuck ?? 0, "SIGSTOP");
  await expect.poll(() => rig.channel.state().detail).toContain("no sign of life");
  await expect.poll(() => rig.channel.state().state).toBe("open");

  expect(workers()).not.toContain(stuck);
  expect(workers()).toHaveLength(1);
});

test("nothing that the library prints, and nothing of ours, gets where it should not", async () => {
  await using rig = await WhatsAppRig.linked();
  const { ann, group } = await rig.family();
  const [worker] = workers();
  const environment = readFileSync(`/proc/${worker}/environ`, "utf8");

  await ann.say(group, "secret words", { withoutKey: true });
  await ann.say(rig.whatsapp.bot, "secret words");
  await expect.poll(() => rig.accepted.length).toBe(2);
  await rig.send(outgoing(group.id, 1, "secret words"));
  const keys = await rig.store.channelState.read("whatsapp", ["credentials"]);
  await rig.stop();

  const credentials = Buffer.from(keys.get("credentials") ?? new Uint8Array()).toString();
  const secrets = [...credentials.matchAll(/"data":"([^"]{40,})"/g)].map(([, secret]) => secret ?? "");
  expect(secrets.length).toBeGreaterThan(5);
  expect(secrets.filter((secret) => rig.log.includes(secret))).toEqual([]);
  expect(rig.log).not.toContain("secret words");
  expect(rig.log).not.toContain("SessionEntry");
  expect(environment).toContain("NODE_EXTRA_CA_CERTS");
  expect(environment).not.toContain("canary");
});
