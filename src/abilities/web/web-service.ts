import { LRUCache } from "lru-cache";

import { type FetchedPage, type GroupWeb, webAbilities, type WebUse } from "../../domain/settings/web.ts";
import type { Publish } from "../../domain/events/event.ts";
import type { ResolveHost } from "../../lib/http/address-guard.ts";
import { ToolError } from "../../protocol/tools.ts";
import { type Answer, fetchBytes } from "./fetch-bytes.ts";
import { parseAddress, withoutQuery } from "./page-address.ts";
import { pageTypeOf } from "./page-type.ts";
import { type Sourced, sourced } from "../../domain/rights/sourced.ts";
import { searchAddress, searchWeb } from "./search/search-web.ts";
import type { WebPort } from "./tools/web-port.ts";

/** Pages and searches of one turn, and those of one group at the same time. */
const perTurn: Readonly<Record<WebUse, number>> = { fetch: 40, search: 20 };
const atOnce = 3;
/** Maximum parallel fetches of all groups: each may hold 10 MB. */
const atOnceInAll = 8;

/** The turn of a call. */
export interface WebTurn {
  readonly group: string;
  readonly session: string;
  readonly turn: string;
}

interface WebCall {
  readonly place: WebTurn;
  readonly web: GroupWeb;
  readonly signal: AbortSignal;
}

export interface WebServiceOptions {
  /** Current web access of the group. */
  readonly webOf: (group: string) => GroupWeb;
  readonly publish: Publish<"web.asked" | "web.answered" | "web.refused">;
  /** Number of a group's web uses since this time, also before a restart. */
  readonly countSince: (group: string, use: WebUse, since: number) => Promise<number>;
  readonly now: () => number;
  /** Name resolution; the system's by default. */
  readonly resolve?: ResolveHost | undefined;
}

interface Day {
  readonly day: string;
  used: number;
}

const acceptedTypes = "text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,*/*;q=0.8";

/** Goes to the web for agents: within limits, and on record before anything is asked. */
export class WebService implements AsyncDisposable {
  readonly #options: WebServiceOptions;
  /** By group and use. */
  readonly #days = new Map<string, Promise<Day>>();
  /** By turn and use. */
  readonly #turns = new LRUCache<string, number>({ max: 512 });
  /** Calls under way, by group. */
  readonly #open = new Map<string, number>();

  constructor(options: WebServiceOptions) {
    this.#options = options;
  }

  /** The web for a call of this turn, as its group may use it. */
  portFor(place: WebTurn, signal: AbortSignal): WebPort {
    const web = this.#options.webOf(place.group);
    const { fetches, searches } = webAbilities(web);
    const call = { place, web, signal };
    return {
      fetch: fetches ? (url) => this.fetch(url, call) : undefined,
      search: searches ? (query, count) => this.search({ query, count }, call) : undefined,
    };
  }

  /** Fetches a page. Throws ToolError with why there is none. */
  async fetch(address: string, call: WebCall): Promise<FetchedPage> {
    const url = parseAddress(address);
    const { fetch, allow } = call.web;
    const shown = withoutQuery(url);
    if (fetch === "off") throw new ToolError("This group may not fetch anything of the web.");
    const { resolve } = this.#options;
    const answer = await this.#ask("fetch", { call, shown, queryChars: url.search.length }, () =>
      fetchBytes(
        url,
        { headers: { accept: acceptedTypes }, signal: call.signal },
        { allowPrivate: allow, onlyListed: fetch === "allowlist", resolve },
      ).then((got) => ({ ...got, answer: got })),
    );
    const { url: final, status, bytes, headers, isCut } = answer;
    const type = pageTypeOf(bytes, headers.get("content-type"));
    if (isCut && type.kind !== "html" && type.kind !== "text")
      throw new ToolError(`${shown} is larger than the 10 MB that are fetched, and a part of it is of no use.`);
    return { url: final.href, status, content: bytes, isCut, ...type };
  }

  /** Searches. Throws ToolError with why nothing came of it. */
  async search(
    wanted: { readonly query: string; readonly count: number },
    call: WebCall,
  ): Promise<Sourced | FetchedPage> {
    const { search } = call.web;
    if (search === undefined) throw new ToolError("This group cannot search the web.");
    const { resolve } = this.#options;
    const about = { call, shown: withoutQuery(searchAddress(search)), queryChars: wanted.query.length };
    const { found } = await this.#ask("search", about, () =>
      searchWeb(wanted, search, { signal: call.signal, resolve }),
    );
    return typeof found === "string" ? sourced(found, ["web"]) : found;
  }

  /** Calls end with their turns, before this. */
  async [Symbol.asyncDispose](): Promise<void> {}

  /** Counts, records, requests, and records the outcome. */
  async #ask<Result extends { readonly answer: Answer; readonly results?: number | undefined }>(
    use: WebUse,
    { call, shown, queryChars }: { readonly call: WebCall; readonly shown: string; readonly queryChars: number },
    ask: () => Promise<Result>,
  ): Promise<Result> {
    const { publish, now } = this.#options;
    const { place, signal } = call;
    const tell = { ...place, actor: "agent" } as const;
    const since = now();
    try {
      await using stack = new AsyncDisposableStack();
      stack.use(await this.#take(use, call));
      signal.throwIfAborted();
      await publish({ type: "web.asked", ...tell, data: { use, address: shown, queryChars } });
      const result = await ask();
      const { url, status, bytes, sha256, isCut, headers } = result.answer;
      const mimeType = pageTypeOf(bytes, headers.get("content-type")).mimeType;
      const facts = { status, mimeType, bytes: bytes.length, isCut, sha256, ms: now() - since };
      const data = { use, address: withoutQuery(url), ...facts, results: result.results };
      await publish({ type: "web.answered", ...tell, data });
      return result;
    } catch (error) {
      const reason = error instanceof ToolError ? error.message : signal.aborted ? "cancelled" : "a fault of the host";
      const data = { use, address: shown, reason: reason.slice(0, 500), ms: now() - since };
      await publish({ type: "web.refused", ...tell, data });
      throw error;
    }
  }

  /** Throws ToolError where a limit is reached; disposing what it gives ends the call. */
  async #take(use: WebUse, { place: { group, turn }, web }: WebCall): Promise<Disposable> {
    const day = await this.#day(group, use);
    const key = `${turn} ${use}`;
    const inTurn = this.#turns.get(key) ?? 0;
    if (inTurn >= perTurn[use])
      throw new ToolError(`At most ${perTurn[use]} ${plural[use]} are possible in one turn. Work with what you have.`);
    const most = use === "fetch" ? web.fetchesPerDay : web.searchesPerDay;
    if (day.used >= most)
      throw new ToolError(`This group has had its ${most} ${plural[use]} of today (UTC). Work with what you have.`);
    const open = this.#open.get(group) ?? 0;
    const all = [...this.#open.values()].reduce((sum, count) => sum + count, 0);
    if (open >= atOnce || all >= atOnceInAll)
      throw new ToolError("Too much of the web is being fetched at the moment. Try again in a moment.");
    this.#turns.set(key, inTurn + 1);
    this.#open.set(group, open + 1);
    day.used += 1;
    return { [Symbol.dispose]: () => this.#ended(group) };
  }

  #ended(group: string): void {
    const open = (this.#open.get(group) ?? 1) - 1;
    if (open === 0) this.#open.delete(group);
    else this.#open.set(group, open);
  }

  /** Loads a day's uses from before a restart, once. */
  async #day(group: string, use: WebUse): Promise<Day> {
    const today = new Date(this.#options.now()).toISOString().slice(0, 10);
    const key = `${group} ${use}`;
    const known = this.#days.get(key);
    if (known && (await known).day === today) return known;
    const counted = this.#options.countSince(group, use, Date.parse(today));
    const made = counted.then((used): Day => ({ day: today, used }));
    made.catch(() => this.#days.delete(key));
    // Another call may have asked meanwhile.
    const current = this.#days.get(key);
    if (current !== known && current) return current;
    this.#days.set(key, made);
    return made;
  }
}

const plural: Readonly<Record<WebUse, string>> = { fetch: "pages", search: "searches" };
