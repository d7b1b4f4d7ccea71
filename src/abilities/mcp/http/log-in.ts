import type { RemoteServer } from "../../../domain/sandbox/mcp-server.ts";
import { AppError, toError } from "../../../lib/app-error.ts";
import { visible } from "../../../lib/text/visible.ts";
import { rejectAt } from "../../../lib/time/reject-at.ts";
import { authorize, isOwnIssuer } from "./authorize.ts";
import { draftLogin, type LoginFolder, type LoginStore, type McpLogin } from "./login-folder.ts";
import { connectOverHttp, guardedFor, keyAuthentication } from "./open-http.ts";
import { RedirectListener } from "./redirect-listener.ts";
import { ServerLogin } from "./server-login.ts";

/** The registered client, when agreed in advance. */
export interface KnownClient {
  readonly id: string;
  readonly secret?: string | undefined;
  readonly key?: { readonly pem: string; readonly algorithm: string } | undefined;
}

export interface LogInOptions {
  readonly server: RemoteServer;
  readonly logins: LoginFolder;
  readonly version: string;
  readonly client?: KnownClient | undefined;
  /** Logs in as the client itself: no person takes part. */
  readonly isUnattended: boolean;
  readonly scope?: string | undefined;
  /** Port of the redirect; 0: any free one. */
  readonly port: number;
  /** Shows a person the address to open. */
  readonly show: (address: URL) => void;
  /** Resolves to the address that the browser reached, or its code, typed by a person. May never resolve. */
  readonly typed: (signal: AbortSignal) => Promise<string>;
  readonly signal: AbortSignal;
}

/** A server that is never content is not for people. */
const mostRounds = 3;

/**
 * Gets and keeps what a server wants to see. `not-needed`: it asks for nothing. Nothing is kept of a login that did not
 * succeed.
 */
export async function logIn(options: LogInOptions): Promise<"done" | "not-needed"> {
  const attempt: { login?: ServerLogin } = {};
  await using listener = await RedirectListener.open(
    options.port,
    (state) => attempt.login?.isOwnState(state) === true,
  );
  const redirectUrl = options.isUnattended ? undefined : listener.url;
  const place = draftLogin(beginning(options, redirectUrl));
  const round = await prepare(options, { place, redirectUrl });
  attempt.login = round.login;
  for (let tries = 0; tries < mostRounds; tries += 1) {
    const begun = round.begun;
    const failure = await tryOut(options, round.login);
    if (failure === undefined) return await keep(options, place);
    if (round.begun === begun) throw failure;
    await finish(options, round.login, listener);
  }
  throw new AppError(
    "unauthorized",
    `The MCP server ${options.server.name} still asks for a login after ${mostRounds} of them.`,
  );
}

interface Round {
  readonly login: ServerLogin;
  /** Number of logins begun. */
  begun: number;
}

function beginning({ server, client }: LogInOptions, redirectUrl: string | undefined): McpLogin {
  const { id, secret, key } = client ?? {};
  return {
    version: 1,
    url: server.url,
    ...(redirectUrl !== undefined && { redirectUrl }),
    ...(id !== undefined && { client: { client_id: id, ...(secret !== undefined && { client_secret: secret }) } }),
    ...(key && { key }),
  };
}

async function prepare(
  { server, scope, show }: LogInOptions,
  { place, redirectUrl }: { readonly place: LoginStore; readonly redirectUrl: string | undefined },
): Promise<Round> {
  const known = await place.read();
  const login = new ServerLogin({
    url: server.url,
    place,
    redirectUrl,
    scope,
    authenticate: known && (await keyAuthentication(known)),
    begin: async (address) => {
      round.begun += 1;
      show(address);
    },
  });
  const round: Round = { login, begun: 0 };
  return round;
}

/** Greets the server and looks at its tools: some want a login for the first, some only for the second. */
async function tryOut(options: LogInOptions, login: ServerLogin, ownIssuer = false): Promise<Error | undefined> {
  const { server, logins, signal } = options;
  try {
    const ports = { logins, provider: login, isOwnIssuer: ownIssuer };
    await using connection = await connectOverHttp(server, ports, options);
    await connection.listTools(signal);
    return undefined;
  } catch (error) {
    if (!ownIssuer && (await isOwnIssuer(error, server.url))) return tryOut(options, login, true);
    return toError(error);
  }
}

async function finish(options: LogInOptions, login: ServerLogin, listener: RedirectListener): Promise<void> {
  const { server, signal } = options;
  const over = new AbortController();
  const patience = AbortSignal.any([signal, over.signal]);
  try {
    const typed = options.typed(patience).then((text) => readTyped(text, login));
    const answer = await Promise.race([listener.came, typed, rejectAt(signal)]);
    const code = answer.get("code");
    if (code === null) throw refusal(answer);
    using guarded = guardedFor(server);
    const iss = answer.get("iss");
    const known = { serverUrl: server.url, fetchFn: guarded.fetch, ...(iss !== null && { iss }) };
    await authorize(login, { ...known, authorizationCode: code });
  } finally {
    over.abort();
  }
}

/** The whole address that the browser came to, or the code alone. */
function readTyped(text: string, login: ServerLogin): URLSearchParams {
  const address = URL.parse(text.trim());
  if (!address) return new URLSearchParams({ code: text.trim() });
  if (login.isOwnState(address.searchParams.get("state"))) return address.searchParams;
  throw new AppError("bad_input", "The address belongs to another login.", { fix: "Begin again." });
}

function refusal(answer: URLSearchParams): AppError {
  const said = [answer.get("error"), answer.get("error_description")].filter((part) => part !== null).join(": ");
  return new AppError("unauthorized", `The login was refused: ${visible(said.slice(0, 300)) || "no code came back"}.`);
}

async function keep({ server, logins }: LogInOptions, place: LoginStore): Promise<"done" | "not-needed"> {
  const login = await place.read();
  if (login?.tokens === undefined) return "not-needed";
  await logins.of(server.name, server.url).write(login);
  return "done";
}
