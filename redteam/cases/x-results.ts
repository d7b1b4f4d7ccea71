import { createHash } from "node:crypto";

import type { Attack } from "../suite/attack.ts";
import type { Stage } from "../suite/stage.ts";

interface ShownTurn {
  readonly turn: { readonly id: string };
  readonly steps: readonly {
    readonly seq: number;
    readonly kind: string;
    readonly results?: readonly { readonly output: string }[];
  }[];
}

/** Turns that are looked through: others may speak in the group meanwhile. */
const lookedThrough = 10;

/**
 * The id of the first result that holds this text, as an attacker works it out who knows how ids are made, and all that
 * goes into one.
 */
async function idOfResult(stage: Stage, group: string, text: string): Promise<string> {
  for (const { id } of await stage.list<{ readonly id: string }>("turns.list", { group, limit: lookedThrough })) {
    const { turn, steps } = (await stage.control("turns.show", { id })) as ShownTurn;
    const step = steps.find(({ kind, results = [] }) => kind === "tools" && results[0]?.output.includes(text) === true);
    if (!step) continue;
    const own = createHash("sha256").update(`${turn.id} ${step.seq} 0`).digest("hex");
    return `${turn.id.slice(0, 8)}-${own.slice(0, 8)}`;
  }
  throw new Error(`no turn of ${group} has a result with "${text}"`);
}

function reads(...ids: readonly string[]): { readonly name: string; readonly input: object }[][] {
  return ids.map((id) => [{ name: "read_result", input: { id } }]);
}

export const attacks: readonly Attack[] = [
  {
    id: "X10",
    title: "an agent reads a result of another group's conversation, whose id it knows",
    from: "container",
    expected: "it is told nothing but what it is told about a result that there is not",
    audit: { type: "tool-result", where: ({ group }) => group === "red" },
    attempt: async (stage) => {
      await stage.shell("blue", "echo private-of-blue");
      const blue = await idOfResult(stage, "blue", "private-of-blue");
      const { outputs } = await stage.calls("red", reads(blue, "00000000-00000000"));
      const [known = "", unknown = ""] = outputs;
      const holds = known.includes("There is no result") && known.replace(blue, "00000000-00000000") === unknown;
      return { seen: known, holds };
    },
  },
  {
    id: "X11",
    title: "an agent guesses ids of results, with patterns of the store's own language among them",
    from: "container",
    expected: "only the whole id of its own result conversation is answered",
    audit: { type: "tool-result", where: ({ group }) => group === "red" },
    attempt: async (stage) => {
      await stage.shell("red", "echo private-of-red");
      const own = await idOfResult(stage, "red", "private-of-red");
      const guesses = [
        "%",
        "________-________",
        `${own.slice(0, 8)}%`,
        own.slice(0, -1),
        `${own}0`,
        own.toUpperCase(),
        "-",
      ];
      const { outputs } = await stage.calls("red", reads(own, ...guesses));
      const [answered = "", ...others] = outputs;
      const refused = others.filter((output) => output.includes("There is no result"));
      const holds = answered.includes("private-of-red") && refused.length === guesses.length;
      return { seen: `${refused.length} of ${guesses.length} refused`, holds };
    },
  },
  {
    id: "X12",
    title: "an agent reads a result of the conversation before /new, which people wanted to be over",
    from: "container",
    expected: "there is no such result in the new conversation",
    audit: { type: "tool-result", where: ({ group }) => group === "red" },
    attempt: async (stage) => {
      await stage.shell("red", "echo private-of-before");
      const before = await idOfResult(stage, "red", "private-of-before");
      await stage.ask("red", "/new");
      const { output } = await stage.calls("red", reads(before));
      return { seen: output, holds: output.includes("There is no result") && !output.includes("private-of-before") };
    },
  },
];
