/** What a text from outside says as JSON; undefined, which no JSON says, when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
