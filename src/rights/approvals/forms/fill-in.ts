import type { FormField, FormValue } from "../../../domain/rights/form.ts";

const valueChars = 2_000;

/** An answer read as the form's values, or its fault, for the person who answered. */
export type FilledIn = { readonly content: Record<string, FormValue> } | { readonly fault: string };

/**
 * Parses an answer: `name=Ann size=small`, one per line or several; JSON; or, for a form with one field, the bare
 * value. Omitted fields take their defaults.
 */
export function fillIn(fields: readonly FormField[], said: string): FilledIn {
  const given = split(fields, said.trim());
  if ("fault" in given) return given;
  const content: Record<string, FormValue> = {};
  const faults: string[] = [];
  for (const field of fields) {
    const value = given.values.get(field.name);
    const read = value === undefined ? { value: field.default } : readValue(field, value);
    if ("fault" in read) faults.push(`${field.name} ${read.fault}`);
    else if (read.value !== undefined) content[field.name] = read.value;
    else if (field.required) faults.push(`${field.name} is missing`);
  }
  return faults.length > 0 ? { fault: faults.join("; ") } : { content };
}

type Given = { readonly values: ReadonlyMap<string, unknown> } | { readonly fault: string };

function split(fields: readonly FormField[], said: string): Given {
  if (said.startsWith("{")) return fromJson(fields, said);
  const marks = fields
    .flatMap(({ name }) => [...said.matchAll(new RegExp(String.raw`(?:^|[\s,;])(${RegExp.escape(name)})\s*[=:]`, "g"))])
    .toSorted((one, other) => one.index - other.index);
  const [first] = marks;
  if (!first) return alone(fields, said);
  if (said.slice(0, first.index).trim() !== "")
    return { fault: `"${said.slice(0, first.index).trim().slice(0, 40)}" belongs to no field` };
  const values = new Map<string, string>();
  for (const [index, mark] of marks.entries()) {
    const [whole, name = ""] = mark;
    if (values.has(name)) return { fault: `${name} is given twice` };
    const value = said.slice(mark.index + whole.length, marks[index + 1]?.index);
    values.set(name, value.trim().replace(/[;,]$/, "").trim());
  }
  return { values };
}

/** Without a name it is the one value that is wanted. */
function alone(fields: readonly FormField[], said: string): Given {
  if (said === "") return { values: new Map() };
  const wanted = fields.filter(({ required }) => required);
  const only = fields.length === 1 ? fields[0] : wanted.length === 1 ? wanted[0] : undefined;
  if (only) return { values: new Map([[only.name, said]]) };
  if (fields.length === 0) return { fault: "no value is wanted: yes or no" };
  return { fault: `write which value is which: ${fields.map(({ name }) => `${name}=…`).join(" ")}` };
}

function fromJson(fields: readonly FormField[], said: string): Given {
  let value: unknown;
  try {
    value = JSON.parse(said);
  } catch {
    return { fault: "this is not valid JSON" };
  }
  const entries = Object.entries(value as Record<string, unknown>);
  const unknown = entries.find(([name]) => !fields.some((field) => field.name === name));
  return unknown ? { fault: `there is no field ${unknown[0].slice(0, 64)}` } : { values: new Map(entries) };
}

type Read = { readonly value: FormValue | undefined } | { readonly fault: string };

const truths: Readonly<Record<string, boolean>> = {
  yes: true,
  true: true,
  y: true,
  on: true,
  no: false,
  false: false,
  n: false,
  off: false,
};

function readValue(field: FormField, value: unknown): Read {
  if (field.kind === "choices") return readChoices(field, value);
  if (!["string", "number", "boolean"].includes(typeof value)) return { fault: "is a single value" };
  const text = String(value).trim();
  if (text.length > valueChars) return { fault: `may have ${valueChars} characters` };
  return readers[field.kind](field, text);
}

const readers: Readonly<Record<Exclude<FormField["kind"], "choices">, (field: FormField, text: string) => Read>> = {
  boolean: (_field, text) => {
    const truth = Object.hasOwn(truths, text.toLowerCase()) ? truths[text.toLowerCase()] : undefined;
    return truth === undefined ? { fault: "is yes or no" } : { value: truth };
  },
  number: readNumber,
  integer: readNumber,
  choice: readChoice,
  text: readText,
};

function readNumber({ kind, least = -Infinity, most = Infinity }: FormField, text: string): Read {
  const number = text === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(number)) return { fault: "is a number" };
  if (kind === "integer" && !Number.isInteger(number)) return { fault: "is a whole number" };
  if (isBounded(least, most) && !/^[-+]?\d+(?:\.\d{1,2})?$/.test(text)) return { fault: "has at most two decimals" };
  if (number < least) return { fault: `is at least ${least}` };
  return number > most ? { fault: `is at most ${most}` } : { value: number };
}

function isBounded(least: number, most: number): boolean {
  return Number.isFinite(least) && Number.isFinite(most);
}

/** By its value, by what people see of it, or by its number in the list. */
function readChoice({ options = [] }: FormField, text: string): Read {
  const found =
    options.find(({ value }) => value === text) ??
    options.find(({ value, label }) => [value, label].some((word) => word.toLowerCase() === text.toLowerCase()));
  return found ? { value: found.value } : { fault: `is one of ${options.map(({ value }) => value).join(", ")}` };
}

function readChoices(field: FormField, value: unknown): Read {
  const words = Array.isArray(value) ? value.map(String) : String(value).split(",");
  const chosen: string[] = [];
  for (const word of words.map((one) => one.trim()).filter((one) => one !== "")) {
    const read = readChoice(field, word);
    if ("fault" in read) return read;
    if (!chosen.includes(String(read.value))) chosen.push(String(read.value));
  }
  const { least = 0, most = Infinity } = field;
  if (chosen.length < least) return { fault: `takes at least ${least}` };
  return chosen.length > most ? { fault: `takes at most ${most}` } : { value: chosen };
}

const formats: Readonly<
  Record<NonNullable<FormField["format"]>, { readonly fits: (text: string) => boolean; readonly is: string }>
> = {
  email: { fits: (text) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text), is: "is an e-mail address" },
  uri: { fits: (text) => URL.canParse(text), is: "is an address such as https://example.org" },
  date: {
    fits: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
    is: "is a date such as 2026-01-31",
  },
  "date-time": {
    fits: (text) =>
      /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)?$/.test(text) &&
      !Number.isNaN(Date.parse(text)),
    is: "is a time such as 2026-01-31T14:00:00Z",
  },
};

function readText({ least = 0, most = Infinity, format }: FormField, text: string): Read {
  if (text.length < least) return { fault: `has at least ${least} characters` };
  if (text.length > most) return { fault: `has at most ${most} characters` };
  if (format && !formats[format].fits(text)) return { fault: formats[format].is };
  return { value: text };
}
