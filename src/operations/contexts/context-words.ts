import { type ContextSection, contextSections, type ContextView } from "../../domain/turns/context-view.ts";
import type { ChatView } from "../definition/chat-form.ts";

type AskContext = (given: { readonly group: string; readonly agent: string }) => Promise<ContextView>;

/** Describes what stands in the prompts of the group's agents, or of the one that is named, and how much of it. */
export async function describeContexts(
  ask: AskContext,
  { group, agentsCalled }: ChatView,
  { agent = "" }: { readonly agent?: string },
): Promise<string> {
  const agents = agentsCalled(agent);
  if (typeof agents === "string") return agents;
  const texts = agents.map(async ({ id, name }) => {
    const text = describeContext(await ask({ group: group.name, agent: id }));
    return group.agents ? `${name}: ${text}` : text;
  });
  return (await Promise.all(texts)).join("\n\n");
}

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
