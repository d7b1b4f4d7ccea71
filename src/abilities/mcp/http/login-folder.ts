import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

import * as z from "zod";

import { AppError, nothingIfMissing } from "../../../lib/app-error.ts";
import { writeWhole } from "../../../lib/files/guarded-change.ts";

const text = z.string().min(1).max(16_384);

const login = z.strictObject({
  version: z.literal(1),
  /** Address that the tokens are for; another address under the same name never gets them. */
  url: text,
  /** Client registration at the issuer. */
  client: z.looseObject({ client_id: text, client_secret: text.optional() }).optional(),
  /** Redirect address; undefined when no person is needed. */
  redirectUrl: text.optional(),
  /** A PEM text that we identify ourselves with, instead of a secret. */
  key: z.strictObject({ pem: text, algorithm: z.string().max(16) }).optional(),
  /** Tokens; absent when a login is required and missing. */
  tokens: z
    .looseObject({ access_token: text, token_type: text, refresh_token: text.optional(), scope: z.string().optional() })
    .optional(),
});

/** Known facts about the login at a server. Secret. */
export type McpLogin = z.output<typeof login>;

/** Storage of a login. */
export interface LoginStore {
  readonly read: () => Promise<McpLogin | undefined>;
  readonly write: (login: McpLogin) => Promise<void>;
}

/** Logins at MCP servers: a file each in a folder of the home, readable by the owner only. */
export class LoginFolder {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** For the server of this name, as long as it has this address. */
  of(name: string, url: string): LoginStore {
    return {
      read: async () => {
        const found = await this.#read(name);
        return found?.url === url ? found : undefined;
      },
      write: async (content) => this.#write(name, content),
    };
  }

  async remove(name: string): Promise<void> {
    await rm(this.#fileOf(name), { force: true });
  }

  async #read(name: string): Promise<McpLogin | undefined> {
    const file = this.#fileOf(name);
    const found = await readFile(file, "utf8").catch(nothingIfMissing);
    if (found === undefined) return undefined;
    try {
      return login.parse(JSON.parse(found));
    } catch {
      // What the parser says of it would hold parts of it.
      throw new AppError("config_invalid", `${file} does not hold a login.`, {
        fix: `Remove it, then: crabpot mcp login ${name}`,
      });
    }
  }

  async #write(name: string, content: McpLogin): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await writeWhole(this.#fileOf(name), `${JSON.stringify(login.parse(content), undefined, 2)}\n`);
  }

  #fileOf(name: string): string {
    if (!/^[a-z0-9_-]{1,64}$/.test(name))
      throw new AppError("bad_input", `"${name}" is not the name of an MCP server.`);
    return join(this.#folder, `${name}.json`);
  }
}

/** In-memory storage for an unfinished login. */
export function draftLogin(begin?: McpLogin): LoginStore {
  let held = begin;
  return {
    read: async () => held,
    write: async (content) => {
      held = content;
    },
  };
}
