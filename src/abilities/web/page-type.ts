import { originalTypes } from "../../domain/chats/part.ts";
import type { FetchedPage } from "../../domain/settings/web.ts";
import { sniffedBytes, sniffFileType } from "../../lib/files/file-type.ts";

/** Type of a page by its bytes, and the server's claim when different. */
export type PageType = Pick<FetchedPage, "kind" | "mimeType" | "extension" | "claimed" | "charset">;

/** Kinds of text that a server may call by name, with how their files end. */
const texts: Readonly<Record<string, string>> = {
  "text/plain": "txt",
  "text/markdown": "md",
  "text/csv": "csv",
  "text/css": "css",
  "text/xml": "xml",
  "application/xml": "xml",
  "application/rss+xml": "xml",
  "application/atom+xml": "xml",
  "image/svg+xml": "svg",
  "application/json": "json",
  "application/ld+json": "json",
  "application/x-ndjson": "ndjson",
  "application/javascript": "js",
  "text/javascript": "js",
  "application/yaml": "yaml",
  "text/yaml": "yaml",
  "text/calendar": "ics",
};

const htmlTypes: ReadonlySet<string> = new Set(["text/html", "application/xhtml+xml"]);
const htmlBeginning =
  /^\s*(?:<!--(?:(?!-->)[^])*-->\s*|<\?xml[^>]*>\s*)*<(?:!doctype\s+html|html|head|body|title|meta|script|h1|div|p|table)[\s>]/i;

/** Judges by the first bytes; the server is believed only where they leave it open. */
export function pageTypeOf(content: Uint8Array, header: string | null): PageType {
  const head = Buffer.from(content.subarray(0, sniffedBytes));
  const { type: said, charset } = readHeader(header);
  const found = sniffFileType(head);
  const isKnown = found.mimeType !== "application/octet-stream" && found.mimeType !== "text/plain";
  if (isKnown) {
    const { mimeType, extension } = found;
    const kind = originalTypes.has(mimeType) ? "image" : "file";
    return { kind, mimeType, extension, claimed: differs(said, mimeType) };
  }
  if (!isText(head, charset)) return { kind: "file", ...found, claimed: differs(said, found.mimeType) };
  return { ...textType(head, said, charset), charset };
}

function textType(
  head: Buffer,
  said: string,
  charset: string | undefined,
): Pick<PageType, "kind" | "mimeType" | "extension" | "claimed"> {
  const isHtml = htmlBeginning.test(asText(head, charset));
  // Text that shows how HTML is written is what the server says that it is.
  if (htmlTypes.has(said) || (isHtml && said !== "text/plain" && !Object.hasOwn(texts, said)))
    return { kind: "html", mimeType: "text/html", extension: "html", claimed: differs(said, "text/html") };
  const extension = Object.hasOwn(texts, said) ? texts[said] : undefined;
  if (extension !== undefined) return { kind: "text", mimeType: said, extension };
  const isOther = !/^(text\/.*|application\/octet-stream|.*\+(json|xml))$/.test(said);
  return {
    kind: "text",
    mimeType: "text/plain",
    extension: "txt",
    claimed: isOther ? differs(said, "text/plain") : undefined,
  };
}

/** UTF-16 holds zeros and is text all the same, if it says so at its beginning or the server does. */
function isText(head: Buffer, charset: string | undefined): boolean {
  return utf16Of(head, charset) !== undefined || !head.some((byte) => byte < 9 || (byte > 13 && byte < 27));
}

function utf16Of(head: Buffer, charset = ""): "le" | "be" | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return "le";
  if (head[0] === 0xfe && head[1] === 0xff) return "be";
  const [, end] = /^utf-16(le|be)?$/i.exec(charset) ?? [];
  // Such a server may say so of what it is not: the characters that begin a page are zeros in their other half.
  return end !== undefined && head.includes(0) ? (end.toLowerCase() as "le" | "be") : undefined;
}

function asText(head: Buffer, charset: string | undefined): string {
  const end = utf16Of(head, charset);
  if (end === undefined) return head.toString("latin1").replace(/^\u00ef\u00bb\u00bf/, "");
  return new TextDecoder(`utf-16${end}`).decode(head);
}

/** The server's claim, if it names another type. */
function differs(said: string, found: string): string | undefined {
  if (said === "" || said === found || said === "application/octet-stream") return undefined;
  const isArchive = found === "application/zip" && /openxmlformats|opendocument|epub|java-archive|zip/.test(said);
  const isSameFamily = /^(audio|video)\//.test(found) && said.split("/")[0] === found.split("/")[0];
  const isXhtml = found === "text/html" && htmlTypes.has(said);
  return isArchive || isSameFamily || isXhtml ? undefined : said;
}

/** `text/html; charset=GBK` → its parts, as far as they can be such. */
function readHeader(header: string | null): { readonly type: string; readonly charset: string | undefined } {
  const [type = ""] = (header ?? "").toLowerCase().split(";");
  const [, charset] = /;\s*charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(header ?? "") ?? [];
  return { type: /^[\w.+-]{1,80}\/[\w.+-]{1,80}$/.test(type.trim()) ? type.trim() : "", charset };
}
