/** What somebody is in a group, the least first. */
export const roles = ["guest", "member", "admin", "owner"] as const;

export type Role = (typeof roles)[number];

/** May who has this role do what needs that one? */
export function isAtLeast(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}
