/** Roles, from the least rights to the most. */
export const roles = ["guest", "member", "admin", "owner"] as const;

export type Role = (typeof roles)[number];

/** Does this role have all that the needed one has? */
export function isAtLeast(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}
