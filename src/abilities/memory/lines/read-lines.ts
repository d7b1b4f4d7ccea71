/** A memory of the largest size, with everything in it escaped. */
export const longestLine = 8 * 1024 * 1024;

/**
 * The lines of a stream, those together that arrived together. Of one that is too long, one character more than the
 * longest has comes.
 */
export async function* readLines(input: AsyncIterable<Buffer | string>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of input) {
    const [first = "", ...lines] = (typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true })).split(
      "\n",
    );
    if (rest.length <= longestLine) rest = cut(rest + first);
    const last = lines.pop();
    if (last === undefined) continue;
    yield [rest, ...lines.map(cut)];
    rest = cut(last);
  }
  if (rest !== "") yield [rest];
}

function cut(line: string): string {
  return line.length > longestLine ? line.slice(0, longestLine + 1) : line;
}
