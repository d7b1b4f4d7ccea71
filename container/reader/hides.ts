import { alphaOf } from "./colours.ts";
import { type Declarations, screen } from "./styles.ts";

/** True when these declarations hide an element, whatever surrounds it. */
export function hides(values: Declarations): boolean {
  return checks.some((check) => check((name) => values.get(name) ?? ""));
}

type Read = (name: string) => string;

const pixelsOfEm = 16;
const { width: pixelsOfWidth, height: pixelsOfHeight } = screen;
const leastFontPixels = 2;
const leastOpacity = 0.05;
/** Distance to the right that nobody scrolls. */
const farPixels = 2_500;

const units: Readonly<Record<string, number>> = {
  "": 1,
  px: 1,
  pt: 4 / 3,
  pc: 16,
  in: 96,
  cm: 37.8,
  mm: 3.78,
  em: pixelsOfEm,
  rem: pixelsOfEm,
  ch: pixelsOfEm / 2,
  ex: pixelsOfEm / 2,
  lh: pixelsOfEm,
  vw: pixelsOfWidth / 100,
  vi: pixelsOfWidth / 100,
  vmax: pixelsOfWidth / 100,
  vh: pixelsOfHeight / 100,
  vb: pixelsOfHeight / 100,
  vmin: pixelsOfHeight / 100,
};

const length = /^(?:calc\(\s*)?([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([a-z]*|%)\s*\)?$/;

/** A length; `whole` is what percents are of. Undefined for what cannot be known. */
function pixels(text: string, whole: number): number | undefined {
  const [, number, unit = ""] = length.exec(text) ?? [];
  if (number === undefined) return undefined;
  const factor = unit === "%" ? whole / 100 : units[unit];
  return factor === undefined ? undefined : Number(number) * factor;
}

function isBelow(text: string, whole: number, limit: number): boolean {
  return (pixels(text, whole) ?? limit) < limit;
}

/** Numbers, and percents as parts of 1. */
function share(text: string): number {
  const value = Number.parseFloat(text);
  return text.endsWith("%") ? value / 100 : value;
}

const checks: readonly ((read: Read) => boolean)[] = [
  (read) => read("display") === "none" || /^(?:hidden|collapse)$/.test(read("visibility")),
  (read) => read("content-visibility") === "hidden" || share(read("zoom")) <= leastOpacity,
  (read) => share(read("opacity")) <= leastOpacity || share(argumentOf(read("filter"), "opacity")) <= leastOpacity,
  (read) => isTooSmall(read("font-size")) || isTooSmall(sizeIn(read("font"))),
  (read) => alphaOf(read("-webkit-text-fill-color") || read("color")) <= leastOpacity,
  isOutside,
  isIndentedAway,
  isClipped,
  isTransformedAway,
  (read) => /^rect\(\s*(?:0|1px)[\s,]/.test(read("clip")) || isCutAway(read("clip-path")),
];

function isTooSmall(size: string): boolean {
  return isBelow(size, pixelsOfEm, leastFontPixels);
}

/** Font size within `italic 1px/1 serif`. */
function sizeIn(font: string): string {
  return /(?:^|\s)((?:\d+\.?\d*|\.\d+)(?:[a-z]+|%)?)\s*(?:\/|\s)/.exec(`${font} `)?.[1] ?? "";
}

function argumentOf(text: string, name: string): string {
  return new RegExp(`${name}\\(([^()]*)\\)`).exec(text)?.[1]?.trim() ?? "";
}

const sides = [
  "left",
  "top",
  "right",
  "bottom",
  "inset-inline-start",
  "inset-block-start",
  "inset-inline-end",
] as const;
const margins = ["margin-left", "margin-top", "margin-inline-start", "margin-block-start", "margin-right"] as const;

function isOutside(read: Read): boolean {
  const places = [...sides.map(read), ...read("inset").split(/\s+/)];
  if (places.some((place) => isBelow(place, pixelsOfWidth, -99))) return true;
  const pushed = [...margins.map(read), ...read("margin").split(/\s+/)];
  if (pushed.some((place) => isBelow(place, pixelsOfWidth, -999))) return true;
  // Percents are what carousels use for what comes next.
  return ["left", "right"].some((side) => (pixels(read(side), 0) ?? 0) >= farPixels);
}

const clips = /^(?:hidden|clip|scroll|auto)\b/;

function overflows(read: Read): boolean {
  return ["overflow", "overflow-x", "overflow-y"].some((name) => clips.test(read(name)));
}

function isIndentedAway(read: Read): boolean {
  const indent = pixels(read("text-indent"), pixelsOfWidth) ?? 0;
  return indent < -99 || (indent >= pixelsOfWidth && overflows(read));
}

function isClipped(read: Read): boolean {
  if (!overflows(read)) return false;
  return ["width", "max-width", "height", "max-height", "inline-size", "block-size"].some((name) =>
    isBelow(read(name), pixelsOfWidth, 1.01),
  );
}

function isTransformedAway(read: Read): boolean {
  const moved = [...read("transform").matchAll(/translate\w*\(([^()]*)\)/g)].map(([, where = ""]) => where);
  const places = [...moved, read("translate").replaceAll(/\s+/g, ",")].flatMap((place) => place.split(","));
  const far = places.map((place) => pixels(place.trim(), 0) ?? 0);
  if (far.some((distance) => distance <= -1_000 || distance >= farPixels)) return true;
  const scaled = [argumentOf(read("transform"), "scale[xy]?"), read("scale")].flatMap((text) => text.split(/[\s,]+/));
  if (scaled.some((factor) => Math.abs(share(factor)) <= leastOpacity)) return true;
  return /rotate[xy]\(\s*-?(?:90|270)deg/.test(read("transform"));
}

function isCutAway(path: string): boolean {
  const inset = argumentOf(path, "inset").split(/\s+/);
  if (inset.some((side) => side.endsWith("%") && share(side) >= 0.5)) return true;
  if (/^(?:circle|ellipse)\(\s*0/.test(path)) return true;
  const corners = argumentOf(path, "polygon");
  return (
    corners !== "" &&
    new Set(corners.split(",").map((corner) => corner.replaceAll(/[a-z%\s]+/g, " ").trim())).size === 1
  );
}
