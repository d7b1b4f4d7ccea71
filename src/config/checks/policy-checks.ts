import { nearest } from "../../lib/text/nearest.ts";
import type { Adapters } from "../adapters.ts";
import type { ConfigFault } from "../faults.ts";
import { formatPath } from "../faults.ts";
import type { Config } from "../schema/config.ts";
import type { GroupPolicySettings } from "../schema/policy.ts";

interface Written {
  readonly path: readonly PropertyKey[];
  readonly policy: GroupPolicySettings;
}

/** A rule for a tool that does not exist protects from nothing, and one that says two things at once says neither. */
export function checkPolicies(config: Config, adapters: Adapters): ConfigFault[] {
  const tools = adapters.tools.map(({ name }) => name).toSorted();
  return policiesOf(config).flatMap(({ path, policy }) => [
    ...policy.rules.flatMap((rule, index) => checkRule(rule, { path: [...path, "rules", index], tools })),
    ...Object.keys(policy.tools).flatMap((name) => unknownTool([...path, "tools", name], name, tools)),
    ...checkFallback({ path, policy }),
  ]);
}

function policiesOf({ policy, groups }: Config): Written[] {
  const ofGroups = Object.entries(groups).flatMap(([name, group]) =>
    group.policy ? [{ path: ["groups", name, "policy"], policy: group.policy }] : [],
  );
  return [{ path: ["policy"], policy }, ...ofGroups];
}

function checkRule(
  { tool = "*", action, quorum, approvers }: GroupPolicySettings["rules"][number],
  { path, tools }: { readonly path: readonly PropertyKey[]; readonly tools: readonly string[] },
): ConfigFault[] {
  const named = typeof tool === "string" ? [{ name: tool, at: [...path, "tool"] }] : namesIn(tool, path);
  const isAll = tool === "*";
  const unknown = isAll ? [] : named.flatMap(({ name, at }) => unknownTool(at, name, tools));
  const idle = Object.entries({ quorum, approvers }).filter(([, value]) => value !== undefined && action !== "ask");
  return [
    ...unknown,
    ...idle.map(([key]) => ({
      path: formatPath([...path, key]),
      detail: `is only for a rule with action: ask; this one has action: ${action}`,
    })),
  ];
}

function namesIn(
  names: readonly string[],
  path: readonly PropertyKey[],
): { readonly name: string; readonly at: readonly PropertyKey[] }[] {
  return names.map((name, index) => ({ name, at: [...path, "tool", index] }));
}

/** Which of the two would hold cannot be seen by looking at it. */
function checkFallback({ path, policy }: Written): ConfigFault[] {
  if (policy.default === undefined || policy.preset === undefined) return [];
  const detail = `with default: ${policy.default} beside it, preset: ${policy.preset} would decide nothing; keep one of them`;
  return [{ path: formatPath([...path, "preset"]), detail }];
}

/** A name that no tool has, and which one was meant. */
export function unknownTool(path: readonly PropertyKey[], name: string, tools: readonly string[]): ConfigFault[] {
  if (tools.includes(name)) return [];
  const near = usualName(name, tools) ?? nearest(name, tools);
  const hint = near === undefined ? `there are: ${tools.join(", ")}` : `did you mean ${near}?`;
  return [{ path: formatPath(path), detail: `unknown tool ${name}; ${hint}` }];
}

/** What other programs call tools like ours. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  shell: ["bash", "sh", "command", "exec", "execute", "run", "run_command"],
  read_file: ["read", "cat", "open_file"],
  write_file: ["write", "create_file"],
  edit_file: ["edit", "patch", "apply_patch", "str_replace"],
  list_files: ["ls", "list", "glob", "list_directory"],
  search_files: ["grep", "search", "find"],
};

function usualName(name: string, tools: readonly string[]): string | undefined {
  return tools.find((tool) => otherNames[tool]?.includes(name.toLowerCase()));
}
