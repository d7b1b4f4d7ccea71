/** Red, green and blue up to 255, and how opaque. */
export type Colour = readonly [red: number, green: number, blue: number, alpha: number];

const names: Readonly<Record<string, string>> = {
  white: "#ffffff",
  black: "#000000",
  snow: "#fffafa",
  ivory: "#fffff0",
  ghostwhite: "#f8f8ff",
  whitesmoke: "#f5f5f5",
  floralwhite: "#fffaf0",
  transparent: "#00000000",
};

/** Difference below which two colors look the same, per component. */
const leastDifference = 20;

/** A colour as a style sheet writes it; undefined for what is none or cannot be known. */
export function colourOf(text: string): Colour | undefined {
  const written = names[text] ?? text;
  if (written.startsWith("#")) return ofHex(written.slice(1));
  const [, name, inner = ""] = /^(rgb|hsl)a?\(([^()]*)\)$/.exec(written) ?? [];
  const [first = "", second = "", third = "", opaque = "1"] = inner.trim().split(/[\s,/]+/);
  if (third === "") return undefined;
  if (name === "hsl") return ofHue(Number.parseFloat(first), part(second, 1), part(third, 1), part(opaque, 1));
  return [part(first, 255), part(second, 255), part(third, 255), part(opaque, 1)];
}

/** Opacity of a color; 1 when unknown. */
export function alphaOf(text: string): number {
  return colourOf(text)?.[3] ?? 1;
}

export function looksLike(one: Colour, other: Colour): boolean {
  return [0, 1, 2].every((index) => Math.abs((one[index] ?? 0) - (other[index] ?? 0)) < leastDifference);
}

function ofHex(digits: string): Colour | undefined {
  if (!/^(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/.test(digits)) return undefined;
  const long = digits.length <= 4 ? digits.replaceAll(/./g, "$&$&") : digits;
  const [red = 0, green = 0, blue = 0, alpha = 255] = (long.match(/../g) ?? []).map((pair) =>
    Number.parseInt(pair, 16),
  );
  return [red, green, blue, alpha / 255];
}

/** `50%` of the whole, or a number as it is. Percents of hues are of 1. */
function part(text: string, whole: number): number {
  const value = Number.parseFloat(text);
  return text.endsWith("%") ? (value / 100) * whole : value;
}

function ofHue(hue: number, saturation: number, lightness: number, alpha: number): Colour {
  const strength = saturation * Math.min(lightness, 1 - lightness);
  const at = (shift: number): number => {
    const turn = (shift + hue / 30 + 120) % 12;
    return 255 * (lightness - strength * Math.max(-1, Math.min(turn - 3, 9 - turn, 1)));
  };
  return [at(0), at(8), at(4), alpha];
}
