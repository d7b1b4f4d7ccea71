import type { UsageSum } from "../../../domain/turns/usage.ts";
import type { ReportEntry } from "./entry.ts";
import type { Figures } from "./figures.ts";
import type { ReportVerdict } from "./report-verdict.ts";
import type { SectionName } from "./sections.ts";

/**
 * What the store's usage rows say: whole days (UTC), the same figures as `crabpot usage`; unlike records they are not
 * signed.
 */
export interface UsageRows {
  /** The first and the last day. */
  readonly from: string;
  readonly to: string;
  readonly groups: readonly UsageSum[];
  readonly members: readonly UsageSum[];
  readonly models: readonly UsageSum[];
}

/** What a report begins with. */
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

/** How a report is written. It is asked for each piece once, in order, but for entries, which come before all. */
export interface ReportFormat {
  /** `index` counts the entries of the section from 0. */
  entry(section: SectionName, entry: ReportEntry, index: number): string;
  head(head: ReportHead): string;
  opens(section: SectionName, count: number): string;
  closes(section: SectionName, count: number): string;
  end(): string;
}
