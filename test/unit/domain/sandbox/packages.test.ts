import { array, assert, constantFrom, oneof, property, string, tuple } from "fast-check";
import { expect, test } from "vitest";

import { addPackages, packageFault, packageManagers, sortPackages } from "../../../../src/domain/sandbox/packages.ts";

const good = {
  apt: ["jq", "g++", "libstdc++6", "pandoc=2.17.1.1-2~deb12u1", "python3.11-venv", "0ad"],
  pip: ["numpy", "numpy==2.3.4", "requests[socks]==2.32.5", "ruamel.yaml", "Flask_SQLAlchemy", "x[a,b-c]"],
  npm: ["prettier", "prettier@3.6.2", "@types/node", "@scope/name@latest", "lodash.merge", "left-pad@1.3.0-beta.1+x"],
} as const;

const bad = {
  apt: [
    "",
    "-y",
    "bash-",
    "jq;id",
    "a b",
    "$(id)",
    "jq/sid",
    "jq*",
    "task^",
    "JQ",
    "jq=",
    "jq=1;x",
    "../x",
    "x.deb",
    "a\nb",
  ],
  pip: ["", "-r", "--pre", "x>=1", "x==1;y", "git+https://x", "./x", "/x", "x @ y", "x.whl", "x[", "x==", "x[a]==1 2"],
  npm: [
    "",
    "-g",
    "../x",
    "a/b",
    "@a",
    "x@",
    "x@npm:y",
    "x@file:y",
    "git://x",
    "X",
    "x.tgz",
    "x@y.tgz",
    "x y",
    ".x",
    "$x",
    "x`",
  ],
} as const;

test("names with and without a version can be asked for; options, addresses, paths, patterns and words of a shell cannot", () => {
  for (const manager of packageManagers) {
    for (const text of good[manager]) expect([text, packageFault(manager, text)]).toEqual([text, undefined]);
    for (const text of bad[manager]) expect([text, packageFault(manager, text)]).not.toEqual([text, undefined]);
  }
});

const manager = constantFrom(...packageManagers);
const anything = oneof(string(), string({ unit: "grapheme" }), constantFrom(...good.apt, ...good.pip, ...good.npm));
const special = constantFrom(...Array.from(";|&$`'\"<>(){}*?\\ \t\n\r\0:#%^~/,@=-."));
const texts = oneof(
  anything,
  tuple(anything, special, anything).map((all) => all.join("")),
);

const isHarmless = (text: string): boolean =>
  /^[@A-Za-z0-9][A-Za-z0-9@/.,=:~![\]_+-]*$/.test(text) && (!text.includes("/") || /^@[a-z0-9]/.test(text));

test("whatever is let through is one word to a shell, and no option, address or path to the program that gets it", () => {
  assert(property(manager, texts, (where, text) => packageFault(where, text) !== undefined || isHarmless(text)));
});

test("the order in which names were written, and how often, does not matter", () => {
  const lists = array(constantFrom(...good.npm));
  assert(
    property(lists, lists, (some, others) => {
      expect(sortPackages({ npm: [...some, ...others] })).toEqual(sortPackages({ npm: [...others, ...some, ...some] }));
    }),
  );
});

test("another version of a package takes the place of the one before", () => {
  const now = sortPackages({ apt: ["jq"], pip: ["Ruamel.yaml==1", "numpy"], npm: ["@a/b@1", "prettier@3"] });
  const then = addPackages(now, sortPackages({ apt: ["jq=1.6"], pip: ["ruamel-yaml==2"], npm: ["@a/b", "left-pad"] }));

  expect(then).toEqual({ apt: ["jq=1.6"], pip: ["numpy", "ruamel-yaml==2"], npm: ["@a/b", "left-pad", "prettier@3"] });
});
