import { lstatSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { isChosen, type Skill, type SkillChoice, skillLimits, wantsNone } from "../../domain/sandbox/skill.ts";
import { toError } from "../../lib/app-error.ts";
import { describeSkillFault } from "./format/parse-skill.ts";
import {
  findBundled,
  findInstalled,
  findOfGroup,
  type FoundSkill,
  isUsable,
  nearestOf,
  type SkillFolders,
  toSkill,
} from "./places.ts";
import type { SkillServiceNeeds } from "./skill-needs.ts";
import { SkillCopies } from "./tree/skill-copies.ts";

type Needs = Pick<SkillServiceNeeds, "paths" | "skillsOf" | "publish" | "tellOperator" | "logger">;

/** Result of the last look at a group's skills. */
interface Look {
  readonly choice: SkillChoice;
  readonly fingerprint: string;
  readonly skills: readonly Skill[];
  /** Told once. */
  readonly faults: ReadonlySet<string>;
}

interface Refusal {
  readonly name: string;
  /** Source; undefined when it is missing. */
  readonly source: FoundSkill["source"] | undefined;
  readonly reason: string;
}

const none: readonly Skill[] = [];

/**
 * Which skills each group has. They are looked at when a container is looked for, which is between turns: what is new,
 * changed or gone then is so for the whole turn. For a group that is to have none, nothing is looked at.
 */
export class GroupSkills {
  readonly #needs: Needs;
  readonly #places: SkillFolders;
  readonly #copies: SkillCopies;
  readonly #looks = new Map<string, Look>();
  /** One look at a time for each group. */
  readonly #looking = new Map<string, Promise<unknown>>();
  readonly #onSettled: (() => void)[] = [];
  #bundled: Promise<FoundSkill[]> | undefined;

  constructor(needs: Needs, places: SkillFolders) {
    this.#needs = needs;
    this.#places = places;
    this.#copies = new SkillCopies(needs.paths.skillCopies);
  }

  /** Current skills, sorted by name. Unusable ones are left out and reported. */
  async look(group: string): Promise<readonly Skill[]> {
    const choice = this.#needs.skillsOf(group);
    if (wantsNone(choice)) {
      this.#looks.delete(group);
      return none;
    }
    const before = this.#looking.get(group) ?? Promise.resolve();
    const look = before.catch(() => undefined).then(() => this.#look(group, choice));
    this.#looking.set(group, look);
    return look;
  }

  /** Calls `settled`, which must not throw, when a group's skills were looked at because something has changed. */
  onSettled(settled: () => void): void {
    this.#onSettled.push(settled);
  }

  /** Skills of the last look, or of a first one. */
  async inUse(group: string): Promise<readonly Skill[]> {
    return this.#looks.has(group) ? this.known(group) : this.look(group);
  }

  /** Skills of the last look. */
  known(group: string): readonly Skill[] {
    return wantsNone(this.#needs.skillsOf(group)) ? none : (this.#looks.get(group)?.skills ?? none);
  }

  /** Removes copies that none of these groups uses. */
  async tidy(groups: readonly string[]): Promise<void> {
    const used = new Set<string>();
    for (const group of groups) for (const { copy } of await this.look(group)) used.add(basename(copy));
    await this.#copies.retain(used);
  }

  async #look(group: string, choice: SkillChoice): Promise<readonly Skill[]> {
    const fingerprint = this.#fingerprint(group);
    const last = this.#looks.get(group);
    if (last && last.fingerprint === fingerprint && isDeepStrictEqual(last.choice, choice)) return last.skills;
    const { skills, faults } = await this.#settle(group, choice, last);
    // A file that was changed meanwhile, or within the clock's resolution, is looked at again.
    const isSettled = fingerprint === this.#fingerprint(group);
    this.#looks.set(group, { choice, fingerprint: isSettled ? fingerprint : "", skills, faults });
    for (const settled of this.#onSettled) settled();
    return skills;
  }

  async #settle(group: string, choice: SkillChoice, last: Look | undefined): Promise<Pick<Look, "skills" | "faults">> {
    const found = await this.#find(group);
    const skills: Skill[] = [];
    const faults = new Set<string>();
    for (const one of found.filter(({ state }) => state !== "hidden").filter((each) => isChosen(choice, each))) {
      const skill = await this.#keep(one);
      // What was edited in place and cannot be used changes nothing.
      const usable = skill ?? (one.source === "group" ? last?.skills.find(({ name }) => name === one.name) : undefined);
      if (usable) skills.push(usable);
      if (skill) continue;
      const { name, source } = one;
      faults.add(
        await this.#refuse(group, { name, source, reason: one.faults.map(describeSkillFault).join("; ") }, last),
      );
    }
    for (const name of missingOf(choice, found))
      faults.add(await this.#refuse(group, { name, source: undefined, reason: "there is no such skill" }, last));
    const sorted = skills.toSorted((one, other) => (one.name < other.name ? -1 : 1));
    if (!isDeepStrictEqual(last?.skills, sorted)) await this.#settled(group, sorted);
    return { skills: sorted, faults };
  }

  async #find(group: string): Promise<readonly FoundSkill[]> {
    const places = this.#places;
    const installed = await findInstalled(places).catch((error: unknown) => {
      this.#needs.logger.error({ err: toError(error) }, "installed skills cannot be used");
      return [];
    });
    const bundled = await (this.#bundled ??= findBundled(places));
    return nearestOf([...bundled, ...installed, ...(await findOfGroup(places, group))]);
  }

  async #keep(found: FoundSkill): Promise<Skill | undefined> {
    if (!isUsable(found)) return undefined;
    return toSkill(found, await this.#copies.keep(found.tree, found.sha256));
  }

  async #settled(group: string, skills: readonly Skill[]): Promise<void> {
    const told = skills.map(({ name, source, sha256 }) => ({ name, source, sha256 }));
    await this.#needs.publish({ type: "skills.settled", group, actor: "host", data: { skills: told } });
  }

  /** Told once as long as it stays so. Gives what it is known by. */
  async #refuse(group: string, { name, source, reason }: Refusal, last: Look | undefined): Promise<string> {
    const key = `${source === undefined ? "" : `${source} `}${name}: ${reason}`;
    if (last?.faults.has(key)) return key;
    const { publish, tellOperator, logger } = this.#needs;
    await publish({ type: "skill.refused", group, actor: "host", data: { name, source, reason } });
    const text = `The skill "${name}" of group ${group} cannot be used: ${reason}.`;
    logger.warn({ group, skill: name }, text);
    tellOperator(text);
    return key;
  }

  /** Changes with what could make another skill of one of these. Bundled ones stay as they are while the host runs. */
  #fingerprint(group: string): string {
    const places = this.#places;
    const facts: string[] = [];
    walk(places.lock, facts, 0);
    walk(places.installed, facts, 0);
    walk(join(places.allowed, group), facts, 0);
    walk(join(places.groups, group, "skills"), facts, 0);
    return facts.join("\n");
  }
}

/** More entries than this are not told apart: then each look reads everything. */
const mostFacts = 5_000;

/** Collects file system facts synchronously: the thread pool would take ten times as long. */
function walk(path: string, facts: string[], depth: number): void {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (!stats) return;
  if (facts.length >= mostFacts || depth > skillLimits.depth + 1) return void facts.push(String(performance.now()));
  facts.push(`${path} ${stats.ino} ${stats.size} ${stats.ctimeNs} ${stats.mode} ${stats.uid}`);
  if (!stats.isDirectory()) return;
  for (const name of namesIn(path)) walk(join(path, name), facts, depth + 1);
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path).toSorted();
  } catch {
    return [];
  }
}

/** Names that a group is to have and that stand for nothing. */
function missingOf(choice: SkillChoice, found: readonly FoundSkill[]): string[] {
  if (typeof choice === "string") return [];
  return choice.filter((name) => !found.some((one) => one.name === name));
}
