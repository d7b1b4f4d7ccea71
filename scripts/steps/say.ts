/**
 * One line for the person who runs set-up. Never to stdout, which belongs to the program that is started afterwards.
 */
export function say(line: string): void {
  process.stderr.write(`crabpot setup: ${line}\n`);
}
