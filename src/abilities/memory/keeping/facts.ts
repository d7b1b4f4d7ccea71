import { randomBytes } from "node:crypto";

import { type Origin, sortOrigins } from "../../../domain/people/origin.ts";
import { isAtLeast, type Role, roles } from "../../../domain/people/role.ts";
import { globalNotes, originsOf, ownIds } from "../item.ts";
import type { DrawnFact, ExtractionPrompt } from "./extraction-prompt.ts";
import { unfit } from "./unfit.ts";
import type { Memory, NewMemory } from "../../../processes/memory-schemas.ts";

export interface CheckedFacts {
  readonly kept: readonly NewMemory[];
  readonly supersedes: readonly { readonly id: string; readonly by: string }[];
  /** Reasons of refused facts. */
  readonly refused: readonly string[];
}

/**
 * Keeps the facts of a model's answer that are based on shown messages of people. A fact has all origins that the model
 * was shown, as any may have influenced it; nobody can replace a fact of somebody with a higher role.
 */
export function checkFacts(drawn: readonly DrawnFact[], prompt: ExtractionPrompt): CheckedFacts {
  const all = sortOrigins([...prompt.messages.values(), ...prompt.facts.values()].flatMap(originsOf));
  const kept: NewMemory[] = [];
  const supersedes: { id: string; by: string }[] = [];
  const refused: string[] = [];
  for (const fact of drawn) {
    const made = toMemory(fact, prompt, all);
    if (typeof made === "string") {
      refused.push(made);
      continue;
    }
    kept.push(made);
    const old = fact.supersedes === undefined ? undefined : prompt.facts.get(fact.supersedes);
    if (fact.supersedes !== undefined && (!old || !mayReplace(made, old))) refused.push("it may not replace that fact");
    else if (old) supersedes.push({ id: old.id, by: made.id });
  }
  return { kept, supersedes, refused };
}

function toMemory(fact: DrawnFact, { messages }: ExtractionPrompt, all: readonly Origin[]): NewMemory | string {
  const sources = [...new Set(fact.sources)].map((id) => messages.get(id));
  if (sources.includes(undefined)) return "a source that was not shown";
  const byPeople = sources.filter((source) => source !== undefined && source.origin !== "agent") as Memory[];
  const [first] = byPeople;
  if (!first) return "said by the assistant only";
  if (fact.category === "conversation") return "the category is for what is said";
  if (fact.category === globalNotes) return "the category is for what main groups write";
  const reason = unfit(fact.text);
  if (reason !== undefined) return reason === "secret" ? "it looks like a secret" : "it tells the agent what to do";
  return {
    id: `${ownIds.fact}${randomBytes(6).toString("hex")}`,
    category: fact.category,
    text: fact.text,
    time: Math.max(...byPeople.map(({ time }) => time)),
    sender: first.sender,
    origin: lowest(byPeople),
    origins: all,
    sources: [...new Set(byPeople.flatMap((source) => source.sources))].slice(0, 64),
    people: [...new Set(byPeople.flatMap((source) => source.people ?? []))],
  };
}

/** The origin of what is trusted least. */
export function lowest(memories: readonly Pick<Memory, "origin">[]): Origin {
  const others = memories.find(({ origin }) => !isRole(origin));
  if (others) return others.origin;
  return roles.find((role) => memories.some(({ origin }) => origin === role)) ?? "guest";
}

function mayReplace(fact: Pick<Memory, "origin">, old: Pick<Memory, "origin">): boolean {
  if (!isRole(old.origin)) return true;
  return isRole(fact.origin) && isAtLeast(fact.origin, old.origin);
}

function isRole(origin: Origin): origin is Role {
  return (roles as readonly string[]).includes(origin);
}
