import type { CommandContext } from "../../context.ts";
import type { Check, CheckResult } from "./check.ts";
import { runChecks } from "./check.ts";
import { checkConfiguration, checkProviders } from "./home/configuration.ts";
import { checkBrowsers } from "./machine/browser.ts";
import { checkAudit, checkDatabase } from "./home/data.ts";
import { checkByAttacks } from "./machine/attacks.ts";
import { checkEngine } from "./machine/engine.ts";
import { checkGroupFolders, checkHost } from "./home/host.ts";
import { checkMedia } from "./agents/media.ts";
import { checkVoice } from "./agents/voice.ts";
import { checkMemoryFiles } from "./agents/memory.ts";
import { checkMcpContainers } from "./agents/mcp-containers.ts";
import { checkMounts } from "./machine/mounts.ts";
import { checkAgentProfiles } from "./agents/profiles.ts";
import { checkOwnPrompts } from "./agents/prompts.ts";
import { checkSkills } from "./agents/skills.ts";
import { checkPackages } from "./machine/packages.ts";
import { checkPlugins } from "./agents/plugins.ts";
import { checkWeb } from "./agents/web.ts";
import { checkPeopleIds } from "./home/people.ts";
import { checkKernel } from "./machine/kernel.ts";
import { checkDisk, checkHome, checkNode, checkPermissions } from "./machine/machine.ts";

/** Every check, in an order in which the first bad one is usually the cause of those after it. */
export function createChecks(context: CommandContext, deep: boolean): AsyncGenerator<CheckResult> {
  const checks: Check[] = [
    { name: "node", run: () => checkNode() },
    { name: "kernel", run: () => checkKernel() },
    { name: "home", run: () => checkHome(context.paths) },
    { name: "permissions", run: () => checkPermissions(context.paths) },
    { name: "disk", run: () => checkDisk(context.paths) },
    { name: "config", run: () => checkConfiguration(context) },
    { name: "mounts", run: () => checkMounts(context) },
    { name: "profiles", run: () => checkAgentProfiles(context) },
    { name: "voice", run: () => checkVoice(context) },
    { name: "prompts", run: () => checkOwnPrompts(context) },
    { name: "skills", run: () => checkSkills(context) },
    { name: "plugins", run: () => checkPlugins(context) },
    { name: "people", run: () => checkPeopleIds(context) },
    { name: "groups", run: () => checkGroupFolders(context) },
    { name: "database", run: () => checkDatabase(context.paths) },
    { name: "audit", run: () => checkAudit(context.paths) },
    { name: "engine", run: () => checkEngine(context) },
    { name: "packages", run: () => checkPackages(context) },
    { name: "browser", run: () => checkBrowsers(context) },
    { name: "provider", run: () => checkProviders(context) },
    { name: "memory", run: () => checkMemoryFiles(context) },
    { name: "media", run: () => checkMedia() },
    { name: "mcp-containers", run: () => checkMcpContainers(context) },
    { name: "web", run: () => checkWeb(context) },
    { name: "host", run: () => checkHost(context) },
    ...(deep ? [{ name: "redteam", run: () => checkByAttacks(context) }] : []),
  ];
  return runChecks(checks);
}
