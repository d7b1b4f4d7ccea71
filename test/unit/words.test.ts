import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";

const checkout = resolve(import.meta.dirname, "../..");

interface Exported {
  readonly file: string;
  readonly name: string;
}

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

async function readExports(): Promise<Exported[]> {
  const found: Exported[] = [];
  for await (const file of glob(["src/**/*.ts", "container/agent/**/*.ts"], { cwd: checkout })) {
    const text = readFileSync(join(checkout, file), "utf8");
    const declarations = text.matchAll(/^export (?:abstract |async )*(?:class|function|interface|type|const) (\w+)/gm);
    for (const [, name = ""] of declarations) found.push({ file, name });
  }
  return found;
}

const exported = await readExports();

test("a word that the glossary gives to one part stands in no exported name or file name of another", () => {
  const violations = homes.flatMap(({ word, home, instead }) =>
    exported
      .flatMap(({ file, name }) =>
        [name, file.split("/").at(-1)?.replace(".ts", "") ?? ""].map((said) => ({ file, said })),
      )
      .filter(({ file, said }) => word.test(said) && !home.test(file))
      .map(({ file, said }) => `${file}: ${said} (say ${instead})`),
  );

  expect(exported.length).toBeGreaterThan(500);
  expect([...new Set(violations)]).toEqual([]);
});

test("no exported name uses another word for what the glossary has a word for", () => {
  const violations = Object.entries(synonyms).flatMap(([word, synonym]) =>
    exported.filter(({ name }) => synonym.test(name)).map(({ file, name }) => `${file}: ${name} (the word is ${word})`),
  );

  expect(violations).toEqual([]);
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
