/** Which pages of the web may be fetched: any that is public, only those at listed places, or none. */
export const webReaches = ["public", "allowlist", "off"] as const;

/** Supported search providers. */
export const searchProviders = ["searxng", "brave", "tavily", "exa", "serper", "duckduckgo"] as const;

export type SearchProviderName = (typeof searchProviders)[number];

/** The search provider of this home. */
export interface SearchSettings {
  readonly provider: SearchProviderName;
  /** Address that replaces the vendor's; may be private. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** A group's web access. */
export interface GroupWeb {
  readonly fetch: (typeof webReaches)[number];
  /** `host:port` that may be fetched from whatever address they have, and whatever port it is. */
  readonly allow: readonly string[];
  /** Undefined: it cannot search. */
  readonly search: SearchSettings | undefined;
  /** Pages and searches in a day (UTC), at most. */
  readonly fetchesPerDay: number;
  readonly searchesPerDay: number;
}

/** Tools for the web that a group may be offered. */
export interface WebAbilities {
  readonly fetches: boolean;
  readonly searches: boolean;
}

/** Lists what a group can do on the web. */
export function webAbilities({ fetch, search }: Pick<GroupWeb, "fetch" | "search">): WebAbilities {
  return { fetches: fetch !== "off", searches: search !== undefined };
}

/** The response of an address. Its content is hostile. */
export interface FetchedPage {
  /** Final address, after redirects. */
  readonly url: string;
  readonly status: number;
  readonly content: Uint8Array;
  /** By its bytes. */
  readonly mimeType: string;
  readonly extension: string;
  readonly kind: "html" | "text" | "image" | "file";
  /** The server's content type, where the bytes say something else. */
  readonly claimed?: string | undefined;
  readonly charset?: string | undefined;
  /** There was more. */
  readonly isCut: boolean;
}

/** Kinds of web use, counted separately. */
export type WebUse = "fetch" | "search";
