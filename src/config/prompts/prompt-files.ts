import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { type PromptTexts, type PromptSectionName, promptSectionNames } from "../../turns/context/prompt/sections.ts";
import { templateFaults } from "../../turns/context/prompt/template.ts";
import { AppError, nothingIfMissing, toError } from "../../lib/app-error.ts";
import { hintFor } from "../../lib/text/nearest.ts";
import { readTrustedFile } from "../loading/config-file.ts";
import { folderFault } from "../trust.ts";

/** A section's file that is used, or that is meant to be. */
export interface CheckedSection {
  readonly name: string;
  readonly file: string;
  /** `bundled`: it comes with crabpot. `own`: the operator has put it in its place. */
  readonly source: "bundled" | "own";
  /** Text in use: the bundled one when the operator's is faulty; undefined for an unknown section. */
  readonly text: string | undefined;
  readonly faults: readonly string[];
}

const folderName = "prompts";
const suffix = ".md";
const bundledTexts = new Map<string, PromptTexts>();

/** The texts that come with crabpot. They do not change while it runs. */
export function bundledPrompts(checkout: string): PromptTexts {
  const known = bundledTexts.get(checkout);
  if (known) return known;
  const read = promptSectionNames.map((name) => [name, readFileSync(bundledFile(checkout, name), "utf8")] as const);
  const texts = Object.fromEntries(read) as PromptTexts;
  bundledTexts.set(checkout, texts);
  return texts;
}

/** Every section in its order, as its files are now, then files in the operator's folder that are no section. */
export async function checkPrompts(checkout: string, folder: string): Promise<readonly CheckedSection[]> {
  const bundled = bundledPrompts(checkout);
  const entries = (await readdir(folder).catch(nothingIfMissing)) ?? [];
  const names = entries.filter((entry) => entry.endsWith(suffix)).map((entry) => entry.slice(0, -suffix.length));
  const sections = await Promise.all(
    promptSectionNames.map(async (name): Promise<CheckedSection> => {
      if (!names.includes(name))
        return { name, file: bundledFile(checkout, name), source: "bundled", text: bundled[name], faults: [] };
      return checkOwn(folder, name, bundled[name]);
    }),
  );
  const others = names.filter((name) => !(promptSectionNames as readonly string[]).includes(name)).toSorted();
  return [...sections, ...others.map((name) => noSection(folder, name))];
}

/** One section, as its files are now. Throws `not_found`. */
export async function checkPrompt(checkout: string, folder: string, name: string): Promise<CheckedSection> {
  const sections = await checkPrompts(checkout, folder);
  const found = sections.find((one) => one.name === name && one.text !== undefined);
  if (found) return found;
  throw new AppError(
    "not_found",
    `There is no section ${JSON.stringify(name)} of the prompt: ${hintFor(name, promptSectionNames)}`,
  );
}

/**
 * The texts that a new conversation begins with. A file of the operator's that has faults does not count; `tell` hears
 * of it.
 */
export async function promptTexts(
  checkout: string,
  folder: string,
  tell: (section: CheckedSection) => void,
): Promise<PromptTexts> {
  const texts: Record<PromptSectionName, string> = { ...bundledPrompts(checkout) };
  for (const section of await checkPrompts(checkout, folder)) {
    if (section.faults.length > 0) tell(section);
    if (section.text !== undefined) texts[section.name as PromptSectionName] = section.text;
  }
  return texts;
}

async function checkOwn(folder: string, name: PromptSectionName, bundled: string): Promise<CheckedSection> {
  const file = join(folder, `${name}${suffix}`);
  const own = { name, file, source: "own" } as const;
  try {
    const text = (await readTrustedFile(file)) ?? "";
    const fault = await folderFault(folder, { parents: false });
    const faults = fault ? [fault.detail] : templateFaults(name, text);
    return { ...own, text: faults.length === 0 ? text : bundled, faults };
  } catch (error) {
    return { ...own, text: bundled, faults: [toError(error).message] };
  }
}

function noSection(folder: string, name: string): CheckedSection {
  const file = join(folder, `${name}${suffix}`);
  return {
    name,
    file,
    source: "own",
    text: undefined,
    faults: [`is no section of the prompt; ${hintFor(name, promptSectionNames)}`],
  };
}

function bundledFile(checkout: string, name: string): string {
  return join(checkout, folderName, `${name}${suffix}`);
}
