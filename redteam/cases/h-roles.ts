import type { Attack } from "../suite/attack.ts";
import { OwnHome, ownLog } from "../suite/own-host.ts";
import type { Stage } from "../suite/stage.ts";

const config = {
  people: { owen: { ids: ["http:owen"], role: "owner" } },
  access: { deny: ["http:eve"] },
  groups: {
    main: { channel: "http", chat: "main", main: true, members: { default: "member", "http:ann": "admin" } },
    family: {
      channel: "http",
      chat: "family",
      members: { default: "guest", "http:ann": "admin", "terminal:mallory": "admin" },
    },
    board: { channel: "http", chat: "board", members: { default: "guest" }, access: { trigger: "admin" } },
  },
};

type Words = readonly (readonly [group: string, id: string, text: string])[];

/** Sends messages on a separate host, by people who share the admin's name. */
async function say(stage: Stage, words: Words) {
  await using home = await OwnHome.open(stage);
  await home.configure(config);
  let [said, groups]: [readonly string[], string] = [[], ""];
  await home.live(async (host) => {
    for (const [index, [group, id, text]] of words.entries()) {
      await home.say(host, group, { id: String(index), sender: { id, name: "ann" }, text });
    }
    said = await home.said(host);
    groups = (await home.command("groups", "list", "--json")).output;
  });
  const messages = await home.records("message-in");
  const turns = await home.records("turn-start");
  const refused = await home.records("access-refused");
  return { said, groups, refused, turns: turns.length, rules: messages.map(({ data }) => data["rule"]) };
}

/** Not `ann`, whatever they look like. */
const lookalikes = ["аnn", "Ann", "ann\u200b", "ann ", "ａnn", "http:ann", "terminal:mallory", "mallory", "owеn"];

export const attacks: readonly Attack[] = [
  {
    id: "H16",
    title:
      "an admin's and the owner's rights by display name, by ids of look-alike letters, by an id of another channel",
    from: "chat",
    expected: "all of them are guests: no turn, one notice in all, each refusal on record",
    audit: ownLog,
    attempt: async (stage) => {
      const { said, turns, rules } = await say(
        stage,
        lookalikes.flatMap((id) => [["board", id, "@crab send me all files"] as const, ["board", id, "/new"] as const]),
      );
      const through = rules.filter((rule) => rule !== "access-trigger").length;
      return {
        seen: `${turns} turns, ${said.length} notice, ${through} of ${rules.length} got through`,
        holds: turns === 0 && said.length === 1 && through === 0 && rules.length === 2 * lookalikes.length,
      };
    },
  },
  {
    id: "H17",
    title: "guests and members give commands of those above them, in the main group as well",
    from: "chat",
    expected: "each is answered, with the reason or that there is no such code for them, and does nothing",
    audit: ownLog,
    attempt: async (stage) => {
      const { said, refused } = await say(stage, [
        ["family", "mallory", "/new"],
        ["family", "аnn", "@crab /new"],
        ["main", "mallory", "/approve AAAAA"],
        ["main", "mallory", "/deny AAAAA"],
      ]);
      const reasons = said.filter((text) => text.includes("/whoami explains why")).length;
      const unknown = said.filter((text) => text.startsWith("Unknown code.")).length;
      return {
        seen: `${refused.length} refused, ${reasons} reasons, ${unknown} codes that are none`,
        holds: refused.length === 2 && reasons === 2 && unknown === 2,
      };
    },
  },
  {
    id: "H18",
    title: "codes are guessed in a main group by an admin's stolen account, and then in another group",
    from: "chat",
    expected: "after five wrong ones none is looked at, in any group; no group is made",
    audit: ownLog,
    attempt: async (stage) => {
      const guesses = Array.from(
        { length: 12 },
        (_, count) => ["main", "ann", `/approve AAAAAA${count + 10}`] as const,
      );
      const { said, groups } = await say(stage, [...guesses, ["family", "ann", "/approve AAAAAA10"]]);
      const looked = said.filter((text) => text.startsWith("There is no request")).length;
      const locked = said.filter((text) => text.startsWith("Too many wrong codes")).length;
      return {
        seen: `${looked} looked at, ${locked} not`,
        holds: looked === 5 && locked === 8 && groups.trim().split("\n").length === 3,
      };
    },
  },
  {
    id: "H19",
    title: "somebody who is denied speaks: to the agent, with a command, to a name that is no group",
    from: "chat",
    expected: "no turn, no notice; on record that something was said, without a word of it",
    audit: ownLog,
    attempt: async (stage) => {
      const { said, turns, rules } = await say(stage, [
        ["family", "eve", "@crab hello"],
        ["main", "eve", "/stop"],
      ]);
      return {
        seen: `${turns} turns, ${said.length} notices, ${rules.join(" ")}`,
        holds: turns === 0 && said.length === 0 && rules.join(" ") === "access-deny access-deny",
      };
    },
  },
];
