import type { ContainedServer } from "./server-streams.ts";

/** Owner of a container. A plugin and an MCP server of one name are two. */
export interface ServerOwner {
  readonly kind: "mcp" | "plugin";
  readonly server: string;
  readonly group: string | undefined;
}

/** Names the owner of a server's container, apart from groups, whose names have no @. */
export function serverOwner({ kind, server, group }: ServerOwner): string {
  return `${kind}@${server}@${group ?? ""}`;
}

/** Returns the server of this owner and its group; undefined for a group. */
export function serverOf(owner: string): ServerOwner | undefined {
  const [kind, server = "", group = ""] = owner.split("@");
  if (!owner.includes("@") || (kind !== "mcp" && kind !== "plugin")) return undefined;
  return { kind, server, group: group === "" ? undefined : group };
}

export function ownerOf(
  { kind, name }: Pick<ContainedServer, "kind" | "name">,
  group: string | undefined,
): ServerOwner {
  return { kind: kind === "plugin" ? "plugin" : "mcp", server: name, group };
}

/** The field by which events name it. */
export function namedInEvents({ kind, server }: ServerOwner): { readonly server?: string; readonly plugin?: string } {
  return kind === "plugin" ? { plugin: server } : { server };
}
