import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";

import * as z from "zod";

import { type Origin, origins, sortOrigins } from "../../domain/people/origin.ts";
import { unknownLineage } from "../../domain/rights/lineage.ts";
import { skillLimits } from "../../domain/sandbox/skill.ts";
import { writeWhole } from "../../lib/files/guarded-change.ts";
import { refusedTree, TreeLimits, treePathFault, type TreeReading } from "./tree/skill-tree.ts";

const maxFiles = 50;

/** The files of a skill that an agent has written, as people were shown them. */
export const skillTexts = z
  .array(z.strictObject({ path: z.string().min(1).max(skillLimits.pathChars), content: z.string() }))
  .min(1)
  .max(maxFiles);

export type SkillTexts = z.output<typeof skillTexts>;

const allowedSkill = z.strictObject({
  version: z.literal(1),
  code: z.string(),
  /** Origins that the turn which proposed it had; left out by older versions. */
  origins: z.array(z.enum(origins)).default([...unknownLineage.origins]),
  files: skillTexts,
});

type AllowedSkill = z.output<typeof allowedSkill>;

/** A tree of these texts, or why there is none. */
export function treeOfTexts(files: SkillTexts): TreeReading {
  const limits = new TreeLimits();
  const paths = new Set<string>();
  for (const { path, content } of files) {
    const bytes = Buffer.byteLength(content);
    const fault =
      treePathFault(path) ?? (paths.has(path) ? "is there twice" : limits.add(bytes)) ?? wellFormed(content);
    if (fault !== undefined) return refusedTree(path, fault);
    paths.add(path);
  }
  const inTheWay = [...paths].find((path) => [...paths].some((other) => other.startsWith(`${path}/`)));
  if (inTheWay !== undefined) return refusedTree(inTheWay, "is a file and a folder");
  const sorted = files.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  return {
    ok: true,
    tree: { files: sorted.map(({ path, content }) => ({ path, bytes: Buffer.from(content), isExecutable: false })) },
  };
}

function wellFormed(text: string): string | undefined {
  return text.isWellFormed() ? undefined : "has half a character in it";
}

/** One that people have allowed, with the origins of its words. */
export async function readAllowedSkill(
  file: string,
): Promise<{ readonly reading: TreeReading; readonly origins: readonly Origin[] }> {
  try {
    const { files, origins: read } = allowedSkill.parse(JSON.parse(await readFile(file, "utf8")));
    return { reading: treeOfTexts(files), origins: sortOrigins(["agent", ...read]) };
  } catch {
    const detail = "cannot be read: remove it with `crabpot skills remove`, and have it written again";
    return { reading: refusedTree("", detail), origins: [] };
  }
}

/** Code of the question that people answered, and what they allowed; undefined when there is none. */
export async function codeOfAllowed(file: string): Promise<string | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const parsed = allowedSkill.safeParse(JSON.parse(text));
  return parsed.success ? parsed.data.code : undefined;
}

/** Puts it in the place of the one before, as a whole. */
export async function writeAllowedSkill(file: string, skill: Omit<AllowedSkill, "version">): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeWhole(file, JSON.stringify({ version: 1, ...skill }));
}
