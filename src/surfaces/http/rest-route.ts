import type { AnyOperation } from "../../operations/define-operation.ts";

/** How an operation is reached over HTTP. */
export interface RestRoute {
  readonly method: string;
  /** Below `/v1`, with parameters in braces. */
  readonly path: string;
  /** Of an answer that is no refusal. */
  readonly status: 200 | 201;
}

/** The REST path of an operation; undefined: it has none. */
export function restRouteOf({ name, rest }: Pick<AnyOperation, "name" | "rest">): RestRoute | undefined {
  const [method, path] = rest?.split(" ") ?? [];
  if (method === undefined || path === undefined) return undefined;
  return { method, path, status: name.endsWith(".add") ? 201 : 200 };
}
