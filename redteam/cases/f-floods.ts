import { randomUUID } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

import type { Attack } from "../suite/attack.ts";
import { ownLog, OwnHome } from "../suite/own-host.ts";
import type { SaidOptions, Stage } from "../suite/stage.ts";

const megabyte = 1024 * 1024;
/** Texts of maximum length, in ASCII and in three-byte letters. */
const longText = "x".repeat(65_536);
const wideText = "€".repeat(65_536);

interface Flood {
  readonly times: number;
  readonly group: (index: number) => string;
  readonly text: string;
  readonly said: (index: number) => SaidOptions;
}

/** Posts messages, eight at a time; returns each status. */
async function flood(stage: Stage, { times, group, text, said }: Flood): Promise<number[]> {
  const statuses: number[] = [];
  let next = 0;
  const post = async (): Promise<void> => {
    for (let index = next++; index < times; index = next++) {
      statuses.push((await stage.say(group(index), text, said(index))).status);
    }
  };
  await Promise.all(Array.from({ length: 8 }, post));
  return statuses;
}

function count(statuses: readonly number[], wanted: number): number {
  return statuses.filter((status) => status === wanted).length;
}

/** Words for the evidence. */
function describe(statuses: readonly number[]): string {
  return `${count(statuses, 202)} taken, ${count(statuses, 429)} refused of ${statuses.length}`;
}

function limitHit(limit: string, actor: RegExp): Attack["audit"] {
  return { type: "limit-hit", where: ({ data, ...record }) => data["limit"] === limit && actor.test(record.actor) };
}

/** A stranger each time that the attack is played: a day's limits last for the day. */
function newMember(attack: string): { id: string; name: string } {
  return { id: `${attack}-${randomUUID()}`, name: "Flooder" };
}

export const attacks: readonly Attack[] = [
  {
    id: "F17",
    title: "one member fills the store: texts of 64 kB without a mention, one after another",
    from: "chat",
    expected: "the member is kept out for the day; others in the group and other groups are served",
    audit: limitHit("megabytes-per-member-per-day", /^member:f17-/),
    hostStaysAwake: true,
    attempt: async (stage) => {
      const sender = newMember("f17");
      const statuses = await flood(stage, { times: 200, group: () => "red", text: longText, said: () => ({ sender }) });
      const bystander = await stage.say("red", "hello", { sender: newMember("f17-bystander") });
      await forget(stage, ["red"]);
      return {
        seen: describe(statuses),
        holds: count(statuses, 202) * longText.length <= 6 * megabyte && bystander.status === 202,
      };
    },
  },
  {
    id: "F18",
    title: "the same in what stands beside a text: quotes, names and ids, in letters of three bytes",
    from: "chat",
    expected: "all that is stored counts; the member is kept out for the day",
    audit: limitHit("megabytes-per-member-per-day", /^member:f18-/),
    attempt: async (stage) => {
      const sender = { ...newMember("f18"), name: "€".repeat(256) };
      const replyTo = { id: "€".repeat(256), author: "€".repeat(256), text: "€".repeat(4_096) };
      const said = (): SaidOptions => ({ sender, replyTo, id: `${randomUUID()}${"€".repeat(200)}` });
      const statuses = await flood(stage, { times: 500, group: () => "drowned", text: "x", said });
      // The author of a quote that the store does not have is not kept.
      const bytes = 3 * (256 * 2 + 4_096 + 200);
      return { seen: describe(statuses), holds: count(statuses, 202) * bytes <= 6 * megabyte };
    },
  },
  {
    id: "F19",
    title: "one member floods all groups in turn, so that none of them reaches its own limit",
    from: "chat",
    expected: "the member's day is one over all groups",
    audit: limitHit("megabytes-per-member-per-day", /^member:f19-/),
    attempt: async (stage) => {
      const sender = newMember("f19");
      const groups = ["red", "blue", "mounts", "locked", "egress"];
      const group = (index: number): string => groups[index % groups.length] ?? "";
      const statuses = await flood(stage, { times: 150, group, text: longText, said: () => ({ sender }) });
      const other = await stage.say("egress", "hello", { sender: newMember("f19-bystander") });
      await forget(stage, groups);
      return {
        seen: describe(statuses),
        holds: count(statuses, 202) * longText.length <= 6 * megabyte && other.status === 202,
      };
    },
  },
  {
    id: "F21",
    title: "one member fills the disk with files",
    from: "chat",
    expected: "the files of a day have a sum; beyond it the messages come without them",
    audit: limitHit("attachment-megabytes-per-member-per-day", /^member:f21-/),
    hostStaysAwake: true,
    attempt: async (stage) => {
      const data = Buffer.alloc(10 * megabyte, "x").toString("base64");
      const sender = newMember("f21");
      const said = (): SaidOptions => ({ sender, attachments: [{ name: "x", mimeType: "text/plain", data }] });
      const statuses = await flood(stage, { times: 6, group: () => "drowned", text: "look", said });
      const inbox = join(stage.groupFolder("drowned"), "inbox");
      const files = await Promise.all((await readdir(inbox)).map(async (name) => (await stat(join(inbox, name))).size));
      await rm(inbox, { recursive: true, force: true });
      const bytes = files.reduce((sum, size) => sum + size, 0);
      return {
        seen: `${describe(statuses)}; ${Math.round(bytes / megabyte)} MB of files`,
        holds: count(statuses, 202) === 6 && bytes > 0 && bytes <= 32 * megabyte,
      };
    },
  },
  {
    id: "F20",
    title: "a group floods with a new member for each message",
    from: "chat",
    expected: "the group is kept out for the day and told once; its commands still work, other groups are served",
    audit: limitHit("megabytes-per-group-per-day", /^member:f20-/),
    attempt: async (stage) => {
      const said = (): SaidOptions => ({ sender: newMember("f20") });
      const statuses = await flood(stage, { times: 160, group: () => "drowned", text: wideText, said });
      const command = await stage.say("drowned", "/status", { sender: newMember("f20") });
      const status = await stage.replyWhere(({ inReplyTo }) => inReplyTo.includes(command.id));
      const { output } = await stage.shell("red", "echo alive");
      const told = (await stage.allReplies()).filter(
        ({ group, text }) => group === "drowned" && text.includes("This group has sent"),
      );
      const bytes = count(statuses, 202) * Buffer.byteLength(wideText);
      return {
        seen: `${describe(statuses)}, told ${told.length} times, /status: ${status.text.slice(0, 40)}`,
        holds: bytes <= 24 * megabyte && count(statuses, 429) > 0 && told.length === 1 && output.includes("alive"),
      };
    },
  },
  {
    id: "F22",
    title: "a new group for each message, where names become groups automatically",
    from: "chat",
    expected: "this many a day and no more, with a reason; names of devices never; groups that are there are served",
    audit: ownLog,
    attempt: async (stage) => {
      await using home = await OwnHome.open(stage);
      const limits = { autoRegister: { perDay: 20, total: 15 } };
      await home.configure({ channels: { http: { autoRegister: true } }, groups: {}, intake: limits });
      const names = Array.from({ length: 100 }, (_, index) => `made-${index}`);
      const [statuses, devices, known]: [number[], number[], string[]] = [[], [], []];
      await home.live(async (host) => {
        const say = (group: string): Promise<number> => home.say(host, group, { id: randomUUID() });
        statuses.push(...(await Promise.all(names.map(say))));
        devices.push(...(await Promise.all(["con", "nul", "com1", "lpt9"].map(say))));
        const folders = await readdir(join(home.path, "groups"));
        known.push(...folders.filter((name) => name.startsWith("made-")));
        statuses.push(await say(known[0] ?? ""));
      });
      const records = (await home.records("limit-hit")).filter(
        ({ data }) => data["limit"] === "auto-registered-groups-total",
      );
      return {
        seen: `${describe(statuses)}, ${known.length} folders; devices: ${devices.join(" ")}; ${records.length} records`,
        holds:
          count(statuses, 202) === 16 &&
          known.length === 15 &&
          statuses.at(-1) === 202 &&
          records.length === 1 &&
          devices.every((status) => status === 404),
      };
    },
  },
];

/** Starts new conversations: a flood's leftover context may exceed the next turn. */
async function forget(stage: Stage, groups: readonly string[]): Promise<void> {
  for (const group of groups) await stage.ask(group, "/new", { sender: newMember("forget") });
}
