import { readFile } from "node:fs/promises";

import { parse } from "yaml";
import * as z from "zod";

import type { SkillSummary } from "../../domain/sandbox/skill.ts";
import { AppError, nothingIfMissing, toError } from "../../lib/app-error.ts";

const names = z.array(z.string().min(1).max(64)).max(100);

const mapping = z.strictObject({
  default: names.default([]),
  taskTypes: z.record(z.string().min(1).max(64), names).default({}),
});

/** Which skills are for which kind of task, by `skill_mapping.yaml` of the home. */
export type SkillMapping = z.output<typeof mapping>;

const maxBytes = 64 * 1024;

/** Throws `config_invalid` with what is wrong; without a file nothing is mapped. */
export async function readSkillMapping(file: string): Promise<SkillMapping> {
  const text = await readFile(file, "utf8").catch(nothingIfMissing);
  if (text === undefined) return { default: [], taskTypes: {} };
  try {
    if (text.length > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
    return mapping.parse(parse(text, { maxAliasCount: 16 }) ?? {});
  } catch (cause) {
    const [issue] = cause instanceof z.ZodError ? cause.issues : [];
    const what = issue ? `${issue.path.map(String).join(".") || "the file"}: ${issue.message}` : toError(cause).message;
    throw new AppError("config_invalid", `${file} cannot be used: ${what}.`, {
      cause,
      fix: "It holds `default: [names]` and `taskTypes: { <type>: [names] }`.",
    });
  }
}

const mention = /(?<![\p{L}\p{N}$])\$([a-z0-9]+(?:-[a-z0-9]+)*)(?![\p{L}\p{N}_-])/gu;

/** Skills that a text names as `$name`, in the order in which it does, each once. */
export function skillsNamedIn<Named extends SkillSummary>(text: string, skills: readonly Named[]): readonly Named[] {
  if (!text.includes("$")) return [];
  const named = new Set(Array.from(text.matchAll(mention), ([, name]) => name));
  return [...named].flatMap((name) => skills.find((skill) => skill.name === name) ?? []);
}

/** A skill for a task, and the reason. */
export interface MatchedSkill {
  readonly skill: SkillSummary;
  readonly why: "named" | "task type" | "default";
}

/**
 * Those that the text names, then those of the task type, then those for everything; each once, and only what there is.
 */
export function skillsForTask(
  skills: readonly SkillSummary[],
  {
    mapping: { default: always, taskTypes },
    text = "",
    taskType,
  }: { readonly mapping: SkillMapping; readonly text?: string | undefined; readonly taskType?: string | undefined },
): readonly MatchedSkill[] {
  const ofType = taskType !== undefined && Object.hasOwn(taskTypes, taskType) ? (taskTypes[taskType] ?? []) : [];
  const wanted = [
    ...skillsNamedIn(text, skills).map(({ name }) => ({ name, why: "named" as const })),
    ...ofType.map((name) => ({ name, why: "task type" as const })),
    ...always.map((name) => ({ name, why: "default" as const })),
  ];
  const first = new Map<string, MatchedSkill>();
  for (const { name, why } of wanted) {
    const skill = skills.find((one) => one.name === name);
    if (skill && !first.has(name)) first.set(name, { skill, why });
  }
  return [...first.values()];
}
