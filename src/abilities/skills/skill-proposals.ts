import { createHash } from "node:crypto";
import { join } from "node:path";

import type { Group } from "../../domain/chats/group.ts";
import type { ProposedChange } from "../../domain/rights/approval.ts";
import { skillNameFault } from "../../domain/sandbox/skill.ts";
import type { Publish } from "../../domain/events/event.ts";
import { AppError } from "../../lib/app-error.ts";
import { unifiedDiff } from "../../lib/text/unified-diff.ts";
import type { AllowedChange, Proposals } from "../../rights/approvals/proposals.ts";
import { codeOfAllowed, readAllowedSkill, type SkillTexts, treeOfTexts, writeAllowedSkill } from "./allowed-skills.ts";
import { describeSkillFault } from "./format/parse-skill.ts";
import { checkTree, findBundled, findInstalled, findOfGroup, type SkillFolders } from "./places.ts";
import { proposeSkill } from "./tools/propose-skill.ts";
import { hashOfTree, type SkillTree } from "./tree/skill-tree.ts";

/** A skill as an agent proposes it. */
interface ProposedSkill {
  readonly name: string;
  readonly files: SkillTexts;
}

/**
 * Skills that agents write for their groups: each is shown to people first, and written byte for byte as it was shown.
 */
export class SkillProposals implements Proposals {
  readonly #places: SkillFolders;
  readonly #publish: Publish<"skill.changed">;

  constructor(places: SkillFolders, publish: Publish<"skill.changed">) {
    this.#places = places;
    this.#publish = publish;
  }

  /** Files that it would change, with names. */
  async changeOf({ name: group }: Group, input: unknown): Promise<ProposedChange> {
    const { name, files } = readProposal(input);
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

  async faultOf(group: Group, input: unknown): Promise<string | undefined> {
    const { name, files } = readProposal(input);
    const nameFault = skillNameFault(name);
    if (nameFault !== undefined) return `The name of a skill ${nameFault}.`;
    const reading = treeOfTexts(files);
    if (!reading.ok) return `The file ${JSON.stringify(reading.path)} of the skill ${reading.detail}.`;
    const check = await checkTree(name, reading.tree);
    if (!check.ok) return `The skill cannot be used: ${check.faults.map(describeSkillFault).join("; ")}.`;
    if (await this.#isTaken(group.name, name))
      return `There is a skill "${name}" already that is not this group's own. Take another name.`;
    const { diff } = await this.changeOf(group, input);
    return diff === "" ? "The skill says exactly this already: there is nothing to change." : undefined;
  }

  async write({
    group,
    code,
    content,
    base,
    origins,
    actor,
    isBegun,
    begin,
  }: AllowedChange): Promise<"written" | "changed"> {
    const { name, files } = readProposal(JSON.parse(content));
    const file = this.#fileOf(group, name);
    if ((await codeOfAllowed(file)) === code) return "written";
    const reading = treeOfTexts(files);
    if (!reading.ok) throw new AppError("bad_input", `${reading.path}: ${reading.detail}`);
    if (!isBegun) {
      if (hashOrEmpty(await this.#current(group, name)) !== base || (await this.#isTaken(group, name)))
        return "changed";
      const data = { name, sha256: hashOfTree(reading.tree), code };
      await this.#publish({ type: "skill.changed", group, actor, data });
      await begin();
    }
    await writeAllowedSkill(file, { code, origins: [...origins], files });
    return "written";
  }

  /** A skill of the operator's is never changed or hidden by an agent's. */
  async #isTaken(group: string, name: string): Promise<boolean> {
    const found = [
      ...(await findBundled(this.#places)),
      ...(await findInstalled(this.#places)),
      ...(await findOfGroup(this.#places, group)).filter(({ byAgent }) => !byAgent),
    ];
    return found.some((one) => one.name === name);
  }

  async #current(group: string, name: string): Promise<SkillTree | undefined> {
    const { reading } = await readAllowedSkill(this.#fileOf(group, name));
    return reading.ok ? reading.tree : undefined;
  }

  #fileOf(group: string, name: string): string {
    if (skillNameFault(name) !== undefined) throw new AppError("bad_input", `"${name}" cannot be the name of a skill.`);
    return join(this.#places.allowed, group, `${name}.json`);
  }
}

function hashOrEmpty(tree: SkillTree | undefined): string {
  return tree ? hashOfTree(tree) : createHash("sha256").update("").digest("hex");
}

function readProposal(input: unknown): ProposedSkill {
  const { name, files } = proposeSkill.input.parse(input) as unknown as ProposedSkill;
  return { name, files };
}
