import { assert, constant, oneof, property, string } from "fast-check";
import { expect, test } from "vitest";

import type { ReportEntry } from "../../../../src/records/audit/report/entry.ts";
import { htmlReport } from "../../../../src/records/audit/report/html-report.ts";
import { jsonReport } from "../../../../src/records/audit/report/json-report.ts";
import { escapeMarkdown, markdownReport } from "../../../../src/records/audit/report/markdown-report.ts";
import type { ReportFormat, ReportHead } from "../../../../src/records/audit/report/report-format.ts";
import { sectionNames } from "../../../../src/records/audit/report/sections.ts";
import { anyCharacter } from "../../../support/any-character.ts";

const hostile = `<script>alert(1)</script><img src=x onerror=a>"'|\u202egpj.exe\u001b[31m\n## [x](http://evil.example) ![y](http://evil.example/p.png) \`c\` \u200b`;

function entry(text: string): ReportEntry {
  return {
    record: 7,
    time: "2026-01-15T12:00:00.000Z",
    local: "2026-01-15 12:00:00 +00:00",
    type: text,
    group: text,
    session: text,
    turn: text,
    actor: `member:${text}`,
    name: text,
    data: { id: text, channel: text, rule: text, path: text, code: text, decision: text, tool: text, [text]: [text] },
    text,
  };
}

function head(text: string): ReportHead {
  const calls = { calls: 1, inputTokens: 1, outputTokens: 1, usd: 1, unpricedCalls: 0 };
  const sum = { key: text, name: text, cachedInputTokens: 1, writtenInputTokens: 1, ...calls };
  const name = { record: 1, time: text };
  return {
    createdAt: text,
    from: text,
    to: text,
    localFrom: text,
    localTo: text,
    timeZone: text,
    group: text,
    withTexts: true,
    verdict: {
      ok: false,
      summary: text,
      signer: text,
      goodRecords: 1,
      signedUpTo: 1,
      first: name,
      last: name,
      head: { seq: 1, hash: text },
      firstBadRecord: 2,
      place: { file: text, line: 1 },
      reason: text,
      proves: [text],
      doesNotProve: [text],
    },
    figures: {
      records: 1,
      types: [{ type: text, records: 1, section: "asked" }],
      days: [{ day: text, messages: 1, turns: 1, toolCalls: 1, refused: 1, ...calls }],
      total: calls,
      groups: [{ name: text, ...calls }],
      models: [{ name: text, ...calls }],
      first: name,
      last: name,
    },
    usageRows: { from: text, to: text, groups: [sum], members: [sum], models: [sum] },
  };
}

/** A report with this text wherever something can stand. */
function write(format: ReportFormat, text: string): string {
  const sections = sectionNames.map(
    (section) => format.opens(section, 1) + format.entry(section, entry(text), 0) + format.closes(section, 1),
  );
  return format.head(head(text)) + sections.join("") + format.end();
}

/** Characters that steer a terminal or turn a line around; line feeds of the report itself are none. */
function hiddenIn(text: string): string[] {
  return text.replaceAll("\n", "").match(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u200b]/gu) ?? [];
}

/** Number of columns in each line of a Markdown report. */
function shape(text: string): number[] {
  return write(markdownReport(true), text)
    .split("\n")
    .map((line) => line.replaceAll(/\\./g, "").split("|").length);
}

/** Elements in their order, without what is between them. */
function elementsOf(html: string): string[] {
  return html.match(/<[^>]*>/g) ?? [];
}

test("whatever a page is made of, it has the same elements, and nothing in it hides or turns a line around", () => {
  const plain = elementsOf(write(htmlReport(true), "plain"));

  assert(
    property(oneof(constant(hostile), string({ unit: anyCharacter })), (text) => {
      const page = write(htmlReport(true), text);
      expect(elementsOf(page)).toEqual(plain);
      expect(hiddenIn(page)).toEqual([]);
    }),
    { examples: [[hostile]] },
  );
});

test("a page has one h1, no script and nothing from elsewhere, and each table says what its rows and columns are", () => {
  const page = write(htmlReport(true), hostile);
  const tables = page.match(/<table>[^]*?<\/table>/g) ?? [];

  expect(page.match(/<h1\b/g)).toHaveLength(1);
  expect(page).toMatch(/<html lang="en">[^]*<title>Audit report<\/title>/);
  expect(
    elementsOf(page).filter((element) =>
      /^<(?:script|img|link|iframe|object|form)|\s(?:src|href|on\w+)=/i.test(element),
    ),
  ).toEqual([]);
  expect(tables.length).toBeGreaterThan(sectionNames.length);
  for (const table of tables) {
    expect(table).toMatch(/<caption>.+<\/caption>\n<thead><tr>(?:<th scope="col">[^<]+<\/th>)+<\/tr><\/thead>/);
    expect(table).toMatch(/<tbody>\n(?:<tr><th scope="row">[^<]*<\/th>(?:<td>[^<]*<\/td>)+<\/tr>\n)+<\/tbody>/);
  }
});

test("whatever a report in Markdown is made of, it has the same lines and columns, and no other markup", () => {
  const plain = shape("plain");

  assert(
    property(string({ unit: anyCharacter }), (text) => {
      expect(shape(text)).toEqual(plain);
      expect(escapeMarkdown(text).replaceAll(/\\./g, "")).not.toMatch(/[<>`[\]*_|~&!#$]|:\/\//u);
      expect(hiddenIn(escapeMarkdown(text))).toEqual([]);
    }),
    { examples: [[hostile], ["www.evil.example https://evil.example"]] },
  );
});

test("a report in JSON is one object on one line, with what was written as it was", () => {
  const text = write(jsonReport(), hostile);
  const parsed = JSON.parse(text) as { sections: Record<string, { data: { id: string } }[]> };

  expect(text.indexOf("\n")).toBe(text.length - 1);
  expect(hiddenIn(text)).toEqual([]);
  expect(Object.keys(parsed.sections)).toEqual([...sectionNames]);
  expect(parsed.sections["ran"]?.[0]?.data.id).toBe(hostile);
});
