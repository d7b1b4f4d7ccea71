interface Server {
  /** Such as `https://api.openai.com/v1`, with or without slashes at its end. */
  readonly baseUrl: string;
  readonly apiKey: string;
}

interface PostOptions {
  /** A form as it is; anything else as JSON. */
  readonly body: FormData | Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** Until the whole answer is read. */
  readonly timeoutMs: number;
}

/**
 * Asks a server that speaks as OpenAI's do. The key goes to its address only: redirects are not followed. Rejects as
 * `fetch` does.
 */
export function postToServer(
  server: Server,
  path: string,
  { body, signal, timeoutMs }: PostOptions,
): Promise<Response> {
  const isForm = body instanceof FormData;
  return fetch(`${server.baseUrl.replace(/(?<!\/)\/+$/, "")}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.apiKey}`, ...(!isForm && { "content-type": "application/json" }) },
    body: isForm ? body : JSON.stringify(body),
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  });
}
