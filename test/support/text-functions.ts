import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { type Function as FunctionNode, parseSync, type ParamPattern, type Statement } from "oxc-parser";

/** A parameter by its name, and its type as it is written. */
export interface TextParameter {
  readonly name: string;
  readonly type: string;
}

/** An exported function that is given text or bytes, and waits for nothing. */
export interface TextFunction {
  /** From the checkout. */
  readonly file: string;
  readonly name: string;
  /** Those that a call has to give. */
  readonly parameters: readonly TextParameter[];
}

type Callee = Pick<FunctionNode, "params" | "returnType" | "async">;

/** Types of which the text is the first value. */
const textTypes = /^(?:string|string \| undefined|Uint8Array|Buffer|readonly string\[\])$/;

/** Every exported function of a folder whose first parameter is text or bytes, and that returns no promise. */
export function textFunctions(checkout: string, folder: string): TextFunction[] {
  return globSync(`${folder}/**/*.ts`, { cwd: checkout })
    .toSorted()
    .flatMap((file) => functionsOf(file, readFileSync(join(checkout, file), "utf8")));
}

function functionsOf(file: string, source: string): TextFunction[] {
  const written = (node: { readonly start: number; readonly end: number } | null | undefined): string =>
    node ? source.slice(node.start, node.end).replaceAll(/\s+/g, " ") : "";
  return parseSync(file, source).program.body.flatMap((statement) =>
    exportedBy(statement).flatMap(({ name, callee }) => {
      const given = callee.params.map((parameter) => readParameter(parameter, written));
      const isLate = callee.async || written(callee.returnType).includes("Promise");
      if (isLate || !textTypes.test(given[0]?.type ?? "")) return [];
      const parameters = given.filter(({ isOptional }, place) => place === 0 || !isOptional);
      return [{ file, name, parameters: parameters.map(({ name: own, type }) => ({ name: own, type })) }];
    }),
  );
}

function exportedBy(statement: Statement): { readonly name: string; readonly callee: Callee }[] {
  if (statement.type !== "ExportNamedDeclaration" || !statement.declaration) return [];
  const { declaration } = statement;
  if (declaration.type === "FunctionDeclaration")
    return declaration.id ? [{ name: declaration.id.name, callee: declaration }] : [];
  if (declaration.type !== "VariableDeclaration") return [];
  return declaration.declarations.flatMap(({ id, init }) =>
    id.type === "Identifier" && init?.type === "ArrowFunctionExpression" ? [{ name: id.name, callee: init }] : [],
  );
}

function readParameter(
  parameter: ParamPattern,
  written: (node: { readonly start: number; readonly end: number } | null | undefined) => string,
): TextParameter & { readonly isOptional: boolean } {
  const isRest = parameter.type === "RestElement";
  const pattern = parameter.type === "AssignmentPattern" ? parameter.left : parameter;
  const named = pattern as typeof pattern & { readonly optional?: boolean; readonly typeAnnotation?: TypeAnnotation };
  return {
    name: pattern.type === "Identifier" ? pattern.name : "",
    type: written(named.typeAnnotation?.typeAnnotation),
    isOptional: isRest || named !== parameter || named.optional === true,
  };
}

interface TypeAnnotation {
  readonly typeAnnotation: { readonly start: number; readonly end: number };
}
