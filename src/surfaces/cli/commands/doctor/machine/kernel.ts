import { platform, release } from "node:os";

import { type CheckResult, good, warning } from "../check.ts";

interface Hole {
  readonly name: string;
  /** The first release with it, and the first one without, on each branch. */
  readonly releases: readonly (readonly [from: string, fixed: string])[];
}

/**
 * Holes by which a process changes files that it may only read, such as those of an image that containers share. The
 * releases are those of the kernel's own security team in the OSV database (osv.dev, ecosystem Linux).
 */
const holes: readonly Hole[] = [
  {
    name: "CVE-2026-31431",
    releases: [
      ["4.14", "5.10.254"],
      ["5.11", "5.15.204"],
      ["5.16", "6.1.170"],
      ["6.2", "6.6.137"],
      ["6.7", "6.12.85"],
      ["6.13", "6.18.22"],
      ["6.19", "6.19.12"],
    ],
  },
  {
    name: "CVE-2026-43284",
    releases: [
      ["4.11", "5.10.255"],
      ["5.11", "5.15.205"],
      ["5.16", "6.1.171"],
      ["6.2", "6.6.138"],
      ["6.7", "6.12.87"],
      ["6.13", "6.18.28"],
      ["6.19", "7.0.5"],
    ],
  },
  {
    name: "CVE-2026-43500",
    releases: [
      ["5.3", "6.6.140"],
      ["6.7", "6.12.88"],
      ["6.13", "6.18.29"],
      ["6.19", "7.0.6"],
    ],
  },
  {
    name: "CVE-2026-46300",
    releases: [
      ["3.9", "5.10.257"],
      ["5.11", "5.15.208"],
      ["5.16", "6.1.174"],
      ["6.2", "6.6.141"],
      ["6.7", "6.12.91"],
      ["6.13", "6.18.33"],
      ["6.19", "7.0.10"],
    ],
  },
];

/** Whether the kernel that containers share with the host has known holes towards its files. */
export function checkKernel(system = { platform: platform(), release: release() }): Promise<CheckResult> {
  return Promise.resolve(resultFor(system));
}

function resultFor(system: { readonly platform: string; readonly release: string }): CheckResult {
  const { platform: name, release: own } = system;
  if (name !== "linux") return good("kernel", "Containers have the kernel of the engine's own machine.");
  const found = holes.filter(({ releases }) => releases.some(([from, fixed]) => isWithin(own, from, fixed)));
  if (found.length === 0) return good("kernel", `Linux ${own}`);
  const names = found.map(({ name: hole }) => hole).join(", ");
  return warning(
    "kernel",
    `Linux ${own} is older than the fix of ${names}, unless the distribution has put it in. ` +
      "Containers cannot make the system calls that the known attacks begin with (splice, vmsplice, tee).",
    "update the kernel by the distribution's means, and restart the machine",
  );
}

function isWithin(own: string, from: string, fixed: string): boolean {
  return compare(own, from) >= 0 && compare(own, fixed) < 0;
}

/** By the three numbers that a release begins with. */
function compare(one: string, other: string): number {
  const [left, right] = [numbersOf(one), numbersOf(other)];
  const place = left.findIndex((number, index) => number !== right[index]);
  return place === -1 ? 0 : (left[place] ?? 0) - (right[place] ?? 0);
}

function numbersOf(version: string): readonly number[] {
  const [, ...numbers] = /^(\d+)\.(\d+)(?:\.(\d+))?/.exec(version) ?? [];
  return [0, 1, 2].map((place) => Number(numbers[place] ?? 0));
}
