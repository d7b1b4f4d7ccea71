/** A server's refusal. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
}

export type Json = Readonly<Record<string, unknown>>;

/** Looks at a request as a vendor's server does; undefined: it is taken. */
export type Refuse = (body: Json) => Refusal | undefined;

class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** Ends the look at a request, unless what must hold does. */
export function demand(holds: boolean, message: string, status = 400): asserts holds {
  if (!holds) throw new Refused({ status, message });
}

/** Makes a look out of demands. */
export function refuseBy(look: (body: Json) => void): Refuse {
  return (body) => {
    try {
      look(body);
      return undefined;
    } catch (error) {
      if (error instanceof Refused) return error.refusal;
      throw error;
    }
  };
}

/** Only these keys. */
export function demandKeys(value: Json, keys: readonly string[], say: (key: string) => string): void {
  for (const key of Object.keys(value)) demand(keys.includes(key), say(key));
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A list of objects under this key; none where there is nothing. */
export function listOf(value: Json, key: string): readonly Json[] {
  const list = value[key] ?? [];
  demand(Array.isArray(list) && list.every(isObject), `${key}: expected a list of objects`);
  return list;
}

/** Text with something in it that is well formed. */
export function demandText(value: unknown, at: string): asserts value is string {
  demand(typeof value === "string" && value.trim() !== "", `${at}: text content must not be empty`);
  demand(value.isWellFormed(), `${at}: The request body is not valid JSON: lone surrogate`);
}

const mimeTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];

export function demandMimeType(type: unknown, at: string): void {
  demand(mimeTypes.includes(String(type)), `${at}: unsupported image format ${String(type)}`);
}

/** An image as the formats of OpenAI take it. */
export function demandDataUrl(url: unknown, at: string): void {
  const [, type, data] = /^data:([^;]+);base64,([A-Za-z0-9+/]+=*)$/.exec(String(url)) ?? [];
  demand(data !== undefined, `${at}: Invalid image_url`);
  demandMimeType(type, at);
}

/** A JSON schema of a tool's input, or of nothing. */
export function demandObjectSchema(schema: unknown, at: string): void {
  demand(
    isObject(schema) && schema["type"] === "object",
    `Invalid schema for ${at}: schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf' at the top level`,
  );
}
