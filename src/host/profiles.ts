import { namesFor } from "../config/profiles/parse-profile.ts";
import { profileNames, profileOf } from "../config/profiles/profile-files.ts";
import type { Profile } from "../domain/rights/profile.ts";
import type { Session } from "../domain/turns/session.ts";
import { namedByAll } from "../domain/sandbox/skill.ts";
import type { SubAgent } from "../domain/work/sub-agent.ts";
import { AppError } from "../lib/app-error.ts";
import type { ResolvedGroup } from "../domain/settings/resolved-group.ts";
import type { SessionGroup } from "../turns/turn-scope.ts";
import type { AppContext } from "./context.ts";

const namedProfiles = 20;

/**
 * The profile of this name as its file is now. Rejects with an AppError whose words are for a model and a chat: nothing
 * of the file or its place is in them. The operator finds those in the log.
 */
export async function usableProfile(
  { home, live, adapters, logger }: Pick<AppContext, "home" | "live" | "adapters" | "logger">,
  name: string,
): Promise<Profile> {
  const folder = home.paths.agents;
  try {
    return await profileOf(folder, name, namesFor(live.current, adapters));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === "not_found") throw await unknown(folder, name);
    if (error.code !== "config_invalid") throw error;
    logger.warn({ profile: name, reason: error.message }, "a profile of agents cannot be used");
    const words = `The profile "${name}" is not usable: its file has a mistake, which only the operator can correct.`;
    throw new AppError("config_invalid", words);
  }
}

async function unknown(folder: string, name: string): Promise<AppError> {
  const known = (await profileNames(folder)).slice(0, namedProfiles);
  return new AppError("not_found", `There is no profile "${name}". Profiles: ${known.join(", ") || "none"}.`);
}

/**
 * Settings of a sub-agent's turn: those of its group, reduced by its profile and by those of its ancestors. Computed
 * for each turn, so that a restart loses nothing. Unknown parts are a fault, and then nothing is allowed.
 */
export async function narrowSettings(
  context: Pick<AppContext, "home" | "live" | "adapters" | "logger" | "store">,
  session: Session,
  settings: ResolvedGroup,
): Promise<Pick<SessionGroup, "settings" | "fault">> {
  const { live } = context;
  const own = await context.store.subAgents.ofSession(session.id);
  if (!own) return { settings, fault: "The record of this sub-agent no longer exists." };
  try {
    const line = await lineOf(context, own);
    const missing = line.find(({ route }) => route !== undefined && !Object.hasOwn(live.current.models.routes, route));
    if (missing) return { settings, fault: `The route "${missing.route}" no longer exists.` };
    return { settings: narrowedBy(line, settings) };
  } catch (error) {
    if (error instanceof AppError && (error.code === "not_found" || error.code === "config_invalid"))
      return { settings, fault: error.message };
    throw error;
  }
}

/** Beginnings of a sub-agent and its ancestors, its own first. */
async function lineOf(
  context: Pick<AppContext, "home" | "live" | "adapters" | "logger" | "store">,
  own: SubAgent,
): Promise<readonly Narrowing[]> {
  const line: Narrowing[] = [];
  for (let agent: SubAgent | undefined = own; agent; agent = await parentOf(context.store, agent)) {
    const { profile, route, skills } = agent;
    line.push({ route, skills, profile: profile === undefined ? undefined : await usableProfile(context, profile) });
  }
  return line;
}

/** Skills left to this sub-agent's session; undefined: no restriction. None when unknown. */
export async function skillsLeftTo(
  context: Pick<AppContext, "home" | "live" | "adapters" | "logger" | "store">,
  session: Pick<Session, "id">,
): Promise<readonly string[] | undefined> {
  const own = await context.store.subAgents.ofSession(session.id);
  if (!own) return [];
  try {
    return namedByAll(skillsSaid(await lineOf(context, own)));
  } catch (error) {
    // Its turn says why it cannot go on.
    if (error instanceof AppError && (error.code === "not_found" || error.code === "config_invalid")) return [];
    throw error;
  }
}

async function parentOf(
  { subAgents }: Pick<AppContext["store"], "subAgents">,
  { id, parent, depth }: SubAgent,
): Promise<SubAgent | undefined> {
  if (depth <= 1) return undefined;
  const found = await subAgents.ofSession(parent);
  if (!found) throw new AppError("not_found", `The record of what ${id} works for no longer exists.`);
  return found;
}

/** Restrictions chosen when the sub-agent was created. */
interface Narrowing {
  readonly profile: Profile | undefined;
  readonly route: string | undefined;
  readonly skills: readonly string[] | undefined;
}

/**
 * The first one is its own: it says what to do, and with which models; where it does not, those of who asks are left.
 */
function narrowedBy(line: readonly Narrowing[], settings: ResolvedGroup): ResolvedGroup {
  const { agent, policy } = settings;
  const [route] = line.flatMap(({ route: own, profile }) => own ?? profile?.route ?? []);
  const rules = line.flatMap(({ profile }) => profile?.rules ?? []);
  const texts = [line[0]?.profile?.instructions, agent.instructions].filter((text) => text !== undefined);
  const instructions = texts.length === 0 ? undefined : texts.join("\n\n");
  const skills = namedByAll([agent.skills, ...skillsSaid(line)]);
  return {
    ...settings,
    agent: { ...agent, skills, instructions, route },
    policy: { rules: [...rules, ...policy.rules] },
  };
}

function skillsSaid(line: readonly Narrowing[]): (readonly string[] | undefined)[] {
  return line.flatMap(({ profile, skills }) => [skills, profile?.skills]);
}
