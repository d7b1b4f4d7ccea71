import type { DomElement } from "./dom.ts";

/** Deeper than any page that is meant for people; what walks a tree by calling itself bears this many. */
const maxDepth = 256;
/** Maximum elements of a document, given time and memory. */
const maxElements = 200_000;

/** Removes what is nested too deeply, or is too much. True when something was. */
export function limitTree(root: DomElement): boolean {
  let removed = false;
  let count = 0;
  const open: { readonly element: DomElement; readonly depth: number }[] = [{ element: root, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    count += 1;
    if (next.depth > maxDepth || count > maxElements) {
      next.element.remove();
      removed = true;
      continue;
    }
    const { depth } = next;
    open.push(...[...next.element.children].toReversed().map((element) => ({ element, depth: depth + 1 })));
  }
  return removed;
}
