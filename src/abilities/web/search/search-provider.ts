import type { SearchSettings } from "../../../domain/settings/web.ts";

/** One thing that was found. All of it is hostile. */
export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** Search request. */
export interface SearchRequest {
  readonly url: URL;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** A provider of web search. */
export interface SearchProvider {
  /** The vendor's address; undefined: configured by the operator. */
  readonly baseUrl: string | undefined;
  /** Results that it gives at once, at most. */
  readonly most: number;
  readonly request: (query: string, count: number, place: SearchEndpoint) => SearchRequest;
  /** Parses a JSON answer; undefined when the answer is a page for the agent's reader. */
  readonly results?: (answer: unknown) => readonly SearchResult[];
}

/** Address and key of a provider. */
export type SearchEndpoint = Pick<SearchSettings, "apiKey"> & { readonly baseUrl: string };

/** Address below the base, which may have a path. */
export function below(baseUrl: string, path: string, query: Readonly<Record<string, string>> = {}): URL {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, "")}${path}`;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

/** A request that carries JSON. */
export function postJson(url: URL, headers: Readonly<Record<string, string>>, body: object): SearchRequest {
  return {
    url,
    method: "POST",
    headers: { ...headers, accept: "application/json", "content-type": "application/json" },
    body: JSON.stringify(body),
  };
}
