/**
 * The lines of a stream, those together that arrived together. Of one that has more characters than `longest`, one more
 * than that comes.
 */
export async function* readLines(
  input: AsyncIterable<Buffer | string>,
  longest: number = Infinity,
): AsyncGenerator<string[]> {
  const cut = (line: string): string => (line.length > longest ? line.slice(0, longest + 1) : line);
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of input) {
    const [first = "", ...lines] = (typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true })).split(
      "\n",
    );
    if (rest.length <= longest) rest = cut(rest + first);
    const last = lines.pop();
    if (last === undefined) continue;
    yield [rest, ...lines.map(cut)];
    rest = cut(last);
  }
  if (rest !== "") yield [rest];
}
