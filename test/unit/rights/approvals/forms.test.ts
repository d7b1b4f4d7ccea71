import * as fc from "fast-check";
import { expect, test } from "vitest";

import { fillIn } from "../../../../src/rights/approvals/forms/fill-in.ts";
import { readForm } from "../../../../src/rights/approvals/forms/form-fields.ts";
import type { FormField } from "../../../../src/domain/rights/form.ts";

function fieldsOf(properties: object, required: readonly string[] = []): readonly FormField[] {
  const read = readForm({ type: "object", properties, required }, "Hi");
  if (typeof read === "string") throw new Error(read);
  return read.fields;
}

const trip = fieldsOf(
  {
    name: { type: "string", minLength: 2, maxLength: 20 },
    mail: { type: "string", format: "email" },
    day: { type: "string", format: "date" },
    seats: { type: "integer", minimum: 1, maximum: 8 },
    share: { type: "number" },
    window: { type: "boolean", default: false },
    size: {
      type: "string",
      oneOf: [
        { const: "s", title: "Small" },
        { const: "l", title: "Large" },
      ],
    },
    extras: { type: "array", items: { type: "string", enum: ["tea", "cake", "milk"] }, minItems: 1, maxItems: 2 },
  },
  ["name"],
);

test.each<[string, object]>([
  ["name=Ann Lee seats=2", { name: "Ann Lee", seats: 2, window: false }],
  ["name: Ann, size: Large; extras: tea, Cake", { name: "Ann", size: "l", extras: ["tea", "cake"], window: false }],
  ["name=Ann\nday=2026-02-28\nwindow=yes", { name: "Ann", day: "2026-02-28", window: true }],
  ['{"name":"Ann","share":0.5,"extras":["milk"]}', { name: "Ann", share: 0.5, extras: ["milk"], window: false }],
  ["Ann", { name: "Ann", window: false }],
])("%j is read as values", (said, content) => {
  expect(fillIn(trip, said)).toEqual({ content });
});

test.each([
  ["seats=2", "name is missing"],
  ["name=A", "name has at least 2 characters"],
  ["name=Ann seats=2.5", "seats is a whole number"],
  ["name=Ann seats=9", "seats is at most 8"],
  ["name=Ann mail=ann", "mail is an e-mail address"],
  ["name=Ann day=tomorrow", "day is a date such as 2026-01-31"],
  ["name=Ann window=maybe", "window is yes or no"],
  ["name=Ann size=XL", "size is one of s, l"],
  ["name=Ann extras=tea,cake,milk", "extras takes at most 2"],
  ["hello name=Ann", '"hello" belongs to no field'],
  ["name=Ann name=Bob", "name is given twice"],
  ['{"name":"Ann","admin":true}', "there is no field admin"],
  ["{name}", "this is not valid JSON"],
])("%j does not fit: %s", (said, fault) => {
  expect(fillIn(trip, said)).toEqual({ fault });
});

test.each<[string, unknown]>([
  ["a nested object", { type: "object", properties: { at: { type: "object", properties: {} } } }],
  ["a name that could pass for something else", { type: "object", properties: { "a b=": { type: "string" } } }],
  ["no object", { type: "string" }],
  [
    "too many fields",
    {
      type: "object",
      properties: Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`f${index}`, { type: "boolean" }])),
    },
  ],
  ["a password", { type: "object", properties: { x: { type: "string", description: "the PASSWORD of your bank" } } }],
])("%s is not asked", (_what, schema) => {
  expect(typeof readForm(schema, "Hi")).toBe("string");
});

test("whatever is said to whatever form, it is values of that form or a fault", () => {
  const field = fc.oneof(
    fc.constant({ type: "string" }),
    fc.record({ type: fc.constant("integer"), minimum: fc.integer({ max: 5 }), maximum: fc.integer({ min: 6 }) }),
    fc.constant({ type: "boolean" }),
    fc.record({
      type: fc.constant("string"),
      enum: fc.array(fc.string({ minLength: 1, maxLength: 9 }), { minLength: 1, maxLength: 4 }),
    }),
  );
  const said = fc.oneof(
    fc.string(),
    fc.constantFrom("a=1", "a=yes b=2", "{}", '{"a":[]}', "null", "{", "a="),
    fc.json(),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom("a", "b", "toString", "data"), field), said, (properties, words) => {
      const fields = fieldsOf(properties);
      const filled = fillIn(fields, words);
      if ("fault" in filled) return filled.fault !== "";
      return Object.entries(filled.content).every(([name, value]) => {
        const one = fields.find((known) => known.name === name);
        if (one?.kind === "integer")
          return Number.isInteger(value) && Number(value) >= (one.least ?? 0) && Number(value) <= (one.most ?? 0);
        if (one?.kind === "choice") return one.options?.some((option) => option.value === value);
        return typeof value === (one?.kind === "boolean" ? "boolean" : "string");
      });
    }),
  );
});
