import { readdir } from "node:fs/promises";
import { join } from "node:path";

import type { Profile } from "../../domain/rights/profile.ts";
import { AppError, nothingIfMissing, toError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { nearest } from "../../lib/text/nearest.ts";
import { readTrustedFile } from "../loading/config-file.ts";
import { folderFault } from "../trust.ts";
import { parseProfile, type ProfileFault, type ProfileNames } from "./parse-profile.ts";

/** More are not read, so that a folder of anything is no burden. */
const mostProfiles = 100;
const profileName = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** A profile's file, and what is wrong with it; nothing when it can be used. */
export interface CheckedProfile {
  readonly name: string;
  readonly file: string;
  readonly profile: Profile | undefined;
  readonly faults: readonly ProfileFault[];
}

/** Names of all profiles, sorted. A file that cannot be one, such as a README, is none. */
export async function profileNames(folder: string): Promise<string[]> {
  const entries = (await readdir(folder).catch(nothingIfMissing)) ?? [];
  const names = entries.filter((entry) => entry.endsWith(".md")).map((entry) => entry.slice(0, -".md".length));
  return names
    .filter((name) => profileName.test(name))
    .toSorted()
    .slice(0, mostProfiles);
}

/** Every profile of the folder, with its faults. */
export async function checkProfiles(folder: string, names: ProfileNames): Promise<CheckedProfile[]> {
  const found = await profileNames(folder);
  return Promise.all(found.map((name) => checkProfile(folder, name, names)));
}

/** Reads one profile from its file as it is now, so an edit counts from the next use on. Throws `not_found`. */
export async function checkProfile(folder: string, name: string, names: ProfileNames): Promise<CheckedProfile> {
  const file = join(folder, `${name}.md`);
  const text = profileName.test(name) ? await readOrFault(folder, file) : undefined;
  if (text === undefined) throw await unknownProfile(folder, name);
  if (typeof text !== "string") return { name, file, profile: undefined, faults: [text] };
  const check = parseProfile(name, text, names);
  return check.ok
    ? { name, file, profile: check.profile, faults: [] }
    : { name, file, profile: undefined, faults: check.faults };
}

/** The profile of this name. Throws `not_found`, or `config_invalid` with what is wrong and where. */
export async function profileOf(folder: string, name: string, names: ProfileNames): Promise<Profile> {
  const { file, profile, faults } = await checkProfile(folder, name, names);
  if (profile) return profile;
  throw new AppError("config_invalid", faults.map((fault) => describeProfileFault(file, fault)).join("\n"), {
    fix: `Edit ${file}, then try \`${ownCommand("profiles check")}\`.`,
  });
}

/** `agents/scout.md:3: tools[0]: unknown tool …` */
export function describeProfileFault(file: string, { line, path, detail }: ProfileFault): string {
  return `${file}:${line}: ${path === "" ? "" : `${path}: `}${detail}`;
}

/** A folder or a file that others could have written is no profile of the operator's. */
async function readOrFault(folder: string, file: string): Promise<string | ProfileFault | undefined> {
  try {
    const text = await readTrustedFile(file);
    const fault = text === undefined ? undefined : await folderFault(folder, { parents: false });
    return fault ? { path: "", line: 1, ...fault } : text;
  } catch (thrown) {
    const error = toError(thrown);
    return { path: "", line: 1, detail: error.message, fix: error instanceof AppError ? error.fix : undefined };
  }
}

async function unknownProfile(folder: string, name: string): Promise<AppError> {
  const known = await profileNames(folder);
  const near = nearest(name, known);
  const hint = near === undefined ? `There are: ${known.join(", ") || "none"}.` : `Did you mean ${near}?`;
  return new AppError("not_found", `There is no profile "${name}" in ${folder}. ${hint}`, {
    fix: ownCommand("profiles list"),
  });
}
