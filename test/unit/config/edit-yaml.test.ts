import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";

import { parsePath } from "../../../src/config/editing/setting-path.ts";
import { editYaml } from "../../../src/config/editing/edit-yaml.ts";
import { formatPath } from "../../../src/config/faults.ts";
import type { SettingEdit } from "../../../src/domain/settings/setting.ts";

type Section = { [key: string]: number | Section };

const key = fc.constantFrom("a", "b", "c", "d");
const leaf = fc.integer({ min: 0, max: 9 });
const section = fc.letrec<{ section: Section }>((tie) => ({
  section: fc.dictionary(key, fc.oneof({ weight: 2, arbitrary: leaf }, tie("section")), { maxKeys: 4 }),
})).section;
const value = fc.oneof(
  leaf,
  fc.constantFrom("text", "yes", "1.5", "${KEY}", "a: b", "# no comment", "", " x\ny "),
  fc.constant([1, "two", { three: 3 }]),
  fc.record({ x: leaf, y: fc.constantFrom("${X}", "[z]") }),
);
const edits = fc.array(
  fc.record({ path: fc.array(key, { minLength: 1, maxLength: 3 }), value: fc.option(value, { nil: undefined }) }),
  { maxLength: 12 },
);

/** A section as an operator writes it: something is said above and beside each key, and below the last one. */
function write(of: Section, path: readonly string[] = []): string {
  const indent = "  ".repeat(path.length);
  const lines = Object.entries(of).map(([name, item]) => {
    const at = [...path, name].join("-");
    const isEmpty = typeof item === "object" && Object.keys(item).length === 0;
    const inner = typeof item === "number" || isEmpty ? ` ${JSON.stringify(item)} # beside ${at}.` : ` # beside ${at}.`;
    const below = typeof item === "number" || isEmpty ? "" : write(item, [...path, name]);
    return `${indent}# above ${at}.\n${indent}${name}:${inner}\n${below}`;
  });
  return lines.join("");
}

/** Everything that `write` says about keys that are still there and that no edit was about. */
function commentsOf(of: Section, touched: readonly string[], path: readonly string[] = []): string[] {
  return Object.entries(of).flatMap(([name, item]) => {
    const at = [...path, name].join("-");
    if (touched.some((one) => one === at || one.startsWith(`${at}-`)))
      return typeof item === "object" ? commentsOf(item, touched, [...path, name]) : [];
    if (touched.some((one) => at.startsWith(`${one}-`))) return [];
    return [
      `# above ${at}.`,
      `# beside ${at}.`,
      ...(typeof item === "object" ? commentsOf(item, touched, [...path, name]) : []),
    ];
  });
}

/** Edits applied to plain values; undefined when impossible. */
function model(of: unknown, { path, value: next }: SettingEdit): unknown {
  const copy = structuredClone(of) as Record<string, unknown>;
  let at: Record<string, unknown> = copy;
  for (const name of path.slice(0, -1)) {
    const below = at[name] ?? (next === undefined ? undefined : (at[name] = {}));
    if (typeof below !== "object" || Array.isArray(below)) return undefined;
    at = below as Record<string, unknown>;
  }
  const last = String(path.at(-1));
  if (next === undefined && !Object.hasOwn(at, last)) return undefined;
  if (next === undefined) delete at[last];
  else at[last] = next;
  return copy;
}

/** Reason for a refused edit; empty when accepted. */
function refusalOf(text: string, edit: SettingEdit): string {
  try {
    editYaml(text, edit);
    return "";
  } catch (error) {
    return String(error);
  }
}

test("any sequence of edits gives the expected values, in order, and keeps what is said about every other setting", () => {
  fc.assert(
    fc.property(section, edits, (of, made) => {
      const refusals: string[] = [];
      let [text, expected, touched] = [`# at the top\n\n${write(of)}# at the end\n`, of as unknown, [] as string[]];
      for (const edit of made) {
        const next = model(expected, edit);
        if (next === undefined) {
          refusals.push(refusalOf(text, edit));
          continue;
        }
        text = editYaml(text, edit);
        expected = next;
        touched = [...touched, edit.path.join("-")];
      }
      for (const why of refusals) expect(why).toMatch(/nothing to remove|has no keys|is a list/);
      expect(parse(text) ?? {}).toEqual(expected);
      expect(Object.keys((parse(text) ?? {}) as object)).toEqual(Object.keys(expected as object));
      for (const said of ["# at the top", "# at the end", ...commentsOf(of, touched)]) expect(text).toContain(said);
    }),
    { numRuns: 400 },
  );
});

test.each(["", "short", "two\nlines"])("a text of several lines makes way for %j", (shorter) => {
  const text = "b: |2- # beside b.\n   x\n  y\n\n# at the end\n";

  const next = editYaml(text, { path: ["b"], value: shorter });

  expect(parse(next)).toEqual({ b: shorter });
  expect(next).toContain("# beside b.");
  expect(next).toContain("# at the end");
});

test("what is said at the top stays at the top when the keys below it are removed one by one", () => {
  const removals: SettingEdit[] = [
    { path: ["a"], value: 0 },
    { path: ["b"], value: undefined },
    { path: ["a"], value: undefined },
  ];

  const text = removals.reduce((before, edit) => editYaml(before, edit), "# at the top\n\n# above b.\nb: {}\n");

  expect(text).toBe("# at the top\n\n{}\n");
});

test("a path is read as it is written", () => {
  const step = fc.oneof(key, fc.string(), fc.nat(9_999));
  fc.assert(
    fc.property(fc.tuple(fc.oneof(key, fc.string()), fc.array(step)), ([first, more]) => {
      fc.pre(![first, ...more].includes("__proto__"));
      expect(parsePath(formatPath([first, ...more]))).toEqual([first, ...more]);
    }),
  );
  for (const wrong of ["", ".", "a.", ".a", "a..b", "a b", "[0]", "a[", "a[x]", 'a["x', "__proto__.x"])
    expect(() => parsePath(wrong)).toThrow("is not the path of a setting");
});

test("one setting is changed in a file as people write it", () => {
  const text = `# ours
groups: # all of them
  main: { channel: terminal, chat: main, main: true } # mine
  # the children
  family: 
    channel: 'http' # by the app
    chat: "room"

    budget: { usdPerDay: 1.50 }
# the end
`;

  const next = editYaml(editYaml(text, { path: ["groups", "family", "budget", "usdPerDay"], value: 2 }), {
    path: ["groups", "main", "model"],
    value: "${ROUTE}",
  });

  expect(next).toBe(`# ours
groups:
  # all of them
  main: { channel: terminal, chat: main, main: true, model: "\${ROUTE}" } # mine
  # the children
  family:
    channel: 'http' # by the app
    chat: "room"

    budget: { usdPerDay: 2 }

# the end
`);
});

test("what an anchor gives to other places is not changed behind their back", () => {
  const text = "a: &x { n: 1 }\nb: *x\nc: 1\n";

  expect(() => editYaml(text, { path: ["a", "n"], value: 2 })).toThrow("uses an anchor or an alias");
  expect(() => editYaml(text, { path: ["b", "n"], value: 2 })).toThrow("uses an anchor or an alias");
  expect(() => editYaml(text, { path: ["a"], value: undefined })).toThrow("uses an anchor or an alias");
  expect(parse(editYaml(text, { path: ["c"], value: 2 }))).toEqual({ a: { n: 1 }, b: { n: 1 }, c: 2 });
  expect(() => editYaml("a: [", { path: ["a"], value: 1 })).toThrow("not valid YAML");
});
