import { getBinaryNodeChildren } from "@whiskeysockets/baileys";
import type { BinaryNode } from "@whiskeysockets/baileys";

import type { Connection } from "./connection.ts";
import { QueryRefused } from "./group-queries.ts";
import type { GroupQueries } from "./group-queries.ts";
import { answerKeyQuery, answerUserQuery } from "./key-queries.ts";
import type { Pairing } from "./pairing.ts";
import type { Companion } from "./person.ts";
import { attribute, childOf, firstChild, serverJid, stanza } from "./stanza.ts";
import type { World } from "./world.ts";

const privacyCategories = ["readreceipts", "last", "profile", "status", "groupadd", "online"];

/** Context for answering queries. */
export interface QueryOptions {
  readonly world: World;
  readonly groups: GroupQueries;
  readonly pairing: Pairing;
  readonly mediaHost: string;
  /** The account does not want this client anymore. */
  readonly unlink: (companion: Companion) => void;
}

/** Answers the queries of clients, one family by one. What is not known gets an empty answer, as clients expect. */
export class Queries {
  readonly #options: QueryOptions;

  constructor(options: QueryOptions) {
    this.#options = options;
  }

  answer(connection: Connection, query: BinaryNode): void {
    const reply = { from: query.attrs["to"] ?? serverJid, id: attribute(query, "id") };
    try {
      const content = this.#contentFor(connection, query);
      connection.send(stanza("iq", { ...reply, type: "result" }, content.length > 0 ? content : undefined));
    } catch (error) {
      if (!(error instanceof QueryRefused)) throw error;
      if (error.isMute) return;
      const refusal = stanza("error", { code: String(error.code), text: error.message });
      connection.send(stanza("iq", { ...reply, type: "error" }, [refusal]));
    }
  }

  #contentFor(connection: Connection, query: BinaryNode): BinaryNode[] {
    if (query.attrs["xmlns"] === "md") return this.#deviceContent(connection, query);
    const { companion } = connection;
    if (!companion) throw new QueryRefused(401, "not-authorized");
    switch (attribute(query, "xmlns")) {
      case "encrypt":
        return answerKeyQuery(this.#options.world, companion, query);
      case "usync":
        return answerUserQuery(this.#options.world, query);
      case "w:g2":
        return this.#options.groups.answer(companion.person, query);
      case "w:profile:picture":
        throw new QueryRefused(404, "item-not-found");
      default:
        return this.#fixedContent(query);
    }
  }

  #deviceContent(connection: Connection, query: BinaryNode): BinaryNode[] {
    const request = firstChild(query);
    if (request?.tag === "link_code_companion_reg") return this.#options.pairing.answerLinkCode(connection, request);
    if (request?.tag === "remove-companion-device" && connection.companion) this.#options.unlink(connection.companion);
    return [];
  }

  /** Answers that do not depend on anything. */
  #fixedContent(query: BinaryNode): BinaryNode[] {
    switch (attribute(query, "xmlns")) {
      case "w:m": {
        const host = stanza("host", { hostname: this.#options.mediaHost, maxContentLengthBytes: "104857600" });
        const terms = { auth: "media-token", ttl: "3600", auth_ttl: "3600", max_buckets: "12" };
        return [stanza("media_conn", terms, [host])];
      }
      case "abt":
        return [stanza("props", { protocol: "1", ab_key: "k", hash: "h1", refresh: "86400" }, [])];
      case "blocklist":
        return [stanza("list", {}, [])];
      case "privacy": {
        const categories = privacyCategories.map((name) => stanza("category", { name, value: "all" }));
        return query.attrs["type"] === "get" ? [stanza("privacy", {}, categories)] : [];
      }
      case "w:sync:app:state": {
        const collections = getBinaryNodeChildren(childOf(query, "sync"), "collection");
        return [stanza("sync", {}, collections.map(unchanged))];
      }
      case "w:mex":
        return [stanza("result", {}, Buffer.from('{"data":{}}'))];
      default:
        return [];
    }
  }
}

function unchanged({ attrs }: BinaryNode): BinaryNode {
  return stanza("collection", { name: attrs["name"], version: attrs["version"], type: "result" });
}
