/**
 * For `schemaController` of fastify: zod checks all requests, so what compiles JSON schemas, a quarter of all code that
 * a start would load, is not loaded. A route with a `schema` fails when it is added.
 */
export const withoutSchemas = { compilersFactory: { buildValidator: refuse, buildSerializer: refuse } };

function refuse(): never {
  throw new Error("Routes have no JSON schema here: check what comes with zod.");
}
