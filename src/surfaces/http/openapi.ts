import * as z from "zod";

import type { AnyOperation } from "../../operations/definition/define-operation.ts";
import { loadOperations } from "../operations.ts";
import { restRouteOf, type RestRoute } from "./rest-route.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/** Describes every operation with a REST path as an OpenAPI document (https://spec.openapis.org/oas/v3.1.0). */
export async function describeOperations(version: string): Promise<object> {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of (await loadOperations()) as readonly AnyOperation[]) {
    const route = restRouteOf(operation);
    if (route) (paths[`/v1${route.path}`] ??= {})[route.method.toLowerCase()] = describeOperation(operation, route);
  }
  return {
    openapi: "3.1.0",
    info: { title: "crabpot", version, description: "The operations of a crabpot host." },
    security: [{ bearer: [] }],
    paths,
    components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
  };
}

function describeOperation(operation: AnyOperation, { method, path, status }: RestRoute): object {
  const { name, summary, input, output, may, listAs, restSets = {} } = operation;
  const { properties = {}, required = [] } = toSchema(input, "input") as {
    readonly properties?: Record<string, JsonSchema>;
    readonly required?: readonly string[];
  };
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = ""]) => parameter);
  const others = Object.keys(properties).filter((parameter) => !inPath.includes(parameter) && !(parameter in restSets));
  const hasBody = method !== "GET" && method !== "DELETE" && others.length > 0;
  const describe = (parameter: string, place: "path" | "query") => ({
    name: parameter,
    in: place,
    required: place === "path" || required.includes(parameter),
    schema: properties[parameter] ?? {},
  });
  const answer = toSchema(output, "output");
  const body = listAs === undefined ? answer : { type: "object", properties: { [listAs]: answer }, required: [listAs] };
  return {
    operationId: camelCase(name),
    summary,
    "x-scope": may.scope,
    parameters: [
      ...inPath.map((parameter) => describe(parameter, "path")),
      ...(hasBody ? [] : others.map((parameter) => describe(parameter, "query"))),
    ],
    ...(hasBody && {
      requestBody: {
        required: true,
        content: { "application/json": { schema: bodySchema(properties, required, others) } },
      },
    }),
    responses: {
      [status]: {
        description: summary,
        content: { [operation.follow ? "text/event-stream" : "application/json"]: { schema: body } },
      },
      default: { description: "A refusal", content: { "application/json": { schema: refusal } } },
    },
  };
}

const refusal = {
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: { code: { type: "string" }, message: { type: "string" }, path: { type: "string" } },
      required: ["code", "message"],
    },
  },
  required: ["error"],
};

function bodySchema(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
  names: readonly string[],
): JsonSchema {
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, properties[name] ?? {}])),
    required: names.filter((name) => required.includes(name)),
    additionalProperties: false,
  };
}

function toSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return described;
}

/** `tasks.pause` → `tasksPause`. */
function camelCase(name: string): string {
  return name.replaceAll(/\.(\w)/g, (_, letter: string) => letter.toUpperCase());
}
