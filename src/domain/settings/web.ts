/** Which pages of the web may be fetched: any that is public, only those at listed places, or none. */
export const webReaches = ["public", "allowlist", "off"] as const;

/** Who can be asked to search the web. */
export const searchProviders = ["searxng", "brave", "tavily", "exa", "serper", "duckduckgo"] as const;

export type SearchProviderName = (typeof searchProviders)[number];

/** Who searches for this home. */
export interface SearchSettings {
  readonly provider: SearchProviderName;
  /** Where it is, instead of where its vendor has it; may be private. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** What a group has of the web. */
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

/** What a group can do on the web. */
export function webAbilities({ fetch, search }: Pick<GroupWeb, "fetch" | "search">): WebAbilities {
  return { fetches: fetch !== "off", searches: search !== undefined };
}

/** What came back for an address. What stands in it is hostile. */
export interface FetchedPage {
  /** Where it came from in the end. */
  readonly url: string;
  readonly status: number;
  readonly content: Uint8Array;
  /** By its bytes. */
  readonly mimeType: string;
  readonly extension: string;
  readonly kind: "html" | "text" | "image" | "file";
  /** What the server says that it is, where its bytes say something else. */
  readonly claimed?: string | undefined;
  readonly charset?: string | undefined;
  /** There was more. */
  readonly isCut: boolean;
}

/** What went to the web, or should have: pages and searches are counted apart. */
export type WebUse = "fetch" | "search";
