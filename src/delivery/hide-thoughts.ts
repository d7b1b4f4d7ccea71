/**
 * The agent's answer as people see it: without `<internal>…</internal>`, which it uses to think aloud, and without
 * blanks around it. An `<internal>` that is never closed hides all that follows: better too little in the chat than a
 * thought. Empty when nothing is left to be sent.
 */
export function hideThoughts(text: string): string {
  let depth = 0;
  let shown = "";
  for (const part of text.split(/(<\/?internal>)/i)) {
    const tag = part.toLowerCase();
    if (tag === "<internal>") depth += 1;
    else if (tag === "</internal>") depth = Math.max(0, depth - 1);
    else if (depth === 0) shown += part;
  }
  return shown.trim();
}
