import { shorten } from "../../../lib/text/visible.ts";
import type { ReportEntry } from "./entry.ts";
import type { SectionName } from "./sections.ts";

/** A column of a table in a report for people. What it gives is as hostile as what it is made of. */
export interface ReportColumn {
  readonly title: string;
  readonly of: (entry: ReportEntry) => string;
}

/** A value in a table is cut here; the JSON of the report has all of it. */
const valueChars = 300;
const turnChars = 8;

const common: readonly ReportColumn[] = [
  { title: "Record", of: ({ record }) => String(record) },
  { title: "Time", of: ({ local }) => local },
  { title: "Group", of: ({ group }) => group ?? "" },
  { title: "Who", of: ({ actor, name }) => (name === undefined ? actor : `${actor} ${name}`) },
];

const asked: readonly ReportColumn[] = [
  ...common,
  { title: "Channel", of: ({ data }) => textOf(data["channel"]) },
  { title: "Message", of: ({ data }) => textOf(data["id"]) },
  { title: "Characters", of: ({ data }) => textOf(data["chars"]) },
  { title: "Files", of: ({ data }) => textOf(data["attachments"]) },
  { title: "What became of it", of: ({ data }) => decisionOf(data) },
];

const said: ReportColumn = { title: "Text", of: ({ text }) => text ?? (text === null ? "(no longer kept)" : "") };

const approvals: readonly ReportColumn[] = [
  ...common,
  { title: "Type", of: ({ type }) => type },
  { title: "Code", of: ({ data }) => textOf(data["code"]) },
  { title: "Decision", of: ({ data }) => textOf(data["decision"] ?? data["state"] ?? data["outcome"]) },
  { title: "Tool", of: ({ data }) => textOf(data["tool"] ?? data["name"]) },
  { title: "Digest", of: ({ data }) => digestOf(data) },
  { title: "Details", of: ({ data }) => detailsOf(data, toldOfApprovals) },
];

const others: readonly ReportColumn[] = [
  ...common,
  { title: "Turn", of: ({ turn }) => (turn ?? "").slice(0, turnChars) },
  { title: "Type", of: ({ type }) => type },
  { title: "Details", of: ({ data }) => detailsOf(data) },
];

/** `withTexts`: what was said is shown, too. */
export function columnsOfSection(section: SectionName, withTexts: boolean): readonly ReportColumn[] {
  if (section === "asked") return withTexts ? [...asked, said] : asked;
  return section === "approvals" ? approvals : others;
}

type Data = ReportEntry["data"];

const toldOfApprovals: ReadonlySet<string> = new Set(["code", "decision", "tool", "digest"]);

function digestOf({ digest, sha256, input }: Data): string {
  const ofInput = typeof input === "object" && input !== null ? (input as Data)["sha256"] : input;
  return textOf(digest ?? sha256 ?? ofInput);
}

/** Decision about a message, or the argument of a command. */
function decisionOf({ rule, state, held, command, argument }: Data): string {
  if (command !== undefined) return `/${textOf(command)} ${textOf(argument)}`.trim();
  const decided = `${textOf(rule)}: ${textOf(state)}`;
  return held === undefined ? decided : `${decided}, held back by ${textOf(held)}`;
}

function detailsOf(data: Data, without?: ReadonlySet<string>): string {
  return Object.entries(data)
    .filter(([name]) => without?.has(name) !== true)
    .map(([name, value]) => `${name}: ${textOf(value)}`)
    .join("; ");
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return shorten(typeof value === "string" ? value : JSON.stringify(value), valueChars);
}
