import * as fc from "fast-check";
import { expect, test } from "vitest";

import { fillIn } from "../../../../src/rights/approvals/forms/fill-in.ts";
import { readForm } from "../../../../src/rights/approvals/forms/form-fields.ts";
import type { FormField } from "../../../../src/domain/rights/form.ts";

function fieldsOf(properties: object, required: readonly string[] = []): readonly FormField[] {
  const read = readForm({ type: "object", properties, required }, { message: "Hi", mayAskText: true });
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
  expect(typeof readForm(schema, { message: "Hi", mayAskText: true })).toBe("string");
});

const size = { type: "string", enum: ["small", "large"] };
const choicesOnly = (properties: object, message = "Please choose") =>
  readForm({ type: "object", properties }, { message, mayAskText: false });

test.each<[string, object]>([
  ["a choice", { size }],
  ["several choices", { extras: { type: "array", items: { type: "string", enum: ["tea", "cake", "milk"] } } }],
  ["yes or no", { window: { type: "boolean" } }],
  ["a date", { day: { type: "string", format: "date" } }],
  ["a time", { at: { type: "string", format: "date-time" } }],
  ["a small number", { seats: { type: "integer", minimum: 1, maximum: 8 } }],
  [
    "some of them",
    { size, seats: { type: "integer", minimum: 1, maximum: 40 }, day: { type: "string", format: "date" } },
  ],
  ["nothing but an agreement", {}],
])("%s is asked without the operator's leave", (_what, properties) => {
  expect(typeof choicesOnly(properties)).toBe("object");
});

const digit = { type: "integer", minimum: 0, maximum: 9 };
const digits = { type: "string", enum: Array.from({ length: 10 }, (_, value) => String(value)) };

test.each<[string, object]>([
  ["a text", { x: { type: "string" } }],
  ["a text of one letter", { x: { type: "string", maxLength: 1 } }],
  ["an e-mail address", { x: { type: "string", format: "email" } }],
  ["an address", { x: { type: "string", format: "uri" } }],
  ["a number without bounds", { x: { type: "integer" } }],
  ["a number with one bound", { x: { type: "integer", minimum: 0 } }],
  ["a number of six digits", { x: { type: "integer", minimum: 0, maximum: 999_999 } }],
  ["a number of four digits", { x: { type: "integer", minimum: 1_000, maximum: 9_999 } }],
  ["a number with decimals", { x: { type: "number", minimum: 0, maximum: 99 } }],
  ["digits one by one", { a: digit, b: digit, c: digit, d: digit, e: digit, f: digit }],
  ["digits as choices", { a: digits, b: digits, c: digits, d: digits, e: digits }],
  [
    "digits as names of choices",
    Object.fromEntries(
      ["a", "b", "c", "d", "e"].map((name) => [
        name,
        {
          type: "string",
          oneOf: Array.from({ length: 10 }, (_, value) => ({ const: `value ${value}`, title: String(value) })),
        },
      ]),
    ),
  ],
  ["letters to pick from", { x: { type: "array", items: { type: "string", enum: Array.from("abcdefghijklmnop") } } }],
])("%s is not asked without the operator's leave", (_what, properties) => {
  expect(choicesOnly(properties)).toMatch(/^[a-z]/);
});

test.each([
  "Password",
  "your pass phrase",
  "p a s s w o r d",
  "p.a.s.s.w.o.r.d",
  "P4ssw0rd",
  "p@$$word",
  "pаsswоrd",
  "ｐａｓｓｗｏｒｄ",
  "pass\u200bword",
  "kеy",
  "API key",
  "apiKey",
  "user_token",
  "PIN",
  "One-time code",
  "the code we sent to your phone",
  "The six digits on your phone",
  "the 6-digit number",
  "the twelve words of your wallet",
  "recovery phrase",
  "seed words",
  "card number",
  "CVV",
  "IBAN",
  "mother's maiden name",
  "Kennwort",
  "Ihr Passwort",
  "Geheimzahl",
  "TAN",
  "Bestätigungscode",
  "mot de passe",
  "code de vérification",
  "contraseña",
  "CONTRASEN\u0303A",
  "número de tarjeta",
  "senha",
  "parola chiave",
  "wachtwoord",
  "lösenord",
  "hasło",
  "пароль",
  "код из СМС",
  "κωδικός",
  "şifre",
  "سيدي، كلمة المرور",
  "סיסמה",
  "密码",
  "验证码",
  "パスワード",
  "暗証番号",
  "비밀번호",
  "पासवर्ड",
  "รหัสผ่าน",
  "mật khẩu",
])("%j is asked for in no part of a form, whatever the operator allows", (words) => {
  const forms: readonly (readonly [object, string])[] = [
    [{ size }, words],
    [{ x: { ...size, title: words } }, "Hi"],
    [{ x: { ...size, description: `Please: ${words}!` } }, "Hi"],
    [{ x: { type: "string", enum: ["a", "b"], enumNames: ["one", words] } }, "Hi"],
    [{ x: { type: "string", oneOf: [{ const: "a", title: words }] } }, "Hi"],
    [{ x: { type: "integer", minimum: 1, maximum: 9, title: words } }, "Hi"],
  ];
  for (const mayAskText of [true, false])
    for (const [properties, message] of forms)
      expect(typeof readForm({ type: "object", properties }, { message, mayAskText })).toBe("string");
});

test.each([
  "For whom is the table?",
  "How many seats in the passenger's compartment?",
  "Which secretary is responsible?",
  "Shopping list or spinach?",
  "Keyboard layout",
  "Welche Größe? Tantieme ja/nein",
  "Quelle taille ?",
  "何名様ですか",
  "Сколько мест?",
])("%j is an everyday question", (words) => {
  expect(typeof choicesOnly({ size }, words)).toBe("object");
});

test.each(["2026-01-31T14:00:00Z (hunter2)", "2026-01-31T14:00 hunter2"])("%j is no time", (said) => {
  const read = choicesOnly({ at: { type: "string", format: "date-time" } });
  expect(typeof read === "string" ? read : fillIn(read.fields, said)).toMatchObject({ fault: expect.any(String) });
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
