import { randomBytes } from "node:crypto";

import { getBinaryNodeChild, getBinaryNodeChildBuffer, jidDecode } from "@whiskeysockets/baileys";
import type { BinaryNode } from "@whiskeysockets/baileys";

/** JID of the server. */
export const serverJid = "@s.whatsapp.net";

/** Naming of a group's members: opaque id or phone number. */
export type Addressing = "lid" | "pn";

/** Makes a stanza; attributes that are undefined are left out. */
export function stanza(
  tag: string,
  attributes: Readonly<Record<string, string | undefined>> = {},
  content?: BinaryNode["content"],
): BinaryNode {
  const attrs: BinaryNode["attrs"] = {};
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) attrs[name] = value;
  return content === undefined ? { tag, attrs } : { tag, attrs, content };
}

/** The first child, whatever it is called. */
export function firstChild(node: BinaryNode): BinaryNode | undefined {
  return Array.isArray(node.content) ? node.content[0] : undefined;
}

/** The child that the grammar demands. */
export function childOf(node: BinaryNode, tag: string): BinaryNode {
  const found = getBinaryNodeChild(node, tag);
  if (!found) throw new Error(`<${node.tag}> came without <${tag}>`);
  return found;
}

/** The bytes of a child that the grammar demands. */
export function bytesOf(node: BinaryNode, tag: string): Buffer {
  const found = getBinaryNodeChildBuffer(node, tag);
  if (!found) throw new Error(`<${node.tag}> came without the bytes of <${tag}>`);
  return Buffer.from(found);
}

/** The text of a stanza without children. */
export function textOf(node: BinaryNode | undefined): string {
  const content = node?.content;
  if (typeof content === "string") return content;
  return content instanceof Uint8Array ? Buffer.from(content).toString() : "";
}

/** The attribute that the grammar demands. */
export function attribute(node: BinaryNode, name: string): string {
  const value = node.attrs[name];
  if (value === undefined) throw new Error(`<${node.tag}> came without ${name}`);
  return value;
}

/** `15550000001:3@s.whatsapp.net` → `15550000001`. */
export function userOf(jid: string | undefined): string {
  return jidDecode(jid)?.user ?? "";
}

/** `15550000001:3@s.whatsapp.net` → 3; the phone itself is device 0. */
export function deviceOf(jid: string): number {
  return jidDecode(jid)?.device ?? 0;
}

/** Time as stanzas carry it. */
export function nowSeconds(): string {
  return String(Math.floor(Date.now() / 1000));
}

/** An id as phones make them. */
export function freshId(): string {
  return `3EB0${randomBytes(9).toString("hex").toUpperCase()}`;
}
