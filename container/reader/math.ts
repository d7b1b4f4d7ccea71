import type { DomNode } from "./dom.ts";

/** Line notation for elements with several parts. */
const written: Readonly<Record<string, (...parts: readonly string[]) => string>> = {
  MSUP: (base = "", above) => `${base}^${grouped(above)}`,
  MOVER: (base = "", above) => `${base}^${grouped(above)}`,
  MSUB: (base = "", below) => `${base}_${grouped(below)}`,
  MUNDER: (base = "", below) => `${base}_${grouped(below)}`,
  MSUBSUP: (base = "", below, above) => `${base}_${grouped(below)}^${grouped(above)}`,
  MUNDEROVER: (base = "", below, above) => `${base}_${grouped(below)}^${grouped(above)}`,
  MFRAC: (above, below) => `${grouped(above)}/${grouped(below)}`,
  MSQRT: (...inner) => `√${grouped(inner.join(""))}`,
  MTR: (...cells) => cells.join(" "),
  MTABLE: (...rows) => rows.join(" "),
  MROOT: (inner, degree = "") => `${degree}√${grouped(inner)}`,
};

/** A formula (MathML) in a line, as people would type it. What is noted in it for programs is not seen and left out. */
export function formulaOf(node: DomNode): string {
  if (node.nodeType === 3) return (node.textContent ?? "").replaceAll(/\s+/g, " ").trim();
  const name = node.nodeName.toUpperCase();
  if (node.nodeType !== 1 || name.startsWith("ANNOTATION")) return "";
  const parts = Array.from(node.childNodes, formulaOf).filter((part) => part !== "");
  const form = Object.hasOwn(written, name) ? written[name] : undefined;
  return form === undefined ? parts.join("") : form(...parts);
}

function grouped(text = ""): string {
  return text.length > 1 ? `(${text})` : text;
}
