/** A number of tokens as vendors write it. */
const number = String.raw`(\d[\d,_]{2,10})`;

/**
 * Around the window in the words of those who say how large it is: Anthropic, OpenAI and many after it, vLLM, SGLang,
 * llama.cpp, xAI, Mistral, Gemini, Kimi, Qwen, TGI, LM Studio, Cerebras, Groq.
 */
const sayings: readonly RegExp[] = [
  `maximum (?:context|prompt) length (?:is|of) (?:only )?${number}`,
  `tokens > ${number}`,
  `exceed context limit: \\d+ \\+ \\d+ > ${number}`,
  `with ${number} maximum context length`,
  `context (?:length|size|window|limit) (?:of|is) (?:only )?${number}`,
  `context (?:length|size|window) \\(${number}`,
  `tokens allowed \\(${number}`,
  `token limit: ?${number}`,
  `input length should be \\[\\d+, ?${number}`,
  `must be <= ?${number}`,
  `limit is ${number}`,
  `: limit ${number}, requested`,
].map((saying) => new RegExp(saying, "i"));

/** Window in tokens that a refusal of a too long prompt names; undefined when it names none. */
export function windowIn(refusal: string): number | undefined {
  const said = sayings.map((saying) => saying.exec(refusal)?.[1]).find((found) => found !== undefined);
  return said === undefined ? undefined : Number(said.replaceAll(/[,_]/g, ""));
}
