/*
 * Removes what a page hides from people, where instructions to models are hidden. Effects of scripts and external style
 * sheets are unknown here.
 */

import type { DomDocument, DomElement, DomNode } from "./dom.ts";
import { hides } from "./hides.ts";
import { type Declarations, declarationsIn, rulesOf, variablesIn } from "./styles.ts";
import { paperOf, removeUnseenColours } from "./unseen-colours.ts";

/** Never shown, whatever the styles say. */
const neverShown =
  "head > :not(title), script, style, template, noscript, object, embed, iframe, canvas, audio, video, svg, datalist, noframes, noembed, progress, meter, rp, annotation, annotation-xml, [popover], input, textarea, select, button[hidden], [hidden], [aria-hidden='true'], dialog:not([open])";
/** Removes what cannot be seen. Returns how many characters of text went with it. */
export function removeInvisible(document: DomDocument): number {
  const gone = new Set<DomElement>(all(document, neverShown));
  const declared = declaredIn(document);
  const paper = paperOf(document);
  for (const [element, declarations] of declared) if (declarations.some(hides)) gone.add(element);
  let chars = 0;
  for (const element of gone) {
    // What a script needs to hide a page until it is ready must not hide all of it here.
    if (element.tagName === "HTML" || element.tagName === "BODY") continue;
    if (!isCode(element)) chars += textOf(element).length;
    element.remove();
  }
  removeComments(document);
  return chars + removeUnseenColours(document, declared, paper);
}

/** All that the page's style sheets, and elements themselves, declare for elements, the last that counts last. */
function declaredIn(document: DomDocument): Map<DomElement, Declarations[]> {
  const sheets = [...document.querySelectorAll("style")].map((style) => style.textContent ?? "").join("\n");
  const styled = all(document, "[style]").map((element) => [element, element.getAttribute("style") ?? ""] as const);
  const rules = rulesOf(sheets);
  const variables = variablesIn([...rules.map(({ declarations }) => declarations), ...styled.map(([, text]) => text)]);
  const found = new Map<DomElement, Declarations[]>();
  const note = (element: DomElement, declarations: Declarations): void => {
    const noted = found.get(element);
    if (noted) noted.push(declarations);
    else found.set(element, [declarations]);
  };
  for (const { selector, declarations } of rules) {
    const values = declarationsIn(declarations, variables);
    if (!isTelling(values)) continue;
    for (const one of selectorsIn(selector)) for (const element of all(document, one)) note(element, values);
  }
  for (const [element, text] of styled) note(element, declarationsIn(text, variables));
  return found;
}

/** Most rules of most pages say nothing of what is looked for here. */
function isTelling(values: Declarations): boolean {
  return (
    hides(values) || ["color", "background", "background-color", "background-image"].some((name) => values.has(name))
  );
}

/** Those of a list that are for elements as they stand there: not in a state, and not before or after something. */
function selectorsIn(list: string): readonly string[] {
  const single = list.match(/(?:[^,()]|\((?:[^()]|\([^()]*\))*\))+/g) ?? [];
  return single
    .map((one) => one.trim())
    .filter(
      (one) => one !== "" && !/:(?!not|is|where|nth-|first-child|last-child|only-child|root|empty|has)/.test(one),
    );
}

function isCode({ tagName }: DomElement): boolean {
  return ["SCRIPT", "STYLE", "META", "LINK", "svg", "SVG", "NOSCRIPT"].includes(tagName);
}

function textOf(element: DomElement): string {
  return (element.textContent ?? "").replaceAll(/\s+/g, " ").trim();
}

function all(document: DomDocument, selector: string): readonly DomElement[] {
  try {
    return [...document.querySelectorAll(selector)];
  } catch {
    // A selector that the page has and nobody here understands.
    return [];
  }
}

const showComment = 128;

function removeComments(document: DomDocument): void {
  const walker = document.createTreeWalker(document, showComment);
  const comments: DomNode[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) comments.push(node);
  for (const comment of comments) comment.parentNode?.removeChild(comment);
}
