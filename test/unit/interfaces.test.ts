import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";
import { parseAst } from "vitest/node";

const checkout = resolve(import.meta.dirname, "../..");

/** Maximum function members of one interface. */
const most = 12;

interface SyntaxNode {
  readonly type: string;
  readonly [key: string]: unknown;
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** Returns the nodes that this one has directly. */
function childrenOf(node: SyntaxNode): SyntaxNode[] {
  return Object.values(node).flatMap((value) => (Array.isArray(value) ? value : [value]).filter(isNode));
}

function isFunctionMember(member: SyntaxNode): boolean {
  if (member.type === "TSMethodSignature") return true;
  if (member.type !== "TSPropertySignature") return false;
  const [annotation] = childrenOf(member).filter(({ type }) => type === "TSTypeAnnotation");
  return annotation !== undefined && childrenOf(annotation).some(isFunctionType);
}

/** A function, also one that may be absent. */
function isFunctionType(node: SyntaxNode): boolean {
  return node.type === "TSFunctionType" || (node.type === "TSUnionType" && childrenOf(node).some(isFunctionType));
}

/** Returns interfaces, and types that are written like one, with the number of their function members. */
function interfacesIn(node: SyntaxNode): { readonly name: string; readonly functions: number }[] {
  const [id, ...others] = childrenOf(node);
  const body = others.find(({ type }) => type === "TSInterfaceBody" || type === "TSTypeLiteral");
  const isDeclared = node.type === "TSInterfaceDeclaration" || node.type === "TSTypeAliasDeclaration";
  if (!isDeclared || !id || !body) return childrenOf(node).flatMap(interfacesIn);
  return [{ name: String(id["name"]), functions: childrenOf(body).filter(isFunctionMember).length }];
}

/** A declaration from its first line to the brace that ends it, as the formatter sets both. */
const declaration = /^(?:export )?(?:interface \w|type \w+(?:<.*>)? = \{$)[^]*?^\}/gm;

async function readInterfaces(): Promise<ReturnType<typeof interfacesIn>> {
  const found: ReturnType<typeof interfacesIn> = [];
  for await (const file of glob("src/**/*.ts", { cwd: checkout })) {
    for (const [text] of readFileSync(join(checkout, file), "utf8").matchAll(declaration)) {
      // Only what comes near to being too large is parsed: that takes a while.
      if (text.split("(").length > most / 2)
        found.push(...interfacesIn(parseAst(text, { lang: "ts" }, file) as unknown as SyntaxNode));
    }
  }
  return found;
}

test(`no interface has more than ${most} function members`, async () => {
  const interfaces = await readInterfaces();
  const tooLarge = interfaces.filter(({ functions }) => functions > most);

  expect(interfaces.length).toBeGreaterThan(10);
  expect(tooLarge).toEqual([]);
});
