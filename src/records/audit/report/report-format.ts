import type { UsageSum } from "../../../domain/turns/usage.ts";
import type { ReportEntry } from "./entry.ts";
import type { Figures } from "./figures.ts";
import type { ReportVerdict } from "./report-verdict.ts";
import type { SectionName } from "./sections.ts";

/** Usage rows of the store: whole UTC days, as in `crabpot usage`; unlike records, unsigned. */
export interface UsageRows {
  /** The first and the last day. */
  readonly from: string;
  readonly to: string;
  readonly groups: readonly UsageSum[];
  readonly members: readonly UsageSum[];
  readonly models: readonly UsageSum[];
}

/** Head of a report. */
export interface ReportHead {
  readonly createdAt: string;
  /** UTC; `from` is in the range, `to` is the first moment that is not. */
  readonly from: string;
  readonly to: string;
  readonly localFrom: string;
  readonly localTo: string;
  readonly timeZone: string;
  /** The only group that it is about; null: all. */
  readonly group: string | null;
  readonly withTexts: boolean;
  readonly verdict: ReportVerdict;
  readonly figures: Figures;
  /** Null: the store could not be read. */
  readonly usageRows: UsageRows | null;
}

/** Writer of a report. Each piece is requested once, in order, except for entries, which come first. */
export interface ReportFormat {
  /** `index` counts the entries of the section from 0. */
  entry(section: SectionName, entry: ReportEntry, index: number): string;
  head(head: ReportHead): string;
  opens(section: SectionName, count: number): string;
  closes(section: SectionName, count: number): string;
  end(): string;
}
