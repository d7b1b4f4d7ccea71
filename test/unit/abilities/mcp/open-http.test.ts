import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { RemoteServer } from "../../../../src/domain/sandbox/mcp-server.ts";
import { McpConnection } from "../../../../src/abilities/mcp/connection/connection.ts";
import { logIn, type LogInOptions } from "../../../../src/abilities/mcp/http/log-in.ts";
import { LoginFolder } from "../../../../src/abilities/mcp/http/login-folder.ts";
import { openHttp } from "../../../../src/abilities/mcp/http/open-http.ts";
import { RemoteMcpServer } from "../../../support/remote-mcp-server.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

function settingsOf(server: RemoteMcpServer, more: Partial<RemoteServer> = {}): RemoteServer {
  const { url, place } = server;
  const facts = {
    kind: "remote",
    forms: "choices",
    name: "wiki",
    headers: {},
    tools: undefined,
    risk: undefined,
  } as const;
  return { ...facts, url, allowPrivate: [place], ...more };
}

async function connect(server: RemoteServer, logins: LoginFolder): Promise<McpConnection> {
  return McpConnection.open({
    transport: await openHttp(server, { logins }),
    client: { name: "crabpot", version: "0" },
    isRemote: true,
    onToolsChanged: () => undefined,
    onLog: () => undefined,
    signal: AbortSignal.timeout(120_000),
  });
}

const call = { signal: AbortSignal.timeout(120_000), timeoutMs: 10_000 };

async function echo(connection: McpConnection): Promise<unknown> {
  return (await connection.callTool("echo", { a: 1 }, call)).content;
}

const echoed = [{ type: "text", text: 'echo {"a":1}' }];

/** Logs in as somebody does whose browser does what it is told. */
async function logInAt(server: RemoteServer, logins: LoginFolder, more: Partial<LogInOptions> = {}) {
  return logIn({
    server,
    logins,
    version: "0",
    isUnattended: false,
    port: 0,
    show: (address) => void fetch(address),
    typed: () => new Promise(() => undefined),
    signal: AbortSignal.timeout(120_000),
    ...more,
  });
}

test("a server at an address is called, with its headers", async () => {
  await using folder = await temporaryFolder();
  await using server = await RemoteMcpServer.start();
  const settings = settingsOf(server, { headers: { "X-Api-Key": "k3y-of-the-wiki" } });
  await using connection = await connect(settings, new LoginFolder(folder.path));

  expect(await echo(connection)).toEqual(echoed);
  expect(server.seen.filter(({ headers }) => headers["x-api-key"] !== "k3y-of-the-wiki")).toEqual([]);
});

test("a server that only knows server-sent events is called as well", async () => {
  await using folder = await temporaryFolder();
  await using server = await RemoteMcpServer.start({ speaksSse: true });
  await using connection = await connect(settingsOf(server), new LoginFolder(folder.path));

  expect(await echo(connection)).toEqual(echoed);
});

test("a server on this machine is not called unless its host and port are listed", async () => {
  await using folder = await temporaryFolder();
  await using server = await RemoteMcpServer.start();
  const opening = connect(settingsOf(server, { allowPrivate: [] }), new LoginFolder(folder.path));

  await expect(opening).rejects.toThrow(/not on the public internet/);
  expect(server.seen).toEqual([]);
});

test("a server that asks for a login is refused with what to do, and nobody registers anywhere", async () => {
  await using folder = await temporaryFolder();
  await using server = await RemoteMcpServer.start({ asksForLogin: true });
  const logins = new LoginFolder(folder.path);

  await expect(connect(settingsOf(server), logins)).rejects.toMatchObject({
    code: "unauthorized",
    message: "The MCP server wiki asks for a login.",
    fix: expect.stringContaining("mcp login wiki") as string,
  });
  expect(server.seen.map(({ path }) => path)).not.toContain("/register");
  expect(await logins.of("wiki", server.url).read()).toEqual({ version: 1, url: server.url });
});

test("after a login its tokens are used, renewed once for many requests, and kept for nobody else to read", async () => {
  await using folder = await temporaryFolder();
  await using server = await RemoteMcpServer.start({ asksForLogin: true });
  const logins = new LoginFolder(folder.path);
  const settings = settingsOf(server);

  expect(await logInAt(settings, logins)).toBe("done");
  const file = join(folder.path, "wiki.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await using connection = await connect(settings, logins);
  expect(await echo(connection)).toEqual(echoed);
  server.expireTokens();
  const before = readFileSync(file, "utf8");
  expect(await Promise.all([echo(connection), echo(connection), echo(connection)])).toEqual([echoed, echoed, echoed]);
  expect(server.refreshes).toBe(1);
  expect(readFileSync(file, "utf8")).not.toBe(before);
});

test("when nothing can be renewed, somebody has to log in again", async () => {
  await using folder = await temporaryFolder();
  await using server = await RemoteMcpServer.start({ asksForLogin: true });
  const logins = new LoginFolder(folder.path);
  const settings = settingsOf(server);
  await logInAt(settings, logins);
  server.expireTokens(true);

  await expect(connect(settings, logins)).rejects.toMatchObject({ code: "unauthorized" });
  expect((await logins.of("wiki", server.url).read())?.tokens).toBeUndefined();
});

test("tokens go to the address that they were given for, and to no other one of that name", async () => {
  await using folder = await temporaryFolder();
  await using server = await RemoteMcpServer.start({ asksForLogin: true });
  await using other = await RemoteMcpServer.start({ asksForLogin: true });
  const logins = new LoginFolder(folder.path);
  await logInAt(settingsOf(server), logins);

  await expect(connect(settingsOf(other), logins)).rejects.toMatchObject({ code: "unauthorized" });
  expect(JSON.stringify(other.seen)).not.toMatch(/access-|refresh-/);
});

test("what somebody types in serves as well, but not from another login", async () => {
  await using folder = await temporaryFolder();
  await using server = await RemoteMcpServer.start({ asksForLogin: true });
  const logins = new LoginFolder(folder.path);
  const address = Promise.withResolvers<URL>();
  const typed = async (): Promise<string> => {
    const shown = await address.promise;
    const { headers } = await fetch(shown, { redirect: "manual" });
    return headers.get("location") ?? "";
  };
  const foreign = async (): Promise<string> => (await typed()).replace(/state=[0-9a-f]+/, "state=other");

  const show = (shown: URL): void => address.resolve(shown);
  await expect(logInAt(settingsOf(server), logins, { show, typed: foreign })).rejects.toThrow(/another login/);
  expect(existsSync(join(folder.path, "wiki.json"))).toBe(false);
  const again = { show: () => undefined, typed: async () => "c0de" };
  expect(await logInAt(settingsOf(server), logins, again)).toBe("done");
});

test("nobody is let in by a browser that comes from elsewhere", async () => {
  await using folder = await temporaryFolder();
  await using server = await RemoteMcpServer.start({ asksForLogin: true });
  const over = new AbortController();
  const answers: number[] = [];
  const show = async (address: URL): Promise<void> => {
    const back = new URL(address.searchParams.get("redirect_uri") ?? "");
    for (const query of ["?code=evil&state=guess", "?code=evil", ""]) {
      const answer = await fetch(`${back.href}${query}`);
      answers.push(answer.status);
    }
    over.abort(new Error("given up"));
  };

  const login = logInAt(settingsOf(server), new LoginFolder(folder.path), {
    show: (address) => void show(address),
    signal: over.signal,
  });
  await expect(login).rejects.toThrow("given up");
  expect(answers).toEqual([400, 400, 400]);
  expect(server.seen.map(({ path }) => path)).not.toContain("/token");
});

test("headers of config.yaml are not sent to who gives tokens elsewhere", async () => {
  await using folder = await temporaryFolder();
  await using giver = await RemoteMcpServer.start({ asksForLogin: true });
  await using server = await RemoteMcpServer.start({ asksForLogin: true, tokensFrom: giver });
  const settings = settingsOf(server, {
    headers: { "X-Api-Key": "k3y-of-the-wiki" },
    allowPrivate: [server.place, giver.place],
  });

  expect(await logInAt(settings, new LoginFolder(folder.path))).toBe("done");
  expect(giver.seen.map(({ path }) => path)).toContain("/token");
  expect(JSON.stringify(giver.seen)).not.toContain("k3y-of-the-wiki");
});

test("a program logs in as itself", async () => {
  await using folder = await temporaryFolder();
  await using server = await RemoteMcpServer.start({ asksForLogin: true });
  const logins = new LoginFolder(folder.path);
  const settings = settingsOf(server);
  const client = { id: "robot", secret: "s3cret-of-the-robot" };

  expect(await logInAt(settings, logins, { isUnattended: true, client })).toBe("done");
  server.expireTokens(true);
  await using connection = await connect(settings, logins);
  expect(await echo(connection)).toEqual(echoed);
});

test("a server that asks for nothing needs no login", async () => {
  await using folder = await temporaryFolder();
  await using server = await RemoteMcpServer.start();

  expect(await logInAt(settingsOf(server), new LoginFolder(folder.path))).toBe("not-needed");
  expect(existsSync(join(folder.path, "wiki.json"))).toBe(false);
});

test("a spoilt file of a login is told without what is in it", async () => {
  await using folder = await temporaryFolder();
  writeFileSync(join(folder.path, "wiki.json"), '{"tokens": "s3cret');
  const place = new LoginFolder(folder.path).of("wiki", "https://wiki.example/mcp");

  const failure = await place.read().catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "config_invalid" });
  expect(String(failure)).not.toContain("s3cret");
});
