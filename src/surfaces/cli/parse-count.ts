import { InvalidArgumentError } from "commander";

/** For options that count something: 0 or more. */
export function parseCount(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}
