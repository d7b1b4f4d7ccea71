import { escapeText } from "../../../lib/text/markup.ts";
import { visible } from "../../../lib/text/visible.ts";
import { columnsOfSection } from "./columns.ts";
import { headFacts } from "./head-facts.ts";
import { type HeadTable, headTables } from "./head-tables.ts";
import type { ReportFormat, ReportHead } from "./report-format.ts";
import { sectionTitles } from "./sections.ts";

/** Nothing is loaded and nothing runs, also where a browser would let it. */
const contentPolicy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'";

const style = `
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 2rem auto; max-width: 90rem; padding: 0 1rem; }
h1, h2 { line-height: 1.2; }
.verdict { border-inline-start: .4rem solid; padding: .6rem 1rem; font-weight: 600; }
.good { border-color: #12662f; background: #edf7f0; }
.bad { border-color: #a11212; background: #fdeeee; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
dt { font-weight: 600; }
dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; margin-block: 1rem; font-size: 13px; }
caption { text-align: start; color: #444; padding-block: .3rem; }
th, td { border: 1px solid #999; padding: .25rem .5rem; text-align: start; vertical-align: top; overflow-wrap: anywhere; }
thead th { background: #eee; overflow-wrap: normal; }
@media print {
  body { margin: 0; max-width: none; font-size: 9pt; }
  table { font-size: 7.5pt; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
  h2 { break-after: avoid; }
}
@page { size: A4 landscape; margin: 12mm; }
`;

/** One page that needs nothing else: no script, and nothing that is loaded from anywhere. */
export function htmlReport(withTexts: boolean): ReportFormat {
  return {
    head: (head) => `${pageHead()}<h1>Audit report</h1>\n${verdictOf(head)}${headTables(head).map(tableOf).join("")}`,
    opens: (section, count) => {
      const { title, none } = sectionTitles[section];
      const titles = columnsOfSection(section, withTexts).map((column) => column.title);
      const heading = `<section aria-labelledby="${section}">\n<h2 id="${section}">${title}</h2>\n`;
      if (count === 0) return `${heading}<p>${none}</p>\n`;
      return `${heading}<table>\n<caption>${title}: ${count} ${count === 1 ? "record" : "records"}</caption>\n${headingOf(titles)}<tbody>\n`;
    },
    entry: (section, entry) => rowOf(columnsOfSection(section, withTexts).map(({ of }) => of(entry))),
    closes: (_section, count) => (count === 0 ? "</section>\n" : "</tbody>\n</table>\n</section>\n"),
    end: () => "</main>\n</body>\n</html>\n",
  };
}

function pageHead(): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${contentPolicy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Audit report</title>
<style>${style}</style>
</head>
<body>
<main>
`;
}

function verdictOf(head: ReportHead): string {
  const { verdict } = head;
  const facts = headFacts(head).map(([name, fact]) => `<dt>${name}</dt><dd>${escapeHtml(fact)}</dd>\n`);
  const sentences = [
    ...verdict.proves.map((sentence) => `<li>Proved: ${escapeHtml(sentence)}</li>\n`),
    ...verdict.doesNotProve.map((sentence) => `<li>Not proved: ${escapeHtml(sentence)}</li>\n`),
  ];
  return `<p class="verdict ${verdict.ok ? "good" : "bad"}">${escapeHtml(verdict.summary)}</p>
<dl>
${facts.join("")}</dl>
<ul>
${sentences.join("")}</ul>
`;
}

function tableOf({ title, remark, columns, rows }: HeadTable): string {
  const heading = `<h2>${title}</h2>\n`;
  if (rows.length === 0) return `${heading}<p>${escapeHtml(remark)} There are none.</p>\n`;
  const caption = `<caption>${escapeHtml(remark)}</caption>\n`;
  return `${heading}<table>\n${caption}${headingOf(columns)}<tbody>\n${rows.map(rowOf).join("")}</tbody>\n</table>\n`;
}

function headingOf(titles: readonly string[]): string {
  return `<thead><tr>${titles.map((title) => `<th scope="col">${title}</th>`).join("")}</tr></thead>\n`;
}

function rowOf([name = "", ...cells]: readonly string[]): string {
  const rest = cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join("");
  return `<tr><th scope="row">${escapeHtml(name)}</th>${rest}</tr>\n`;
}

/** Nothing of it is markup, hides, or turns a line around. */
function escapeHtml(text: string): string {
  return escapeText(visible(text));
}
