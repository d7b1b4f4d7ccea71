import { AppError } from "../../../lib/app-error.ts";

/** A memory of the largest size, with everything in it escaped. */
const longestLine = 8 * 1024 * 1024;

/** The lines of a stream, those together that arrived together. Throws AppError `too_large` for one that does not end. */
export async function* readLines(input: AsyncIterable<Buffer | string>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of input) {
    rest += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    if (rest.length > longestLine && !rest.includes("\n"))
      throw new AppError("too_large", `A line has more than ${longestLine} characters.`);
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    if (lines.length > 0) yield lines;
  }
  if (rest !== "") yield [rest];
}
