import type { Logger } from "pino";

import type { Profile } from "../../domain/rights/profile.ts";
import { namedByAll } from "../../domain/sandbox/skill.ts";
import type { ResolvedGroup } from "../../domain/settings/resolved-group.ts";
import type { Session } from "../../domain/turns/session.ts";
import type { SubAgent } from "../../domain/work/sub-agent.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { SessionGroup } from "../../turns/turn-scope.ts";
import type { Adapters } from "../adapters.ts";
import type { LiveConfig } from "../changes/live-config.ts";
import { namesFor } from "./parse-profile.ts";
import { checkProfiles, profileNames, profileOf } from "./profile-files.ts";

/** Maximum number of profiles that an error names. */
const namedProfiles = 20;

export interface AgentProfilesOptions {
  readonly live: Pick<LiveConfig, "current">;
  readonly adapters: Adapters;
  /** Holds the files of profiles. */
  readonly folder: string;
  readonly subAgents: Pick<Store["subAgents"], "ofSession">;
  readonly logger: Logger;
}

/** Restrictions chosen when a sub-agent was created. */
interface Narrowing {
  readonly profile: Profile | undefined;
  readonly route: string | undefined;
  readonly skills: readonly string[] | undefined;
}

/** The operator's profiles of agents, and what they leave to sub-agents. Files are read for each question. */
export class AgentProfiles {
  readonly #options: AgentProfilesOptions;

  constructor(options: AgentProfilesOptions) {
    this.#options = options;
  }

  /** Returns the profiles whose files are valid. */
  async list(): Promise<readonly Profile[]> {
    const checked = await checkProfiles(this.#options.folder, this.#names());
    return checked.flatMap(({ profile }) => profile ?? []);
  }

  /**
   * Returns the profile of this name. Rejects with an AppError whose words are for a model and a chat: nothing of the
   * file or its path is in them. The operator finds those in the log.
   */
  async usable(name: string): Promise<Profile> {
    const { folder, logger } = this.#options;
    try {
      return await profileOf(folder, name, this.#names());
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === "not_found") throw await unknown(folder, name);
      if (error.code !== "config_invalid") throw error;
      logger.warn({ profile: name, reason: error.message }, "a profile of agents cannot be used");
      const words = `The profile "${name}" is not usable: its file has a mistake, which only the operator can correct.`;
      throw new AppError("config_invalid", words);
    }
  }

  /**
   * Returns the settings of a sub-agent's turn: those of its group, reduced by its profile and by those of its
   * ancestors. Computed for each turn, so that a restart loses nothing. Unknown parts are a fault, and then nothing is
   * allowed.
   */
  async narrow(
    { id }: Pick<Session, "id">,
    settings: ResolvedGroup,
  ): Promise<Pick<SessionGroup, "settings" | "fault">> {
    const own = await this.#options.subAgents.ofSession(id);
    if (!own) return { settings, fault: "The record of this sub-agent no longer exists." };
    const line = await this.#lineOf(own).catch(faultOf);
    if (typeof line === "string") return { settings, fault: line };
    const { routes } = this.#options.live.current.models;
    const missing = line.find(({ route }) => route !== undefined && !Object.hasOwn(routes, route));
    if (missing) return { settings, fault: `The route "${missing.route}" no longer exists.` };
    return { settings: narrowedBy(line, settings) };
  }

  /** Returns settings with the rules of these profiles put before all others. A missing profile is a fault. */
  async narrowBy(settings: ResolvedGroup, names: readonly string[]): Promise<Pick<SessionGroup, "settings" | "fault">> {
    if (names.length === 0) return { settings };
    const profiles = await Promise.all(names.map((name) => this.usable(name))).catch(faultOf);
    if (typeof profiles === "string") return { settings, fault: profiles };
    const rules = profiles.flatMap((profile) => profile.rules);
    return { settings: { ...settings, policy: { rules: [...rules, ...settings.policy.rules] } } };
  }

  /** Returns the skills left to this sub-agent's session; undefined: no restriction. None when unknown. */
  async skillsLeftTo({ id }: Pick<Session, "id">): Promise<readonly string[] | undefined> {
    const own = await this.#options.subAgents.ofSession(id);
    if (!own) return [];
    const line = await this.#lineOf(own).catch(faultOf);
    // The sub-agent's turn says why it cannot go on.
    return typeof line === "string" ? [] : namedByAll(skillsIn(line));
  }

  #names(): ReturnType<typeof namesFor> {
    const { live, adapters } = this.#options;
    return namesFor(live.current, adapters);
  }

  /** Restrictions of a sub-agent and its ancestors, its own first. */
  async #lineOf(own: SubAgent): Promise<readonly Narrowing[]> {
    const line: Narrowing[] = [];
    for (let agent: SubAgent | undefined = own; agent; agent = await this.#parentOf(agent)) {
      const { profile, route, skills } = agent;
      line.push({ route, skills, profile: profile === undefined ? undefined : await this.usable(profile) });
    }
    return line;
  }

  async #parentOf({ id, parent, depth }: SubAgent): Promise<SubAgent | undefined> {
    if (depth <= 1) return undefined;
    const found = await this.#options.subAgents.ofSession(parent);
    if (!found) throw new AppError("not_found", `The record of what ${id} works for no longer exists.`);
    return found;
  }
}

async function unknown(folder: string, name: string): Promise<AppError> {
  const known = (await profileNames(folder)).slice(0, namedProfiles);
  return new AppError("not_found", `There is no profile "${name}". Profiles: ${known.join(", ") || "none"}.`);
}

/** Returns why a profile or a parent is missing; rethrows all other errors. */
function faultOf(error: unknown): string {
  if (error instanceof AppError && (error.code === "not_found" || error.code === "config_invalid"))
    return error.message;
  throw error;
}

/**
 * Reduces settings by a line of restrictions. The first one is the sub-agent's own: it says what to do, and with which
 * models; where it does not, those of its parent are left.
 */
function narrowedBy(line: readonly Narrowing[], settings: ResolvedGroup): ResolvedGroup {
  const { agent, policy } = settings;
  const [route] = line.flatMap(({ route: own, profile }) => own ?? profile?.route ?? []);
  const rules = line.flatMap(({ profile }) => profile?.rules ?? []);
  const texts = [line[0]?.profile?.instructions, agent.instructions].filter((text) => text !== undefined);
  const instructions = texts.length === 0 ? undefined : texts.join("\n\n");
  const skills = namedByAll([agent.skills, ...skillsIn(line)]);
  return {
    ...settings,
    agent: { ...agent, skills, instructions, route },
    policy: { rules: [...rules, ...policy.rules] },
  };
}

function skillsIn(line: readonly Narrowing[]): (readonly string[] | undefined)[] {
  return line.flatMap(({ profile, skills }) => [skills, profile?.skills]);
}
