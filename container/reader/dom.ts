/*
 * The part of a document that is used here. The types that come with the compiler would make a browser's globals known
 * in all of the project, where there are none.
 */

import { parseHTML } from "linkedom";

/** A node of a document. */
export interface DomNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly textContent: string | null;
  readonly childNodes: Iterable<DomNode>;
  readonly parentNode: { removeChild(node: DomNode): unknown } | null;
}

/** An element. */
export interface DomElement extends DomNode {
  readonly tagName: string;
  readonly children: Iterable<DomElement>;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  hasAttribute(name: string): boolean;
  querySelector(selector: string): DomElement | null;
  querySelectorAll(selector: string): Iterable<DomElement>;
  cloneNode(deep: boolean): DomNode;
  remove(): void;
}

/** A document. */
export interface DomDocument {
  readonly documentElement: DomElement;
  querySelector(selector: string): DomElement | null;
  querySelectorAll(selector: string): Iterable<DomElement>;
  createTreeWalker(root: unknown, whatToShow: number): { nextNode(): DomNode | null };
}

/** Its types are written in those of a browser. */
const parseWith: (html: string) => { readonly document: DomDocument } = parseHTML;

/** A document of this HTML; a fragment gets what the parser needs around it. */
export function parseDocument(html: string): DomDocument {
  const isWhole = /<html[\s>]/i.test(html);
  return parseWith(isWhole ? html : `<!doctype html><html><head></head><body>${html}</body></html>`).document;
}
