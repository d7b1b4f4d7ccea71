import type { Attack } from "../suite/attack.ts";
import type { SaidOptions, Stage, StageGroup } from "../suite/stage.ts";

/** A bot's answer to the agent; `round` counts from 0. */
type Bot = (round: number, seq: number) => SaidOptions & { readonly text: string };

/**
 * Bots that answer each answer of the agent at once, until one comes no more. How many turns that was, by the audit
 * log.
 */
async function converse(stage: Stage, group: StageGroup, rounds: number, bot: Bot): Promise<number> {
  const before = (await stage.recordsAfter(0)).at(-1)?.seq ?? 0;
  let seq = 0;
  for (let round = 0; round < rounds; round += 1) {
    const { text, ...options } = bot(round, seq);
    const { id } = await stage.say(group, text, options);
    const reply = await stage.replyWhere(
      ({ inReplyTo, text: said }) => inReplyTo.includes(id) || (round > 0 && isPause(said)),
      seq,
    );
    if (isPause(reply.text)) break;
    seq = reply.seq;
  }
  // Nothing that is said in the pause is answered.
  for (let times = 0; times < 10; times += 1) {
    const { text, ...options } = bot(rounds + times, seq);
    await stage.say(group, text, options);
  }
  await stage.ask("blue", "@crab hello");
  const records = await stage.recordsAfter(before);
  return records.filter((record) => record.type === "turn-start" && record.group === group).length;
}

function isPause(text: string): boolean {
  return text.includes("I pause for");
}

function limitHit(limit: string): Attack["audit"] {
  return { type: "limit-hit", where: ({ data }) => data["limit"] === limit };
}

/** The limit of the group `bots`, and of `busy`. */
const allowed = 6;
const rounds = 20;

export const attacks: readonly Attack[] = [
  {
    id: "F23",
    title: "two bots that answer the agent's answers, by mention and by reply",
    from: "chat",
    expected: "after this many turns in a row the agent pauses and says so; somebody else is answered at once",
    audit: limitHit("loop"),
    attempt: async (stage) => {
      const turns = await converse(stage, "bots", rounds, (round, seq) => ({
        sender: { id: `f23-bot-${round % 2}`, name: `Bot ${round % 2}` },
        ...(round % 2 === 0 ? { text: "@crab go on" } : { text: "go on", replyTo: { id: String(seq) } }),
      }));
      const command = await stage.say("bots", "/status", { sender: { id: "f23-bot-0", name: "Bot" } });
      const status = await stage.replyWhere(({ inReplyTo }) => inReplyTo.includes(command.id));
      const person = await stage.ask("bots", "@crab hello", { sender: { id: "f23-person", name: "Ann" } });
      return {
        seen: `${turns} turns; ${status.text.split("\n").at(-1) ?? ""}; a person: ${person.text.slice(0, 30)}`,
        holds: turns === allowed && status.text.includes("Not answering") && person.kind === "reply",
      };
    },
  },
  {
    id: "F24",
    title: "three bots in turn that change their names, mentioned by the platform and by text",
    from: "chat",
    expected: "known by their ids; after this many turns in a row the agent pauses",
    audit: limitHit("loop"),
    attempt: async (stage) => {
      const turns = await converse(stage, "bots", rounds, (round) => ({
        sender: { id: `f24-bot-${round % 3}`, name: `Person ${round}` },
        mention: round % 2 === 0,
        text: round % 2 === 0 ? "go on" : "@crab go on",
      }));
      return { seen: `${turns} turns`, holds: turns === allowed };
    },
  },
  {
    id: "F25",
    title: "one bot that never waits for an answer",
    from: "chat",
    expected: "turns in a row are counted all the same; what was said is kept as context",
    audit: { type: "message-in", where: ({ data }) => data["held"] === "loop" && data["state"] === "context" },
    attempt: async (stage) => {
      const before = (await stage.recordsAfter(0)).at(-1)?.seq ?? 0;
      const sender = { id: "f25-bot", name: "Bot" };
      const statuses: number[] = [];
      const held = async (): Promise<boolean> =>
        (await stage.recordsAfter(before)).some(({ data }) => data["held"] === "loop");
      for (let round = 0; round < 60 && !(await held()); round += 1) {
        for (let times = 0; times < 5; times += 1) {
          statuses.push((await stage.say("bots", "@crab go on", { sender })).status);
        }
      }
      await stage.ask("blue", "@crab hello");
      const records = await stage.recordsAfter(before);
      const turns = records.filter(({ type, group }) => type === "turn-start" && group === "bots").length;
      return {
        seen: `${statuses.length} messages, ${turns} turns`,
        holds: turns <= allowed + 2 && statuses.every((status) => status === 202),
      };
    },
  },
  {
    id: "F26",
    title: "a new bot for each answer, so that no loop is seen",
    from: "chat",
    expected: "this many turns an hour and no more",
    audit: limitHit("turns-per-hour"),
    attempt: async (stage) => {
      const turns = await converse(stage, "busy", rounds, (round) => ({
        sender: { id: `f26-bot-${round}`, name: "Bot" },
        text: "@crab go on",
      }));
      return { seen: `${turns} turns`, holds: turns === allowed };
    },
  },
];
