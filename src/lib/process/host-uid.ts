/** Returns the id of the host's own user; 0 where the system has no such thing. */
export function hostUid(): number {
  return process.geteuid?.() ?? 0;
}
