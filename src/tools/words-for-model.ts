import { AppError, type ErrorCode } from "../lib/app-error.ts";
import { ToolError } from "../protocol/tools.ts";

type Methods = Readonly<Record<string, (...given: never[]) => Promise<unknown>>>;

/** Codes of errors that the model can do something about. */
const tellable: readonly ErrorCode[] = ["bad_input", "conflict", "not_found"];

/** The same port, which tells the model what the host refuses, and nothing of what is wrong with the host. */
export function inWordsForModel<Port>(port: Port): Port {
  const told = Object.entries(port as Methods).map(([name, method]) => [
    name,
    async (...given: never[]) => {
      try {
        return await method(...given);
      } catch (error) {
        throw toToolError(error);
      }
    },
  ]);
  return Object.fromEntries(told) as Port;
}

/** An error in words for the model, where it can do something about it; else the error itself. */
export function toToolError(error: unknown, codes = tellable): unknown {
  if (!(error instanceof AppError) || !codes.includes(error.code)) return error;
  const words = [error.message, error.fix && `Fix: ${error.fix}.`].filter(Boolean).join(" ");
  return new ToolError(words, { cause: error });
}
