import type { SearchSettings } from "../../../domain/settings/web.ts";

/** One thing that was found. All of it is hostile. */
export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** What somebody is asked with. */
export interface SearchRequest {
  readonly url: URL;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** Somebody who can be asked to search the web. */
export interface SearchProvider {
  /** Where its vendor has it; undefined: wherever the operator has put it. */
  readonly baseUrl: string | undefined;
  /** Results that it gives at once, at most. */
  readonly most: number;
  readonly request: (query: string, count: number, place: SearchPlace) => SearchRequest;
  /** What it answered, as JSON; undefined: it answers with a page, which the agent reads. */
  readonly results?: (answer: unknown) => readonly SearchResult[];
}

/** Where it is asked, and with what key. */
export type SearchPlace = Pick<SearchSettings, "apiKey"> & { readonly baseUrl: string };

/** An address below the base, which may have a path of its own. */
export function below(baseUrl: string, path: string, query: Readonly<Record<string, string>> = {}): URL {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}${path}`;
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
