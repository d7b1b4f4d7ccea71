import { visible } from "../../../lib/text/visible.ts";
import { columnsOfSection } from "./columns.ts";
import { headFacts } from "./head-facts.ts";
import { headTables } from "./head-tables.ts";
import type { ReportFormat } from "./report-format.ts";
import { sectionTitles } from "./sections.ts";

/** Markdown with tables. */
export function markdownReport(withTexts: boolean): ReportFormat {
  return {
    head: (head) =>
      [
        "# Audit report",
        `**${escapeMarkdown(head.verdict.summary)}**`,
        headFacts(head)
          .map(([name, fact]) => `- ${name}: ${escapeMarkdown(fact)}`)
          .join("\n"),
        [...head.verdict.proves.map(proved), ...head.verdict.doesNotProve.map(notProved)].join("\n"),
        ...headTables(head).map(({ title, remark, columns, rows }) =>
          [`## ${title}`, escapeMarkdown(remark), headingOf(columns) + rows.map(rowOf).join("")].join("\n\n"),
        ),
        "",
      ].join("\n\n"),
    opens: (section, count) => {
      const { title, none } = sectionTitles[section];
      const titles = columnsOfSection(section, withTexts).map((column) => column.title);
      return `## ${title}\n\n${count === 0 ? `${none}\n` : headingOf(titles)}`;
    },
    entry: (section, entry) => rowOf(columnsOfSection(section, withTexts).map(({ of }) => of(entry))),
    closes: () => "\n",
    end: () => "",
  };
}

function proved(sentence: string): string {
  return `- Proved: ${escapeMarkdown(sentence)}`;
}

function notProved(sentence: string): string {
  return `- Not proved: ${escapeMarkdown(sentence)}`;
}

function headingOf(titles: readonly string[]): string {
  return `${rowOf(titles)}|${" --- |".repeat(titles.length)}\n`;
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.map(escapeMarkdown).join(" | ")} |\n`;
}

/** Escapes Markdown: one line, without links, pictures, HTML, code or columns. */
export function escapeMarkdown(text: string): string {
  return visible(text)
    .replaceAll(/[\\`*_[\]<>|~&!#$]/g, String.raw`\$&`)
    .replaceAll(/:(?=\/\/)|(?<=www)\./gi, String.raw`\$&`);
}
