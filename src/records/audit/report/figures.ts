import type { ZoneClock } from "../../../lib/time/zone-clock.ts";
import type { AuditRecord } from "../record.ts";
import { sectionOf, type SectionName } from "./sections.ts";

/** Usage of model calls, by their records. */
export interface CallFigures {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly usd: number;
  /** Calls that have used tokens, at a price that is not known: they add nothing to `usd`. */
  readonly unpricedCalls: number;
}

/** Figures of a day in the operator's zone. */
export interface DayFigures extends CallFigures {
  readonly day: string;
  readonly messages: number;
  readonly turns: number;
  readonly toolCalls: number;
  readonly refused: number;
}

export interface Figures {
  readonly records: number;
  /** Records of the range, by type, in the order of the alphabet; `section`: null where only figures tell of them. */
  readonly types: readonly { readonly type: string; readonly records: number; readonly section: SectionName | null }[];
  readonly days: readonly DayFigures[];
  readonly total: CallFigures;
  readonly groups: readonly (CallFigures & { readonly name: string })[];
  readonly models: readonly (CallFigures & { readonly name: string })[];
  readonly first: RecordName | undefined;
  readonly last: RecordName | undefined;
}

/** `time` is the record's own, in UTC. */
export interface RecordName {
  readonly record: number;
  readonly time: string;
}

type Mutable<Fields> = { -readonly [Name in keyof Fields]: Fields[Name] };

const noCalls: CallFigures = { calls: 0, inputTokens: 0, outputTokens: 0, usd: 0, unpricedCalls: 0 };

/** Maximum event types, so that a forged log cannot fill the memory. */
const mostTypes = 500;
const mostNames = 10_000;

/** Adds up the records of a range, in memory that does not grow with them. */
export class FigureCount {
  readonly #clock: ZoneClock;
  readonly #types = new Map<string, { records: number; section: SectionName | null }>();
  readonly #days = new Map<string, Mutable<DayFigures>>();
  readonly #groups = new Map<string, Mutable<CallFigures>>();
  readonly #models = new Map<string, Mutable<CallFigures>>();
  readonly #total: Mutable<CallFigures> = { ...noCalls };
  #records = 0;
  #first: RecordName | undefined;
  #last: RecordName | undefined;

  constructor(clock: ZoneClock) {
    this.#clock = clock;
  }

  add(record: AuditRecord, at: number): void {
    const { seq, ts, type } = record;
    this.#records += 1;
    this.#last = { record: seq, time: ts };
    this.#first ??= this.#last;
    this.#countType(record);
    const day = this.#dayOf(at);
    if (type === "message-in") day.messages += 1;
    if (type === "turn-end") day.turns += 1;
    if (type === "tool-call") day.toolCalls += 1;
    if (sectionOf(record) === "refused") day.refused += 1;
    if (type === "model-response") this.#addCall(record, day);
  }

  result(): Figures {
    return {
      records: this.#records,
      types: [...this.#types]
        .map(([type, count]) => ({ type, ...count }))
        .toSorted((one, other) => (one.type < other.type ? -1 : 1)),
      days: [...this.#days.values()].toSorted((one, other) => (one.day < other.day ? -1 : 1)),
      total: this.#total,
      groups: dearestFirst(this.#groups),
      models: dearestFirst(this.#models),
      first: this.#first,
      last: this.#last,
    };
  }

  #countType(record: AuditRecord): void {
    const type = this.#types.has(record.type) || this.#types.size < mostTypes ? record.type : "(more types)";
    const place = sectionOf(record);
    const known = this.#types.get(type) ?? { records: 0, section: place === "counted" ? null : place };
    this.#types.set(type, { ...known, records: known.records + 1 });
  }

  #dayOf(at: number): Mutable<DayFigures> {
    const day = this.#clock.dayAt(at);
    const known = this.#days.get(day) ?? { day, messages: 0, turns: 0, toolCalls: 0, refused: 0, ...noCalls };
    this.#days.set(day, known);
    return known;
  }

  #addCall({ group, data }: AuditRecord, day: Mutable<CallFigures>): void {
    const usage = (data["usage"] ?? {}) as Readonly<Record<string, unknown>>;
    const [inputTokens, outputTokens] = [amount(usage["inputTokens"]), amount(usage["outputTokens"])];
    const isPriced = typeof data["usd"] === "number" || inputTokens + outputTokens === 0;
    const call = { calls: 1, inputTokens, outputTokens, usd: amount(data["usd"]), unpricedCalls: isPriced ? 0 : 1 };
    const model = typeof data["model"] === "string" ? data["model"] : "";
    for (const sum of [this.#total, day, of(this.#groups, group ?? ""), of(this.#models, model)]) addTo(sum, call);
  }
}

function amount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

function of(sums: Map<string, Mutable<CallFigures>>, name: string): Mutable<CallFigures> {
  const key = sums.has(name) || sums.size < mostNames ? name : "(more)";
  const known = sums.get(key) ?? { ...noCalls };
  sums.set(key, known);
  return known;
}

function addTo(sum: Mutable<CallFigures>, call: CallFigures): void {
  sum.calls += call.calls;
  sum.inputTokens += call.inputTokens;
  sum.outputTokens += call.outputTokens;
  sum.usd += call.usd;
  sum.unpricedCalls += call.unpricedCalls;
}

function dearestFirst(sums: ReadonlyMap<string, CallFigures>): (CallFigures & { readonly name: string })[] {
  return [...sums]
    .map(([name, sum]) => ({ name, ...sum }))
    .toSorted((one, other) => other.usd - one.usd || other.inputTokens - one.inputTokens);
}
