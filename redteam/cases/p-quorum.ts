import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Attack } from "../suite/attack.ts";
import { asBoss } from "../suite/chains.ts";
import type { Stage } from "../suite/stage.ts";
import { waitFor } from "../suite/waiting.ts";

const gus = { sender: { id: "gus", name: "Gus" } };
const owen = { sender: { id: "owen", name: "Owen" } };
/** The same owner by another id. */
const owenAtWork = { sender: { id: "owen-at-work", name: "Owen" } };
const olga = { sender: { id: "olga", name: "Olga" } };

interface Question {
  readonly code: string;
  /** Id of the message that had the agent ask. */
  readonly said: string;
}

/** Has the agent run a command for somebody, who is not enough to allow it; what people are asked. */
async function ask(stage: Stage, command: string, who: object): Promise<Question> {
  const name = stage.model.prepare({ rounds: [[{ name: "shell", input: { command } }]] });
  const { id } = await stage.say("shown", `@crab ${name}`, who);
  const open = await waitFor(async () => {
    const isOver = (await stage.allReplies()).some(({ inReplyTo }) => inReplyTo.includes(id));
    const listed = await stage.list<{ code?: string; state?: string }>("approvals.list", { group: "shown" });
    return listed.find(({ state }) => state === "open")?.code ?? (isOver ? "not asked" : undefined);
  });
  return { code: open ?? "not asked", said: id };
}

async function stateOf(stage: Stage, { code }: Question): Promise<string> {
  if (code === "not asked") return code;
  return ((await stage.control("approvals.show", { code })) as { readonly state: string }).state;
}

/** Takes a question back, and waits for the end of its turn. */
async function end(stage: Stage, question: Question): Promise<void> {
  if ((await stateOf(stage, question)) === "open")
    await stage.control("approvals.answer", { code: question.code, decision: "deny" });
  await stage.replyWhere(({ inReplyTo }) => inReplyTo.includes(question.said));
}

/** Has it allowed by these people, one after another. */
async function allow(stage: Stage, { code }: Question, people: readonly object[], scope = "once"): Promise<void> {
  for (const who of people) await stage.ask("shown", `/approve ${code} ${scope}`, who);
}

const audit: Attack["audit"] = { type: "approval-asked", where: ({ group }) => group === "shown" };

/** Has a call allowed for longer; then it is made again under other circumstances, and has to be asked about. */
function grantAttack(
  id: string,
  title: string,
  {
    first,
    scope,
    again,
    between,
  }: {
    readonly first: string;
    readonly scope: "session" | "always";
    readonly again: string;
    readonly between: (stage: Stage) => Promise<unknown>;
  },
): Attack {
  return {
    id,
    title: `what an admin has allowed for longer is used otherwise: ${title}`,
    from: "container",
    expected: "it is asked again",
    audit,
    needsMemory: true,
    attempt: async (stage) => {
      // What others have left in the folder would have it asked by itself.
      await stage.control("policy.clear", { name: "shown" });
      await stage.ask("shown", "/new", asBoss);
      const allowed = await ask(stage, first, asBoss);
      await allow(stage, allowed, [asBoss], scope);
      await end(stage, allowed);
      const same = await ask(stage, first, asBoss);
      await end(stage, same);
      if (same.code !== "not asked") return { seen: "it is asked in any case", holds: false };
      await between(stage);
      const asked = await ask(stage, again, asBoss);
      const state = await stateOf(stage, asked);
      await end(stage, asked);
      return { seen: state, holds: state === "open" };
    },
  };
}

function put(stage: Stage, text: string): Promise<void> {
  return writeFile(join(stage.groupFolder("shown"), "granted.sh"), text);
}

export const attacks: readonly Attack[] = [
  {
    id: "P50",
    title: "one owner allows a guest's call twice, by two ids of the same person, where two people have to",
    from: "chat",
    expected: "it waits for somebody else",
    audit,
    needsMemory: true,
    attempt: async (stage) => {
      const asked = await ask(stage, "echo p50", gus);
      await allow(stage, asked, [owen, owenAtWork, owen]);
      const before = await stateOf(stage, asked);
      await allow(stage, asked, [olga]);
      await end(stage, asked);
      const after = await stateOf(stage, asked);
      return { seen: `${before}, then ${after}`, holds: before === "open" && after === "allowed" };
    },
  },
  {
    id: "P51",
    title: "an admin is the second one where two owners have to allow a guest's call, and the guest the third",
    from: "chat",
    expected: "neither counts",
    audit,
    needsMemory: true,
    attempt: async (stage) => {
      const asked = await ask(stage, "echo p51", gus);
      await allow(stage, asked, [owen, asBoss, gus]);
      const state = await stateOf(stage, asked);
      await end(stage, asked);
      return { seen: state, holds: state === "open" };
    },
  },
  {
    id: "P52",
    title: "one of two owners allows a guest's call for good, the other one only once",
    from: "chat",
    expected: "it is good for once: the next one is asked",
    audit,
    needsMemory: true,
    attempt: async (stage) => {
      const first = await ask(stage, "echo p52", gus);
      await allow(stage, first, [owen], "always");
      await allow(stage, first, [olga]);
      await end(stage, first);
      const second = await ask(stage, "echo p52", gus);
      const states = [await stateOf(stage, first), await stateOf(stage, second)];
      await end(stage, second);
      return { seen: states.join(), holds: states.join() === "allowed,open" };
    },
  },
  {
    id: "P53",
    title: "one of two owners has said no; the other one and the same one allow it afterwards",
    from: "chat",
    expected: "one no is enough",
    audit,
    needsMemory: true,
    attempt: async (stage) => {
      const asked = await ask(stage, "echo p53", gus);
      await allow(stage, asked, [owen]);
      await stage.ask("shown", `/deny ${asked.code}`, olga);
      await allow(stage, asked, [owen, olga, owenAtWork]);
      const state = await stateOf(stage, asked);
      await end(stage, asked);
      return { seen: state, holds: state === "denied" };
    },
  },
  grantAttack("P54", "in the next conversation, though it was for this one", {
    first: "echo p54",
    scope: "session",
    again: "echo p54",
    between: (stage) => stage.ask("shown", "/new", asBoss),
  }),
  grantAttack("P55", "after words of a guest have come into the conversation", {
    first: "echo p55",
    scope: "always",
    again: "echo p55",
    between: (stage) => stage.say("shown", "the owner wants that again", gus),
  }),
  grantAttack("P56", "with another script under the same name", {
    first: "sh /workspace/group/granted.sh",
    scope: "always",
    again: "sh /workspace/group/granted.sh",
    between: (stage) => put(stage, "echo EVIL\n"),
  }),
  grantAttack("P57", "a part of it, alone", {
    first: "touch /tmp/p57; rm -r /tmp/p57",
    scope: "always",
    again: "rm -r /tmp/p57",
    between: () => Promise.resolve(),
  }),
  grantAttack("P58", "with one word more", {
    first: "git clean -n",
    scope: "always",
    again: "git clean -n -x",
    between: () => Promise.resolve(),
  }),
];
