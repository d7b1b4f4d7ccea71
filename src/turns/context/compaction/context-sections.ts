import { type ContextSection, contextSections } from "../../../domain/turns/context-view.ts";
import type { ToolDefinition } from "../../../domain/turns/model.ts";
import { elementsIn } from "../../../lib/text/elements.ts";
import { describeParts, partsOf } from "../../../domain/chats/part.ts";
import type { Step } from "../../../domain/turns/turn.ts";
import { estimateTextTokens } from "../../../lib/text/text-tokens.ts";
import { type PromptSectionName, promptSectionNames } from "../prompt/sections.ts";
import { estimatePromptTokens } from "../tokens.ts";

/** Sections of the system prompt, grouped for display. */
const ownerOf: Readonly<Record<PromptSectionName, ContextSection>> = {
  identity: "system",
  "sub-agent": "system",
  runtime: "system",
  chat: "system",
  purpose: "instructions",
  instructions: "instructions",
  skills: "skills",
  members: "chat",
  notes: "notes",
  zone: "system",
};

/** Contents of a prompt. */
export interface ContextContents {
  readonly system: readonly string[];
  /** Tokens by section name; undefined when not counted. */
  readonly sections?: Readonly<Record<string, number>> | undefined;
  readonly tools: readonly ToolDefinition[];
  /** Cover of the conversation's beginning. */
  readonly first: Step | undefined;
  readonly steps: readonly Step[];
}

/** Tokens of a prompt by section; their sum is the prompt's estimate. */
export function tokensBySection({
  system,
  sections = {},
  tools,
  first,
  steps,
}: ContextContents): Record<ContextSection, number> {
  const counts = Object.fromEntries(contextSections.map((section) => [section, 0])) as Record<ContextSection, number>;
  counts.system = estimatePromptTokens({ system, messages: [], tools: [] });
  for (const name of promptSectionNames) {
    const tokens = Math.min(sections[name] ?? 0, counts.system);
    counts.system -= tokens;
    counts[ownerOf[name]] += tokens;
  }
  counts.tools = estimatePromptTokens({ system: [], messages: [], tools });
  counts.summaries = first?.tokens ?? 0;
  for (const { body, tokens } of steps) {
    const recalled = body.kind === "user" ? Math.min(tokens, memoryTokens(describeParts(partsOf(body)))) : 0;
    counts.memory += recalled;
    counts[body.kind === "tools" ? "results" : "messages"] += tokens - recalled;
  }
  return counts;
}

function memoryTokens(text: string): number {
  return elementsIn(text, "memories").reduce((sum, { whole }) => sum + estimateTextTokens(whole), 0);
}
