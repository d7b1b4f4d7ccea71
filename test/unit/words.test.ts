import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";

import { readWords } from "../support/source-words.ts";

const checkout = resolve(import.meta.dirname, "../..");

const folders = ["src", "container", "redteam", "bench", "scripts", "test"];
const pageFolders = ["docs", "prompts", "skills", "groups", "agents"];

/** Words of docs/glossary.md with the only places whose exported names may hold them. */
const homes: readonly { readonly word: RegExp; readonly home: RegExp; readonly instead: string }[] = [
  {
    word: /door/i,
    home: /^src\/sandbox\/mailbox\//,
    instead: "egress for the way out, entrances for channels and gateway",
  },
  { word: /gateway/i, home: /^src\/(?:surfaces\/http|config)\//, instead: "models for calls of models" },
  {
    word: /engine/i,
    home: /^src\/(?:sandbox|host|operations|surfaces\/cli)\//,
    instead: "agent loop for what the agent runs",
  },
  {
    word: /approval/i,
    home: /^src\/(?:rights|domain|turns|tools|stores|operations|surfaces|host)\//,
    instead: "admission for what lets a chat in",
  },
  { word: /admission/i, home: /^src\/intake\//, instead: "approval for a person's answer to a tool call" },
  {
    word: /mailbox/i,
    home: /^(?:src\/(?:protocol|sandbox|host)|container\/agent)\//,
    instead: "channel, inbox or outbox",
  },
  {
    word: /(?:^p|P|-p)arts?$/,
    home: /^src\/(?:domain\/chats\/part|models\/wire\/wire|protocol\/messages|turns\/steps\/result-parts)\.ts$/,
    instead: "options for what a thing is made with",
  },
  { word: /^(?:wait|delay|pause)(?:Really|OnTimer|Ms)?$/i, home: /^$/, instead: "sleep" },
];

/** Other words for what the glossary has a word for. */
const synonyms: Readonly<Record<string, RegExp>> = {
  "back-off": /retryer|retrier/i,
  container: /(?:^|[a-z])(?:Vm|Jail|Pod)(?:[A-Z]|$)/,
  format: /^spoken/,
  member: /participant/i,
  memoize: /remember/i,
  "model provider": /(?:^l|L)lm(?:[A-Z]|$)/,
  turn: /(?:^|[a-z])(?:Dialog|Dialogue)(?:[A-Z]|$)/,
};

/** Openings of doc comments that do not name the thing. */
const riddle = /^(?:What|Who|Whose|Whom|Where|Why|How|So|Of|As)\b/;

/** Phrases that nobody writes: each has a plain word, such as "no longer", "separate", "missing" or "maximum". */
const relic = new RegExp(
  String.raw`\b(?:any more|so many|such as is|is to be had|of (?:its|their|his|your|our) own|there is to|(?:what is|stands) ` +
    String.raw`behind|gone on with|told of|asked of|it is that already|not there|the one there is)\b`,
  "gi",
);

/** Names of invented jobs and of bags, in place of Service, Store, Registry, Queue, Timer, Pool, Client or Handler. */
const jobTitle =
  /(?:Desk|Lookout|Sight|Lull|Keeper|Place|Taking)(?:s|[A-Z]|$)|Parts$|^(?:served|shown|working)(?:[A-Z]|$)/;

const longestLine = 120;

type Rule = "riddle" | "relic" | "jobTitle" | "twice" | "tooLong";

/**
 * Violations that are left, by rule and folder. The numbers may only shrink; a folder that is not listed has none.
 * Rooms of `src` that are being rebuilt count together, so that files can move between them.
 */
const left: Readonly<Record<Rule, Readonly<Record<string, number>>>> = {
  riddle: {},
  relic: { rebuilt: 1, redteam: 3, "src/sandbox": 1, "src/tools": 2 },
  jobTitle: { "src/domain": 1 },
  twice: { anywhere: 90 },
  tooLong: {
    bench: 4,
    container: 14,
    docs: 3,
    groups: 10,
    prompts: 9,
    rebuilt: 155,
    redteam: 226,
    scripts: 1,
    skills: 48,
    "src/channels": 5,
    "src/delivery": 7,
    "src/domain": 4,
    "src/intake": 12,
    "src/lib": 3,
    "src/models": 9,
    "src/rights": 15,
    "src/sandbox": 29,
    "src/tools": 8,
    test: 582,
  },
};
const rebuilt = /^src\/(?:abilities|config|host|operations|plugins|records|stores|surfaces|turns|work)\//;

/** The folder under which a violation is counted. */
function countedAs({ rule, file }: Violation): string {
  if (rule === "twice") return "anywhere";
  if (rebuilt.test(file)) return "rebuilt";
  return file
    .split("/")
    .slice(0, file.startsWith("src/") ? 2 : 1)
    .join("/");
}

interface Violation {
  readonly rule: Rule;
  readonly file: string;
  readonly what: string;
}

interface Page {
  readonly file: string;
  readonly text: string;
}

async function readAll(patterns: readonly string[]): Promise<Page[]> {
  const found: Page[] = [];
  for await (const file of glob(patterns, { cwd: checkout }))
    found.push({ file, text: readFileSync(join(checkout, file), "utf8") });
  return found.toSorted((one, other) => (one.file < other.file ? -1 : 1));
}

const code = (await readAll(folders.map((folder) => `${folder}/**/*.ts`))).map(({ file, text }) => ({
  file,
  text,
  ...readWords(file, text),
}));
const pages = await readAll(["*.md", ...pageFolders.map((folder) => `${folder}/**/*.md`)]);
const exportedAnywhere = code.flatMap(({ exported: names }) => names);
const exported = exportedAnywhere.filter(({ file }) => /^(?:src|container\/agent)\//.test(file));

function relicsIn(file: string, text: string): Violation[] {
  const folded = text.replaceAll(/\s+/g, " ");
  return [...folded.matchAll(relic)].map(({ index }) => ({
    rule: "relic",
    file,
    what: folded.slice(Math.max(0, index - 40), index + 40),
  }));
}

/** Lines that are too long, except tables, code blocks and links in pages. */
function longLinesIn({ file, text }: Page): Violation[] {
  const isPage = file.endsWith(".md");
  const prose = isPage ? text.replaceAll(/^ *```[^]*?^ *```$/gm, (block) => block.replaceAll(/[^\n]/g, "")) : text;
  return prose
    .split("\n")
    .flatMap((line, place): Violation[] =>
      line.length <= longestLine || (isPage && /^\s*\||https?:|\]\(/.test(line))
        ? []
        : [{ rule: "tooLong", file, what: `line ${place + 1}` }],
    );
}

function namesTwice(): Violation[] {
  // Each file of attacks exports them under this name.
  const others = exportedAnywhere.filter(({ name, file }) => name !== "attacks" || !file.startsWith("redteam/cases/"));
  const byName = Map.groupBy(others, ({ name }) => name);
  return [...byName].flatMap(([name, places]) =>
    places.slice(1).map(({ file }): Violation => ({ rule: "twice", file, what: `${name}, as in ${places[0]?.file}` })),
  );
}

const violations: readonly Violation[] = [
  ...code.flatMap(({ file, docs }) =>
    docs.filter((doc) => riddle.test(doc)).map((doc): Violation => ({ rule: "riddle", file, what: doc.slice(0, 60) })),
  ),
  ...code
    .filter(({ file }) => file !== "test/unit/words.test.ts")
    .flatMap(({ file, texts }) => texts.flatMap((text) => relicsIn(file, text))),
  ...pages.flatMap(({ file, text }) => relicsIn(file, text)),
  ...exportedAnywhere
    .filter(({ name }) => jobTitle.test(name))
    .map(({ file, name }): Violation => ({ rule: "jobTitle", file, what: name })),
  ...namesTwice(),
  ...[...code, ...pages].flatMap(longLinesIn),
];

test.for<[Rule, string]>([
  ["riddle", "a doc comment begins with a verb or with a noun that names the thing"],
  ["relic", "code, messages and pages use today's words"],
  ["jobTitle", "no exported name is an invented job title"],
  ["twice", "no name is exported twice"],
  ["tooLong", "lines have at most 120 columns"],
])("%s: %s", ([rule]) => {
  const byFolder = Map.groupBy(
    violations.filter((violation) => violation.rule === rule),
    countedAs,
  );
  const more = [...byFolder].flatMap(([folder, found]) =>
    found.length > (left[rule][folder] ?? 0)
      ? [
          `${folder} has ${found.length} (at most ${left[rule][folder] ?? 0})`,
          ...found.map(({ file, what }) => `${file}: ${what}`),
        ]
      : [],
  );

  expect(more).toEqual([]);
});

test("a word that the glossary gives to one part stands in no exported name or file name of another", () => {
  const wrong = homes.flatMap(({ word, home, instead }) =>
    exported
      .flatMap(({ file, name }) =>
        [name, file.split("/").at(-1)?.replace(".ts", "") ?? ""].map((said) => ({ file, said })),
      )
      .filter(({ file, said }) => word.test(said) && !home.test(file))
      .map(({ file, said }) => `${file}: ${said} (say ${instead})`),
  );

  expect(exported.length).toBeGreaterThan(500);
  expect([...new Set(wrong)]).toEqual([]);
});

test("no exported name uses another word for what the glossary has a word for", () => {
  const wrong = Object.entries(synonyms).flatMap(([word, synonym]) =>
    exported.filter(({ name }) => synonym.test(name)).map(({ file, name }) => `${file}: ${name} (the word is ${word})`),
  );

  expect(wrong).toEqual([]);
});

test("a noun of the domain is the name of one thing in the host", () => {
  const nouns = new Set(exported.filter(({ file }) => file.startsWith("src/domain/")).map(({ name }) => name));
  const twice = exported.filter(({ file, name }) => nouns.has(name) && !/^(?:src\/domain|container)\//.test(file));

  expect(nouns).toContain("Session");
  expect(twice).toEqual([]);
});

test("there is one function that sleeps", () => {
  const sleeping = exported.filter(({ name }) => /^sleep$/i.test(name)).map(({ file }) => file);

  expect([...new Set(sleeping)]).toEqual(["src/lib/time/sleep.ts"]);
});

test("the glossary explains each word that this test holds", () => {
  const glossary = readFileSync(join(checkout, "docs/glossary.md"), "utf8");
  const words = ["door", "gateway", "engine", "approval", "admission", "mailbox", "sleep", ...Object.keys(synonyms)];

  expect(words.filter((word) => !glossary.includes(`**${word}**`))).toEqual([]);
});
