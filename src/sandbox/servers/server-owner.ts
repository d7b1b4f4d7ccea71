/** Names the owner of a server's container, apart from groups, whose names have no @. */
export function serverOwner(server: string, group: string | undefined): string {
  return `mcp@${server}@${group ?? ""}`;
}

/** Returns the server of this owner and its group; undefined for a group. */
export function serverOf(owner: string): { readonly server: string; readonly group: string | undefined } | undefined {
  const [kind, server = "", group = ""] = owner.split("@");
  return kind === "mcp" && owner.includes("@") ? { server, group: group === "" ? undefined : group } : undefined;
}
