/** Result of decoding. */
export interface Decoded {
  readonly text: string;
  readonly charset: string;
}

/** Bytes within which a page may declare its charset. */
const declaredWithin = 2_048;

/**
 * Decodes bytes by the best evidence: a byte order mark, the server's charset, the page's own, valid UTF-8, or the
 * usual legacy charset.
 */
export function decode(bytes: Uint8Array, fromServer: string | undefined): Decoded {
  const charset =
    byMark(bytes) ?? known(fromServer) ?? known(declaredIn(bytes)) ?? (isUtf8(bytes) ? "utf-8" : "windows-1252");
  return { text: new TextDecoder(charset).decode(bytes), charset };
}

function byMark([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xff && second === 0xfe ? "utf-16le" : undefined;
}

/** Standard name of a charset; undefined when unsupported. */
function known(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  try {
    const { encoding } = new TextDecoder(label);
    return encoding;
  } catch {
    return undefined;
  }
}

/** Charset declared in the page. A readable declaration cannot be UTF-16, whatever it says. */
function declaredIn(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, declaredWithin)).toString("latin1");
  const [, inMeta] = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w-]{1,40})/i.exec(head) ?? [];
  const [, inXml] = /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w-]{1,40})["']/i.exec(head) ?? [];
  const declared = inMeta ?? inXml;
  return declared !== undefined && /^utf-?16/i.test(declared) ? "utf-8" : declared;
}

/** The last character of something long may have been cut. */
function isUtf8(bytes: Uint8Array): boolean {
  const cuts = bytes.length > 1_000 ? [0, 1, 2, 3] : [0];
  return cuts.some((cut) => isValid(bytes.subarray(0, bytes.length - cut)));
}

function isValid(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
