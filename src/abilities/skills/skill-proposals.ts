import { createHash } from "node:crypto";
import { join } from "node:path";

import type { Actor } from "../../domain/people/actor.ts";
import type { ProposedChange } from "../../domain/rights/approval.ts";
import { skillNameFault } from "../../domain/sandbox/skill.ts";
import type { Publish } from "../../domain/events/event.ts";
import { AppError } from "../../lib/app-error.ts";
import { unifiedDiff } from "../../lib/text/unified-diff.ts";
import { codeOfAllowed, readAllowedSkill, type SkillTexts, treeOfTexts, writeAllowedSkill } from "./allowed-skills.ts";
import { describeSkillFault } from "./format/parse-skill.ts";
import { checkTree, findBundled, findInstalled, findOfGroup, type SkillFolders } from "./places.ts";
import { hashOfTree, type SkillTree } from "./tree/skill-tree.ts";

/** A skill as an agent proposes it. */
export interface ProposedSkill {
  readonly name: string;
  readonly files: SkillTexts;
}

/** One that people have allowed. */
export interface AllowedProposal extends ProposedSkill {
  readonly group: string;
  readonly code: string;
  /** Hash of what it is a change of. */
  readonly base: string;
  readonly actor: Actor;
  readonly isBegun: boolean;
  readonly begin: () => Promise<void>;
}

interface SkillProposalsOptions {
  readonly places: SkillFolders;
  readonly hostUid: number;
  readonly publish: Publish<"skill.changed">;
}

/**
 * Skills that agents write for their groups: each is shown to people first, and written byte for byte as it was shown.
 */
export class SkillProposals {
  readonly #options: SkillProposalsOptions;

  constructor(options: SkillProposalsOptions) {
    this.#options = options;
  }

  /** Files that it would change, with names. */
  async changeOf(group: string, { name, files }: ProposedSkill): Promise<ProposedChange> {
    const before = await this.#current(group, name);
    const paths = [...new Set([...(before?.files ?? []), ...files].map(({ path }) => path))].toSorted();
    const diffs = paths.flatMap((path) => {
      const old = before?.files.find((file) => file.path === path)?.bytes.toString("utf8");
      const now = files.find((file) => file.path === path)?.content;
      const diff = unifiedDiff(old ?? "", now ?? "");
      if (diff === "" && old === now) return [];
      const what = old === undefined ? "new file" : now === undefined ? "removed" : "file";
      return [`=== ${what} ${path}\n${diff}`];
    });
    return { diff: diffs.join("\n"), base: hashOrEmpty(before) };
  }

  /** Returns a fault for the model, so that people need not be asked; undefined: none. */
  async faultOf(group: string, proposed: ProposedSkill): Promise<string | undefined> {
    const { name, files } = proposed;
    const nameFault = skillNameFault(name);
    if (nameFault !== undefined) return `The name of a skill ${nameFault}.`;
    const reading = treeOfTexts(files);
    if (!reading.ok) return `The file ${JSON.stringify(reading.path)} of the skill ${reading.detail}.`;
    const check = await checkTree(name, reading.tree);
    if (!check.ok) return `The skill cannot be used: ${check.faults.map(describeSkillFault).join("; ")}.`;
    if (await this.#isTaken(group, name))
      return `There is a skill "${name}" already that is not this group's own. Take another name.`;
    const { diff } = await this.changeOf(group, proposed);
    return diff === "" ? "The skill says exactly this already: there is nothing to change." : undefined;
  }

  /** Writes it once, also when it is called again after a crash. */
  async write({
    group,
    code,
    name,
    files,
    base,
    actor,
    isBegun,
    begin,
  }: AllowedProposal): Promise<"written" | "changed"> {
    const file = this.#fileOf(group, name);
    if ((await codeOfAllowed(file)) === code) return "written";
    const reading = treeOfTexts(files);
    if (!reading.ok) throw new AppError("bad_input", `${reading.path}: ${reading.detail}`);
    if (!isBegun) {
      if (hashOrEmpty(await this.#current(group, name)) !== base || (await this.#isTaken(group, name)))
        return "changed";
      const data = { name, sha256: hashOfTree(reading.tree), code };
      await this.#options.publish({ type: "skill.changed", group, actor, data });
      await begin();
    }
    await writeAllowedSkill(file, code, files);
    return "written";
  }

  /** A skill of the operator's is never changed or hidden by an agent's. */
  async #isTaken(group: string, name: string): Promise<boolean> {
    const { places, hostUid } = this.#options;
    const found = [
      ...(await findBundled(places)),
      ...(await findInstalled(places)),
      ...(await findOfGroup(places, group, hostUid)).filter(({ byAgent }) => !byAgent),
    ];
    return found.some((one) => one.name === name);
  }

  async #current(group: string, name: string): Promise<SkillTree | undefined> {
    const reading = await readAllowedSkill(this.#fileOf(group, name));
    return reading.ok ? reading.tree : undefined;
  }

  #fileOf(group: string, name: string): string {
    if (skillNameFault(name) !== undefined) throw new AppError("bad_input", `"${name}" cannot be the name of a skill.`);
    return join(this.#options.places.allowed, group, `${name}.json`);
  }
}

function hashOrEmpty(tree: SkillTree | undefined): string {
  return tree ? hashOfTree(tree) : createHash("sha256").update("").digest("hex");
}
