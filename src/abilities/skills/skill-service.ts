import { existsSync } from "node:fs";

import { type Group, unknownGroup } from "../../domain/chats/group.ts";
import { leftOf, namedByAll, type Skill, skillProposal } from "../../domain/sandbox/skill.ts";
import type { LookUpForeword } from "../../domain/turns/foreword.ts";
import { joined, type Sourced } from "../../domain/rights/sourced.ts";
import type { Session } from "../../domain/turns/session.ts";
import { toError } from "../../lib/app-error.ts";
import type { AbilityService, CallingTurn, ValuesOf } from "../define-ability.ts";
import type { skillsConfig } from "./config.ts";
import { GroupSkills } from "./group-skills.ts";
import { listAll, listForGroup, type ListedSkill } from "./list-skills.ts";
import { type SkillFolders, skillFolders } from "./places.ts";
import { showSkillFile } from "./show-skills.ts";
import { skillsNamedIn } from "./skill-mapping.ts";
import { type SkillPort, skillPort } from "./skill-port.ts";
import type { SkillServiceNeeds } from "./skill-needs.ts";
import { SkillProposals } from "./skill-proposals.ts";
import { SkillToolSource } from "./skill-tool-source.ts";
import { installedSkills } from "./install/lock-file.ts";
import { SkillSync } from "./sync/skill-sync.ts";

interface AgentSession {
  readonly group: Pick<Group, "name" | "agent">;
  readonly session: Pick<Session, "id" | "kind">;
}

/** More than a message needs; others are read by the tool. */
const mostNamedAtOnce = 5;

/** Skills of all groups. Nothing is looked at for groups that are to have none. */
export class SkillService implements AbilityService {
  readonly proposals: Readonly<Record<string, SkillProposals>>;
  readonly toolSource: SkillToolSource;
  readonly #needs: SkillServiceNeeds;
  readonly #places: SkillFolders;
  readonly #skills: GroupSkills;
  readonly #sync: SkillSync;

  constructor(needs: SkillServiceNeeds, settings: () => ValuesOf<(typeof skillsConfig)["top"]>) {
    this.#needs = needs;
    const { paths, checkout, variables, skillsOf, publish, clock, logger, groups, store } = needs;
    const places = skillFolders(paths, checkout);
    needs.installed.follow("skill", () => installedSkills(paths.skillLock));
    this.#places = places;
    this.#skills = new GroupSkills(needs, places);
    this.toolSource = new SkillToolSource((group) => this.#skills.inUse(group.name));
    this.proposals = { [skillProposal]: new SkillProposals(places, publish) };
    this.#sync = new SkillSync({
      lock: paths.skillLock,
      stateFile: paths.skillSync,
      isOn: () => settings().skillsSync === "weekly" && groups.list().some(({ name }) => skillsOf(name) !== "none"),
      compare: async (installed, signal) => {
        const { SkillInstaller } = await import("./install/installer.ts");
        return new SkillInstaller({ places, now: () => clock.now(), variables }).compare(installed, signal);
      },
      isOnRecord: async (run) => {
        const { events } = await store.events.before(Number.MAX_SAFE_INTEGER, { types: ["skills.synced"] }, 1);
        return events.some((event) => event.type === "skills.synced" && event.data.run === run);
      },
      publish,
      clock,
      logger,
    });
    this.#skills.onSettled(() => this.settingsChanged());
  }

  /** Removes copies that no group uses, where there are some; and looks at sources that are due. */
  begin(): void {
    const { paths, groups, logger } = this.#needs;
    this.settingsChanged();
    if (!existsSync(paths.skillCopies)) return;
    this.#skills
      .tidy(groups.list().map(({ name }) => name))
      .catch((error: unknown) => logger.warn({ err: toError(error) }, "old copies of skills could not be removed"));
  }

  settingsChanged(): void {
    void this.#sync.changed();
  }

  /** Skills of a group as they are now. Unusable ones are left out and reported. */
  look(group: string): Promise<readonly Skill[]> {
    return this.#skills.look(group);
  }

  /** Skills of a group as they were when it was last looked at. */
  known(group: string): readonly Skill[] {
    return this.#skills.known(group);
  }

  /** Current skills of the agent in this session: in its container, and by `$name`. */
  async skillsIn({ group, session }: AgentSession): Promise<readonly Skill[]> {
    const all = await this.look(group.name);
    if (all.length === 0) return all;
    const { agentSkillsOf, skillsLeftTo } = this.#needs;
    const left = session.kind === "agent" ? await skillsLeftTo(session) : undefined;
    return leftOf(all, namedByAll([agentSkillsOf(group), left]));
  }

  /** Skills for `crabpot skills list`; those of a group where one is given. Throws `not_found`. */
  async list(group: string | undefined): Promise<readonly ListedSkill[]> {
    const { groups, skillsOf, agentSkillsOf } = this.#needs;
    const names = groups.list().map(({ name }) => name);
    if (group === undefined) return listAll(this.#places, names);
    const found = groups.list().find(({ name }) => name === group);
    if (!found) throw unknownGroup(group, names);
    return listForGroup(this.#places, group, { choice: skillsOf(group), left: agentSkillsOf(found) });
  }

  /** Installed skills whose source has another version, by name. */
  outdated(): Promise<readonly string[]> {
    return this.#sync.outdated();
  }

  /** Skills for a call of a tool in this turn. Throws ToolError where the group has none. */
  portFor(scope: CallingTurn): SkillPort {
    return skillPort(this.#needs, (group) => this.known(group), scope);
  }

  /** Shows the skills that messages name as `$name`. */
  readonly foreword: LookUpForeword = async ({ group, session, messages }) => {
    const { publish, logger } = this.#needs;
    const said = messages.filter(({ state, text }) => state !== "context" && text.includes("$"));
    if (said.length === 0) return undefined;
    try {
      const named = skillsNamedIn(said.map(({ text }) => text).join("\n"), await this.skillsIn({ group, session }));
      const texts: Sourced[] = [];
      for (const skill of named.slice(0, mostNamedAtOnce)) {
        const data = { name: skill.name, sha256: skill.sha256, way: "message" } as const;
        await publish({ type: "skill.loaded", group: group.name, session: session.id, actor: "host", data });
        texts.push(await showSkillFile(skill));
      }
      return texts.length === 0 ? undefined : joined(texts, "\n");
    } catch (error) {
      logger.error({ err: toError(error), group: group.name }, "skills that a message names could not be read");
      return undefined;
    }
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sync[Symbol.asyncDispose]();
  }
}
