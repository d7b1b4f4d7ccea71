/**
 * A command line of ours as whoever reads it can type it: `ownCommand("turns list")`. `scripts/crabpot` says in
 * CRABPOT_COMMAND how it is called from where it was started. Not for members of a group: it may be a path of this
 * machine.
 */
export function ownCommand(words: string): string {
  return `${process.env["CRABPOT_COMMAND"] || "crabpot"} ${words}`;
}
