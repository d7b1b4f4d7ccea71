import {
  countPackages,
  type ImageWish,
  type PackageLists,
  packagesFor,
  sortPackages,
} from "../../domain/sandbox/packages.ts";
import type { OwnReviewSettings, ReviewSettings } from "../../domain/rights/review.ts";
import type { ProgressSettings } from "../../domain/settings/resolved-group.ts";
import type { Group } from "../../domain/chats/group.ts";
import type { SessionVisibility } from "../../domain/turns/session.ts";
import type { SkillChoice } from "../../domain/sandbox/skill.ts";
import type { McpServer } from "../../domain/sandbox/mcp-server.ts";
import { espeakPackages } from "../../domain/settings/speech.ts";
import { mcpServers } from "../configured/mcp.ts";
import type { Config } from "../schema/config.ts";
import { entryOf } from "./entry.ts";

/** Always the same list, by which a group without servers is seen to have no others. */
const noServers: readonly McpServer[] = [];

/** Packages for this group's image; undefined: the plain agent image. */
export function packagesOf(config: Pick<Config, "groups">, name: string): PackageLists | undefined {
  const wanted = packagesFor(imageWishOf(config, name));
  return countPackages(wanted) > 0 ? wanted : undefined;
}

/** Image settings of this group. */
export function imageWishOf(config: Pick<Config, "groups">, name: string): ImageWish {
  return entryOf(config, name)?.image ?? sortPackages({});
}

/** Which skills this group's agent has, as far as there are any. */
export function skillsOf(config: Config, name: string): SkillChoice {
  return entryOf(config, name)?.skills ?? config.skills;
}

/** Visibility of sessions; undefined: session tools are not offered. Only main groups see other groups. */
export function sessionVisibilityOf(
  { sessions: { visibility } }: Pick<Config, "sessions">,
  { main }: Pick<Group, "main">,
): SessionVisibility | undefined {
  return visibility === "all" && !main ? "group" : visibility;
}

/** By whose clocks this group lives: an IANA name. */
export function timezoneOf(config: Pick<Config, "groups" | "timezone">, name: string): string {
  return entryOf(config, name)?.timezone ?? config.timezone;
}

const usualReview = { apply: "admin", quorum: 1, expiresMinutes: 7 * 24 * 60 } as const;

/** Returns how changes in a mount of the group are decided. */
export function reviewSettingsOf(config: Pick<Config, "groups">, name: string, target: string): ReviewSettings {
  const entry = entryOf(config, name);
  const mount = entry?.mounts.find((each) => each.target === target);
  const from = (key: keyof OwnReviewSettings) => mount?.review?.[key] ?? entry?.review?.[key] ?? usualReview[key];
  const settings = { apply: from("apply"), quorum: from("quorum"), expiresMinutes: from("expiresMinutes") };
  return { ...settings, isOrdinaryApplied: mount?.access === "rw" && mount.protect === "strict" } as ReviewSettings;
}

/** Returns the signs of progress that a group gets. */
export function progressOf(config: Config, name: string): ProgressSettings {
  const own = entryOf(config, name)?.progress;
  return {
    afterSeconds: own?.afterSeconds ?? config.progress.afterSeconds,
    reactions: own?.reactions ?? config.progress.reactions,
    answers: own?.answers ?? config.progress.answers,
    isAsked: own?.afterSeconds !== undefined,
  };
}

/** The servers that this group names, as config.yaml has them, by name. */
export function mcpServersOf(config: Config, group: string): readonly McpServer[] {
  const names = new Set(entryOf(config, group)?.mcp ?? []);
  if (names.size === 0) return noServers;
  return mcpServers(config).filter(({ name }) => names.has(name));
}

/** True when this group's agents can speak. A program can when the group's image includes it. */
export function speaksFor(config: Pick<Config, "media" | "groups">, group: string): boolean {
  const { speech } = config.media;
  if (speech === "none") return false;
  if (typeof speech === "object" && "provider" in speech) return true;
  const names = packagesOf(config, group)?.apt.map((name) => name.split("=")[0]);
  return espeakPackages.every((name) => names?.includes(name) === true);
}
