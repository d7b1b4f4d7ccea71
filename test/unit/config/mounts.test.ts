import { expect, test } from "vitest";

import { builtInAdapters } from "../../../src/config/adapters.ts";
import { checkConfigText, describeFault, describeWarning } from "../../../src/config/loading/load.ts";
import { reviewSettingsOf } from "../../../src/config/resolve/group-values.ts";

/** A configuration with one mount. */
function withMount(mount: string) {
  const group = `{ channel: terminal, chat: main, mounts: [{ source: /srv/app, target: app, ${mount} }] }`;
  return checkConfigText(`groups: { main: ${group} }`, {}, builtInAdapters);
}

/** Warnings, or faults. */
function said(mount: string): string[] {
  const check = withMount(mount);
  return check.ok ? check.loaded.warnings.map(describeWarning) : check.faults.map(describeFault);
}

test("a folder in which nothing is protected is warned of, if it is written at once", () => {
  expect(said("access: rw, protect: none").join()).toContain(
    "groups.main.mounts[0].protect: nothing in app is protected: the agent can change what you run there",
  );
  for (const mount of ["access: rw", "access: rw, protect: strict", "access: rw, protect: [a]", "protect: none"])
    expect(said(mount)).toEqual([]);
  expect(said("access: rw, protect: all").join()).toMatch(/^groups\.main\.mounts\[0\]\.protect/);
});

test.each([
  ["access: rw, protect: strict", true],
  ["access: review, protect: strict", false],
  ["access: rw", false],
])("%s: changes of ordinary files need nobody: %s", (mount, isOrdinaryApplied) => {
  const check = withMount(mount);
  if (!check.ok) throw new Error("not valid");
  expect(reviewSettingsOf(check.loaded.config, "main", "app")).toEqual({
    apply: "admin",
    quorum: 1,
    expiresMinutes: 7 * 24 * 60,
    isOrdinaryApplied,
  });
});
