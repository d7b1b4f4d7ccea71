import { lstat } from "node:fs/promises";

import { configuredGroups } from "../../../../../config/configured/groups.ts";
import type { Group } from "../../../../../domain/chats/group.ts";
import { readAllowlist } from "../../../../../sandbox/mounts/allowlist.ts";
import type { MountDenial, MountGrant } from "../../../../../sandbox/mounts/rules.ts";
import { shellQuoted } from "../../../../../lib/files/paths.ts";
import type { CommandContext } from "../../../context.ts";
import { judgeNow } from "../../../offline/mounts.ts";
import type { CheckResult } from "../check.ts";
import { bad, good, warning } from "../check.ts";

/** The allowlist, and what each configured group would get by it. */
export async function checkMounts(context: CommandContext): Promise<CheckResult[]> {
  const { config } = await context.loadConfig();
  const groups = configuredGroups(config);
  const results: CheckResult[] = [];
  const unlisted: Unlisted[] = [];
  for (const group of groups) {
    for (const verdict of await judgeNow(context, group, groups)) {
      const { source, target, reason } = verdict;
      const access = group.mounts.find((mount) => mount.target === target)?.access ?? "ro";
      const detail = `group ${group.name}, ${source}: ${reason}`;
      if (verdict.verdict !== "denied") results.push(granted(detail, verdict, context));
      else if (verdict.rule === "allowlist") unlisted.push({ group: group.name, source, access });
      else results.push(bad("mounts", detail, fixOf(verdict, { group: group.name, access, context })));
    }
  }
  return [...(await checkAllowlist(context, unlisted)), ...results];
}

/** A folder in which nothing is protected is the operator's decision, and one to be reminded of. */
function granted(detail: string, { verdict, protection, target }: MountGrant, context: CommandContext): CheckResult {
  if (verdict !== "rw" || protection !== "none") return good("mounts", detail);
  return warning("mounts", detail, `Leave out protect: none at the mount ${target} in ${context.paths.config}.`);
}

/** A mount that is denied only because there is no allowlist that can be used. */
interface Unlisted {
  readonly group: string;
  readonly source: string;
  readonly access: string;
}

async function checkAllowlist(context: CommandContext, unlisted: readonly Unlisted[]): Promise<CheckResult[]> {
  const file = context.paths.mounts;
  const isThere = (await lstat(file).catch(() => undefined)) !== undefined;
  const denied = unlisted.map(({ group, source }) => ` Denied to group ${group}: ${source}.`).join("");
  if (!isThere) {
    if (denied === "") return [good("mounts", `There is no ${file}: no mount is allowed.`)];
    const roots = unlisted.map(({ source: path, access }) => ({ path, access }));
    const fix = `(umask 077; echo ${shellQuoted(JSON.stringify({ roots }))} > ${shellQuoted(file)})`;
    return [bad("mounts", `There is no ${file}: no mount is allowed.${denied}`, fix)];
  }
  const hostUid = process.geteuid?.() ?? 0;
  const allowlist = await readAllowlist({ path: file, homeFolder: context.environment.userHome, hostUid });
  if (allowlist.state === "ready") return [good("mounts", `${file} is valid.`)];
  return [bad("mounts", `${allowlist.reason}.${denied}`, allowlist.fix ?? `Edit ${file}.`)];
}

/** Fix that makes the mount possible, or how to do without. */
function fixOf(
  { rule, reason, source, target, fix }: MountDenial,
  asked: { readonly group: Group["name"]; readonly access: string; readonly context: CommandContext },
): string {
  if (fix !== undefined) return fix;
  const { config, mounts } = asked.context.paths;
  const mount = `the mount ${target} of group ${asked.group} in ${config}`;
  const isBlocked = reason.includes("blocked in mounts.json");
  if (rule === "source") return `Name an existing folder in ${mount}, or remove it.`;
  if (rule === "root") {
    const root = JSON.stringify({ path: source, access: asked.access });
    return `Add ${root} to "roots" in ${mounts}, or remove ${mount}.`;
  }
  if (rule === "shared") return `Edit both mounts in ${config}.`;
  if (isBlocked) return `Remove the name from "blocked" in ${mounts}, or remove ${mount}.`;
  if (rule === "protected" || rule === "contents") {
    return `This can never be mounted: name another folder in ${mount}, or remove it.`;
  }
  return `Correct or remove ${mount}.`;
}
