import pino from "pino";
import { expect, test } from "vitest";

import { builtInAdapters } from "../../../src/config/adapters.ts";
import type { OperatorNotice } from "../../../src/delivery/operator-notices.ts";
import type { NewEvent } from "../../../src/domain/events/event.ts";
import { secretsOf } from "../../../src/config/loading/secrets.ts";
import { createReplyFormats } from "../../../src/delivery/reply-redaction.ts";
import { checkConfig } from "../../../src/config/loading/load.ts";
import { prepareHome } from "../../../src/config/home/home.ts";
import type { TurnScope } from "../../../src/turns/turn-scope.ts";
import { newHome } from "../../support/crabpot.ts";
import { someGroup } from "../../support/some-group.ts";

const secrets = {
  token: "gateway-canary-0123456789",
  key: "provider-canary-0123456789",
  family: "family-canary-0123456789",
  office: "office-canary-0123456789",
  local: "open-sesame",
};

const config = `
gateway: { token: ${secrets.token} }
channels: { http: {} }
models: { providers: { gpt: { kind: openai, apiKey: ${secrets.key} }, local: { kind: openai, apiKey: ${secrets.local} } } }
groups:
  family: { channel: http, chat: f, network: { allow: ["a.b:443"] }, secrets: { OURS: { value: ${secrets.family}, hosts: ["a.b:443"] } } }
  office: { channel: http, chat: o, network: { allow: ["a.b:443"] }, secrets: { THEIRS: { value: ${secrets.office}, hosts: ["a.b:443"] } } }
`;

/** Formats texts for the chat of `family`; collects alarms. */
async function formats(now: () => number = () => 0) {
  await using place = await newHome({ "config.yaml": config });
  const home = await prepareHome(place.home);
  const checked = await checkConfig(home.paths.config, {}, builtInAdapters);
  if (!checked.ok) throw new Error(JSON.stringify(checked.faults));
  const records: NewEvent[] = [];
  const notices: OperatorNotice[] = [];
  const errors: string[] = [];
  const publish = async (entry: NewEvent): Promise<void> => {
    records.push(entry);
    await Promise.resolve();
  };
  const logger = pino({ level: "error" }, { write: (line: string) => void errors.push(line) });
  const clock = { now } as Parameters<typeof createReplyFormats>[0]["clock"];
  const { config: read, adapters } = checked.loaded;
  const { formatReply, formatNotice, beginningOf } = createReplyFormats({
    secrets: () => secretsOf(read, adapters),
    onChange: () => undefined,
    homeFolder: home.paths.root,
    tell: (notice) => void notices.push(notice),
    publish,
    logger,
    clock,
  });
  const scope = { group: someGroup("family"), session: { id: "s" }, turn: { id: "t" } } as TurnScope;
  return {
    say: (text: string) => formatReply(text, scope),
    notice: (text: string) => formatNotice(text, scope),
    beginning: (text: string) => beginningOf(text, "family"),
    root: home.paths.root,
    records,
    notices,
    errors,
  };
}

test.each([
  ["the gateway's token", secrets.token, "gateway.token"],
  ["a key that could be guessed", secrets.local, "models.providers.local.apiKey"],
  ["another group's secret", secrets.office, "groups.office.secrets.THEIRS"],
])("an agent that says %s is not corrected, and the operator hears of it elsewhere", async (_what, value, path) => {
  const { say, records, notices, errors } = await formats();
  const text = `is it ${value}, or ${value.slice(0, -1)}x?`;

  const said = [say(text), say(text)];

  expect(said).toEqual([text, text]);
  await expect.poll(() => records.length).toBe(2);
  expect(records[0]).toMatchObject({ type: "secret.said", data: { group: "family", found: [path] } });
  expect(notices).toEqual([{ text: expect.stringContaining(path) as string, hiddenFrom: "family" }]);
  expect(errors).toHaveLength(2);
  expect(JSON.stringify([records, notices, errors])).not.toContain(value);
});

test("a secret of the group's own is taken out of what its agent says; the fourth time in a day the operator is told", async () => {
  let day = 0;
  const { say, records, notices } = await formats(() => day * 86_400_000);

  const said = Array.from({ length: 3 }, () => say(`it is ${secrets.family}`));
  const before = notices.length;
  say(Array.from(secrets.family.toUpperCase()).join(" "));
  say(secrets.family);
  day = 1;
  say(secrets.family);

  expect(said).toEqual(Array.from({ length: 3 }, () => "it is [redacted]"));
  expect(before).toBe(0);
  expect(notices).toEqual([{ text: expect.stringContaining("group family") as string }]);
  expect(records.map(({ data }) => data)).toEqual(Array.from({ length: 6 }, () => ({ count: 1 })));
});

test("a vendor's key is taken out of what an agent says", async () => {
  const { say, records } = await formats();

  expect(say(`it is ${secrets.key}`)).toBe("it is [redacted]");
  expect(records[0]).toMatchObject({ type: "reply.redacted", group: "family", data: { count: 1 } });
});

test("in the host's own words nothing secret is left", async () => {
  const { notice, say, root } = await formats();

  expect(notice(`${Object.values(secrets).join(" ")} ${root}/x`)).toBe(
    "[redacted] [redacted] [redacted] [redacted] [redacted] (home)/x",
  );
  // In an agent's words, that would tell where it is.
  expect(say(`${root}/x`)).toBe(`${root}/x`);
});

test("of an answer that is being written a chat sees nothing of a secret, thoughts or tags, and how much it sees does not depend on what stands at its end", async () => {
  const { beginning } = await formats();
  const start = "word ".repeat(200);
  const forms = [secrets.family, Buffer.from(secrets.family).toString("hex"), Array.from(secrets.family).join(" ")];

  for (const form of forms) {
    const whole = `${start}<internal>hidden</internal>${form}${" and so on".repeat(40)}`;
    for (let end = start.length; end <= whole.length; end += 1) {
      const shown = beginning(whole.slice(0, end));
      expect(shown).not.toContain("hidden");
      expect(shown).not.toContain("<int");
      // What replies lose is lost here too; what is not whole yet is held back.
      expect(shown).not.toContain(form.slice(0, 8));
    }
    expect(beginning(whole)).toContain("[redacted] and");
  }
  const guess = beginning(`${start}${secrets.family.slice(0, 20)}`);
  const other = beginning(`${start}${"?".repeat(20)}`);
  expect(guess).toBe(other);
  expect(beginning("NO_REPLY")).toBe("");
});
