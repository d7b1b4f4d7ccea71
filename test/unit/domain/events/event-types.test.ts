import { readdir, readFile } from "node:fs/promises";
import { resolve } from "node:path";

import { expect, test } from "vitest";

import { auditedAs } from "../../../../src/records/audit/event-records.ts";
import type { EventType } from "../../../../src/domain/events/event.ts";
import { eventTypes, matchTypes } from "../../../../src/domain/events/event-types.ts";

const checkout = resolve(import.meta.dirname, "../../../..");

/** The fields that the rest of a line declares: those of a named type, and its own. */
function fieldsSaid(said: string, shared: ReadonlyMap<string, readonly string[]>): string[] {
  const [, common = "", rest = ""] = /^(\w*)(?:;| & |(?=\{))(.*)$/.exec(said) ?? [];
  const own = [...rest.matchAll(/(?:^\{|;) readonly (\w+)\??:/g)].map(([, field = ""]) => field);
  return [...(shared.get(common) ?? []), ...own];
}

/** The fields that each type's data may have, as the source declares them: directly, or by the name of a type. */
function fieldsOf(source: string): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  const shared = new Map<string, string[]>();
  let current: string[] = [];
  for (const line of source.split("\n")) {
    const [, name] = /^type (\w+) = \{$/.exec(line) ?? [];
    const [, type, said = ""] = /^ {2}"([a-z.-]+)": (.*)$/.exec(line) ?? [];
    if (name !== undefined) shared.set(name, (current = []));
    if (type !== undefined) fields.set(type, (current = fieldsSaid(said, shared)));
    const [, field] = /^ {2}(?: {2})?readonly (\w+)\??:/.exec(line) ?? [];
    if (field !== undefined) current.push(field);
  }
  return fields;
}

function recordOf(type: EventType): string {
  const audited = auditedAs(type) as string | undefined | ((event: unknown) => { readonly type: string });
  const record = typeof audited === "function" ? audited({ data: { omitted: 1 } }).type : audited;
  return record === undefined ? "" : `\`${record}\``;
}

test("docs/events.md has each type with its meaning, its data and its record, and no other", async () => {
  const folder = resolve(checkout, "src/domain/events/data");
  const files = (await readdir(folder)).map((name) => readFile(resolve(folder, name), "utf8"));
  const fields = fieldsOf((await Promise.all(files)).join("\n"));
  const documented = (await readFile(resolve(checkout, "docs/events.md"), "utf8"))
    .split("\n")
    .filter((line) => /^\| `[a-z-]+\.[a-z-]+` /.test(line))
    .map((line) =>
      line
        .split("|")
        .map((cell) => cell.trim())
        .slice(1, -1),
    );

  const expected = Object.entries(eventTypes).map(([type, meaning]) => {
    const data = fields
      .get(type)
      ?.map((name) => `\`${name}\``)
      .join(", ");
    return [`\`${type}\``, meaning, data, recordOf(type as EventType)];
  });
  expect(documented).toEqual(expected);
});

test("a type or a prefix is found, and what is close to one is suggested", () => {
  expect(matchTypes("turn.*")).toEqual(["turn.started", "turn.ended"]);
  expect(matchTypes("container-output.*")).toHaveLength(2);
  expect(matchTypes("container.*")).not.toContain("container-output.closed");
  expect(matchTypes("tool.called")).toEqual(["tool.called"]);
  for (const [wrong, right] of [
    ["tool.call", "tool.called"],
    ["Turn.started", "turn.started"],
    ["tun.*", "turn.*"],
  ]) {
    expect(() => matchTypes(wrong ?? "")).toThrow(
      expect.objectContaining({ code: "bad_input", fix: `did you mean "${right}"?` }),
    );
  }
  expect(() => matchTypes("*")).toThrow('There is no event type "*".');
});
