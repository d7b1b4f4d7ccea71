import type { AnyOperation } from "../../operations/definition/define-operation.ts";

/** Route of an operation over HTTP. */
export interface RestRoute {
  readonly method: string;
  /** Below `/v1`, with parameters in braces. */
  readonly path: string;
  /** Status of a successful answer. */
  readonly status: 200 | 201;
}

/** REST route of an operation; undefined when it has none. */
export function restRouteOf({ name, rest }: Pick<AnyOperation, "name" | "rest">): RestRoute | undefined {
  const [method, path] = rest?.split(" ") ?? [];
  if (method === undefined || path === undefined) return undefined;
  return { method, path, status: name.endsWith(".add") ? 201 : 200 };
}
