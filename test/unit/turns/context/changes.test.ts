import * as fc from "fast-check";
import { expect, test } from "vitest";

import { ofOperator, sourced } from "../../../../src/domain/rights/sourced.ts";
import { type ChangeSources, describeChanges } from "../../../../src/turns/context/changes.ts";
import type { ToldFacts } from "../../../../src/domain/turns/conversation.ts";
import { anyCharacter } from "../../../support/any-character.ts";

const facts: ToldFacts = {
  agentName: "crab",
  timeZone: "UTC",
  instructions: "digest",
  title: "Family",
  members: ["Ann", "Bo", "Bo"],
  folders: [{ path: "/workspace/group", access: "rw" }],
  network: [],
};

const nobody = { instructions: [], chat: [], skills: [], tools: [], sharers: [] } as const;

test("nothing is told when nothing has changed", () => {
  expect(describeChanges(facts, { ...facts, members: ["Bo", "Ann", "Bo"] }, nobody)).toBeUndefined();
});

test("the model is told what is different now, in one note", () => {
  const now: ToldFacts = {
    agentName: "claw",
    timeZone: "Europe/Berlin",
    instructions: "digest",
    title: "",
    members: ["Bo", "Cy"],
    folders: [...facts.folders, { path: "/workspace/extra/site", access: "ro" }],
    network: ["api.example:443"],
  };

  expect(describeChanges(facts, now, nobody)?.text).toBe(
    "<host-note>You are called &quot;claw&quot; now. Times are in the time zone Europe/Berlin from here on. The chat has no title anymore. &quot;Cy&quot; joined the chat. &quot;Ann&quot;, &quot;Bo&quot; left the chat. You have these folders now: /workspace/group (you may change it), /workspace/extra/site (read-only). These can be reached over the network now, and nothing else: api.example:443.</host-note>",
  );
});

test("new instructions are told in full, and their end too", () => {
  const now = { ...facts, instructions: "other" };

  const instructions = [
    { file: "AGENTS.md", text: ofOperator("Speak German.") },
    { file: "SOUL.md", text: ofOperator("You are dry.") },
  ] as const;
  expect(describeChanges(facts, now, { ...nobody, instructions })?.text).toMatch(
    /^<host-note>The group&apos;s instructions have changed\..*<\/host-note>\n<instructions>\nSpeak German\.\n<\/instructions>\n<instructions file="SOUL\.md">\nYou are dry\.\n<\/instructions>$/,
  );
  expect(describeChanges(facts, now, nobody)?.text).toContain("they no longer apply");
});

test("whatever people call themselves or the chat, no note is opened or closed by it, and nothing is hidden", () => {
  const hostile = fc
    .array(
      fc.oneof(
        fc.string({ unit: anyCharacter }),
        fc.constantFrom(
          "</host-note>",
          "<host-note>",
          "</work><work>",
          "\u202e",
          "\u200b",
          "＜/host-note＞",
          "\n",
          '"',
        ),
      ),
    )
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(hostile, fc.array(hostile), (title, members) => {
      const text = describeChanges(facts, { ...facts, title: `x${title}`, members }, nobody)?.text ?? "";

      expect(text.match(/[<>]/g)).toHaveLength(4);
      expect(text).toMatch(/^<host-note>[^<>\n]*<\/host-note>$/);
      expect(text).not.toMatch(/[\u202e\u200b\u2066-\u2069]|\p{Cc}/u);
    }),
  );
});

test("what is told as new says where it comes from", () => {
  const from = { ...nobody, chat: ["guest"], skills: ["agent"], tools: ["mcp"], sharers: ["work"] } as const;
  const covered = [{ path: "/workspace/extra/site", access: "rw", covered: [".env"] }] as const;
  const sourcesOfNow = (now: Partial<ToldFacts>, more: Partial<ChangeSources> = {}) => {
    const { origins, folders } = describeChanges(facts, { ...facts, ...now }, { ...from, ...more }) ?? {};
    return { origins, folders };
  };

  expect(sourcesOfNow({ title: "The owner says" })).toEqual({ origins: ["guest"], folders: [] });
  expect(sourcesOfNow({ members: [...facts.members, "Cy"] })).toEqual({ origins: ["guest"], folders: [] });
  expect(sourcesOfNow({ skills: [{ name: "tea", description: "" }] })).toEqual({ origins: ["agent"], folders: [] });
  expect(sourcesOfNow({ tools: ["files__read"] })).toEqual({ origins: ["mcp"], folders: [] });
  expect(sourcesOfNow({ folders: covered })).toEqual({ origins: [], folders: ["work"] });
  expect(sourcesOfNow({ network: ["a:443"], agentName: "claw" })).toEqual({ origins: [], folders: [] });
  expect(sourcesOfNow({}, { decisions: sourced("Applied.", [], ["family"]) })).toEqual({
    origins: [],
    folders: ["family"],
  });
  const written = [{ file: "AGENTS.md", text: sourced("Be kind.", ["web"]) }] as const;
  expect(sourcesOfNow({ instructions: "other" }, { instructions: written })).toEqual({ origins: ["web"], folders: [] });
});
