import { serverToolSeparator } from "../../domain/sandbox/mcp-server.ts";
import { hintFor, nearest } from "../../lib/text/nearest.ts";
import type { Adapters } from "../adapters.ts";
import type { ConfigFault } from "../faults.ts";
import { formatPath } from "../faults.ts";
import type { Config } from "../schema/config.ts";
import type { GroupPolicySettings } from "../schema/policy.ts";

/** Tools that groups have besides those of the host, where they have MCP servers. */
const toolsOfSources = ["call_tool", "find_tools", "mcp_prompt", "mcp_read"];

interface Written {
  readonly path: readonly PropertyKey[];
  readonly policy: GroupPolicySettings;
}

/** A rule for a tool that does not exist protects from nothing, and one that says two things at once says neither. */
export function checkPolicies(config: Config, adapters: Adapters): ConfigFault[] {
  const tools = knownTools(config, adapters);
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

/** Tool names for rules: the host's, `find_tools` and the like, and `files__*` for each server. */
export function knownTools({ mcp }: Pick<Config, "mcp">, { tools }: Pick<Adapters, "tools">): readonly string[] {
  const ofHost = tools.map(({ name }) => name);
  return [...ofHost, ...toolsOfSources, ...Object.keys(mcp.servers).map(ofServer)].toSorted();
}

function ofServer(server: string): string {
  return `${server}${serverToolSeparator}*`;
}

/**
 * A name that no tool has, and which one was meant. Which tools a server has is known when it runs: of theirs, the
 * server has to be configured.
 */
export function unknownTool(path: readonly PropertyKey[], name: string, tools: readonly string[]): ConfigFault[] {
  if (tools.includes(name)) return [];
  const [server = "", ...rest] = name.split(serverToolSeparator);
  if (rest.length > 0) return unknownServer(path, { name, server, tool: rest.join(serverToolSeparator) }, tools);
  const usual = usualName(name, tools);
  const hint = usual === undefined ? hintFor(name, tools) : `did you mean ${usual}?`;
  return [{ path: formatPath(path), detail: `unknown tool ${name}; ${hint}` }];
}

function unknownServer(
  path: readonly PropertyKey[],
  { name, server, tool }: { readonly name: string; readonly server: string; readonly tool: string },
  tools: readonly string[],
): ConfigFault[] {
  const servers = tools.filter((one) => one.endsWith(ofServer(""))).map((one) => one.slice(0, -ofServer("").length));
  if (servers.includes(server))
    return /^[a-zA-Z0-9_-]+$/.test(tool)
      ? []
      : [
          {
            path: formatPath(path),
            detail: `${name} names no tool of the server ${server}; all are ${ofServer(server)}`,
          },
        ];
  const near = nearest(server, servers);
  if (near === undefined && ofSkill.test(name)) return [];
  const known = servers.length === 0 ? "there is none" : `there are: ${servers.join(", ")}`;
  const hint = near === undefined ? known : `did you mean ${near}${serverToolSeparator}${tool}?`;
  return [{ path: formatPath(path), detail: `unknown tool ${name}: no MCP server is called ${server}; ${hint}` }];
}

/** `<skill>__<tool>`: which there are is known only by the host that has the skills. */
const ofSkill = /^[a-z0-9][a-z0-9-]*__[\w-]+$/;

/** Names of other programs for tools like ours. */
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
