import { type ContextSection, contextSections, type ContextView } from "../../../domain/turns/context-view.ts";
import { agentsAddressed } from "../agents-addressed.ts";
import type { ChatCommand } from "../command.ts";

/** Says what stands in the agent's prompt, and how much of it. */
export const context: ChatCommand = {
  name: "context",
  help: "show how the context window is used",
  needs: "member",
  perAgent: true,
  run: async (given, services) => {
    const addressed = await agentsAddressed(given, services);
    if (typeof addressed === "string") return { text: addressed };
    const { group } = given;
    const texts = await Promise.all(
      addressed.agents.map(async (id) => {
        const view = await services.contextOf(group, id);
        const name = group.agents ? `${services.agentNameOf(group, id)}: ` : "";
        return `${name}${describeContext(view)}`;
      }),
    );
    return { text: texts.join("\n\n") };
  },
};

const words: Readonly<Record<ContextSection, string>> = {
  system: "how I work",
  instructions: "instructions",
  chat: "who is in the chat",
  notes: "my notes",
  skills: "skills",
  tools: "tools",
  memory: "what I remembered",
  summaries: "summaries",
  messages: "messages and answers",
  results: "results of tools",
};

function describeContext({ summaries, raw, tokens: { window, total, bySection } }: ContextView): string {
  const of = window === null ? "" : ` of ${inNumbers(window)}`;
  const free = window === null ? [] : [`free: ${inNumbers(Math.max(0, window - total))}`];
  const covered = summaries.map(({ from, to, kind }) =>
    kind === "summary" ? `Entries ${from} to ${to} are summarized.` : `Entries ${from} to ${to} are no longer shown.`,
  );
  return [
    `This conversation takes about ${inNumbers(total)}${of} tokens.`,
    ...contextSections.flatMap((section) =>
      bySection[section] > 0 ? [`${words[section]}: ${inNumbers(bySection[section])}`] : [],
    ),
    ...free,
    ...covered,
    ...(raw.from > raw.to ? [] : [`Entries ${raw.from} to ${raw.to} are shown in full.`]),
  ].join("\n");
}

function inNumbers(count: number): string {
  return Math.round(count).toLocaleString("en-US");
}
