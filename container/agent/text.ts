import { limits } from "../../src/protocol/limits.ts";

/** Bytes of unknown origin as text that JSON, chats and models take: invalid UTF-8 replaced, NUL removed. */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).replaceAll("\0", "");
}

/** Keeps beginning and end of a long text; `notice` says what is missing, given the count of characters cut. */
export function cutMiddle(text: string, maxChars: number, notice: (cutChars: number) => string): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  const cut = `${text.slice(0, half)}\n${notice(text.length - 2 * half)}\n${text.slice(-half)}`;
  return cut.toWellFormed();
}

/** Makes a tool result fit to cross the mailbox. */
export function fitToolOutput(text: string, maxChars: number = limits.toolOutputChars): string {
  return cutMiddle(text.replaceAll("\0", ""), maxChars, (chars) => `[… ${chars} characters cut …]`).toWellFormed();
}

/** Longer times as people say them: `40 s`, `12 min`, `3 h 5 min`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `1.2 s` */
export function formatSeconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}
