import { type Colour, colourOf, looksLike } from "./colours.ts";
import type { DomDocument, DomElement, DomNode } from "./dom.ts";
import type { Declarations } from "./styles.ts";

const textNode = 3;

/** Colors of text and background; undefined when unknown. */
interface Look {
  readonly text: Colour | undefined;
  readonly ground: Colour | undefined;
}

/** Background of a page without style sheets; undefined when an external one may change it. */
export function paperOf(document: DomDocument): Colour | undefined {
  const isElsewhere =
    document.querySelector("link[rel~='stylesheet' i]") !== null ||
    [...document.querySelectorAll("style")].some((style) => style.textContent?.includes("@import") === true);
  return isElsewhere ? undefined : colourOf("white");
}

/**
 * Removes text in the color of its background, as far as the page itself says so. Returns the number of characters.
 * `declared`: declarations by element; `paper`: the page's background.
 */
export function removeUnseenColours(
  document: DomDocument,
  declared: ReadonlyMap<DomElement, readonly Declarations[]>,
  paper: Colour | undefined,
): number {
  const unseen: DomNode[] = [];
  const open: { readonly element: DomElement; readonly around: Look }[] = [
    { element: document.documentElement, around: { text: undefined, ground: paper } },
  ];
  for (let next = open.pop(); next; next = open.pop()) {
    const look = lookOf(next.element, next.around, declared.get(next.element) ?? []);
    const isUnseen = look.text !== undefined && look.ground !== undefined && looksLike(look.text, look.ground);
    const children = [...next.element.childNodes];
    if (isUnseen) unseen.push(...children.filter(({ nodeType }) => nodeType === textNode));
    open.push(...children.filter(isElement).map((element) => ({ element, around: look })));
  }
  let chars = 0;
  for (const node of unseen) {
    chars += (node.textContent ?? "").trim().length;
    node.parentNode?.removeChild(node);
  }
  return chars;
}

function isElement(node: DomNode): node is DomElement {
  return "tagName" in node;
}

function lookOf(element: DomElement, around: Look, declared: readonly Declarations[]): Look {
  let look = ownLook(element, around);
  for (const values of declared) look = { text: textOf(values, look), ground: groundOf(values, look, around) };
  return look;
}

/** By its kind, and by attributes of old. */
function ownLook(element: DomElement, { text, ground }: Look): Look {
  // What a browser gives links and fields by itself is seen on any ground.
  if (["A", "BUTTON", "MARK"].includes(element.tagName)) return { text: undefined, ground };
  const name = { FONT: "color", BODY: "text" }[element.tagName];
  const written = name === undefined ? null : element.getAttribute(name);
  const behind = element.getAttribute("bgcolor");
  return {
    text: written === null ? text : colourOf(written.toLowerCase()),
    ground: behind === null ? ground : colourOf(behind.toLowerCase()),
  };
}

function textOf(values: Declarations, { text }: Look): Colour | undefined {
  const written = values.get("-webkit-text-fill-color") ?? values.get("color") ?? "inherit";
  return written === "inherit" ? text : colourOf(written);
}

/** Background color; unknown for `#fff url() no-repeat`. */
function groundOf(values: Declarations, { ground }: Look, around: Look): Colour | undefined {
  if ((values.get("background-image") ?? "none") !== "none") return undefined;
  const written = values.get("background-color") ?? values.get("background");
  if (written === undefined) return ground;
  if (/^(?:none|transparent|inherit|initial|unset|0)?$/.test(written)) return around.ground;
  const colour = colourOf(written);
  return colour?.[3] === 0 ? around.ground : colour;
}
