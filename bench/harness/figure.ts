import { summarize } from "./statistics.ts";
import type { Summary } from "./statistics.ts";

/** The machine's own minimum for a figure, measured between the figure's runs. */
export interface Floor {
  readonly name: string;
  readonly median: number;
  readonly runs: number;
}

/** One line of a bench's result. */
export interface Figure extends Summary {
  readonly bench: string;
  readonly figure: string;
  readonly unit: string;
  readonly floor?: Floor | undefined;
  /** Median to floor. */
  readonly ratio?: number | undefined;
  /** Target in words, and whether it was met. */
  readonly target?: string | undefined;
  readonly met?: boolean | undefined;
}

export interface FigureWish {
  readonly bench: string;
  readonly figure: string;
  readonly unit: string;
  readonly values: readonly number[];
  readonly floor?: { readonly name: string; readonly values: readonly number[] } | undefined;
  readonly target?: { readonly text: string; readonly holds: (seen: Summary, floor: number) => boolean } | undefined;
}

export function figureOf({ values, floor, target, ...names }: FigureWish): Figure {
  const seen = summarize(values);
  const under = floor && { name: floor.name, values: summarize(floor.values) };
  const base = under?.values.median ?? 0;
  return {
    ...names,
    ...rounded(seen),
    ...(under && {
      floor: { name: under.name, median: round(base), runs: under.values.runs },
      ratio: round(seen.median / base),
    }),
    ...(target && { target: target.text, met: target.holds(seen, base) }),
  };
}

/** A target of the form "at most this". */
export function atMost(limit: number, unit: string): NonNullable<FigureWish["target"]> {
  return { text: `≤ ${limit} ${unit}`, holds: ({ median }) => median <= limit };
}

/** A target of the form "the median is at most N times the floor". */
export function atMostFloors(times: number): NonNullable<FigureWish["target"]> {
  return { text: `p50 ≤ ${times} × floor`, holds: ({ median }, floor) => median <= times * floor };
}

export function describeFigure(figure: Figure): string {
  const { bench, figure: name, unit, median, p95, p99, runs, floor, ratio, target, met } = figure;
  const parts = [`${bench.padEnd(12)} ${name.padEnd(34)}`, `p50 ${median} ${unit}`];
  if (runs > 1) parts.push(`p95 ${p95}`, `p99 ${p99}`);
  parts.push(`n ${runs}`);
  if (floor) parts.push(`floor ${floor.median} (${floor.name}, n ${floor.runs})`, `ratio ${ratio ?? ""}`);
  if (target !== undefined) parts.push(`${met === true ? "met" : "MISSED"}: ${target}`);
  return parts.join("  ");
}

function rounded({ runs, median, p95, p99 }: Summary): Summary {
  return { runs, median: round(median), p95: round(p95), p99: round(p99) };
}

/** Three digits say all that such a measurement knows. */
function round(value: number): number {
  return Number(value.toPrecision(3));
}
