import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEngine } from "../../src/sandbox/engine/catalog.ts";
import type { ContainerEngine } from "../../src/sandbox/engine/engine.ts";
import { containerEngineContract } from "../contracts/container-engine.ts";
import { crabpot, jsonLines, newHome } from "../support/crabpot.ts";
import { engineWithAgentImage } from "../support/engine.ts";
import { testAuthority } from "../support/tls-authority.ts";
import {
  startTlsEngine,
  type TlsEngine,
  type TlsEngineOptions,
  writeClientCertificate,
} from "../support/tls-engine.ts";

const dayMs = 86_400_000;

function open(tls: Pick<TlsEngine, "url" | "certificates">, variables = {}): Promise<ContainerEngine> {
  const env = { DOCKER_HOST: tls.url, DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: tls.certificates, ...variables };
  return openEngine({ env, homeFolder: "/nowhere" });
}

describe("an engine behind mutual TLS", () => {
  const stack = new AsyncDisposableStack();
  let tls: TlsEngine;
  beforeAll(async () => {
    tls = stack.use(await startTlsEngine());
  });
  afterAll(() => stack.disposeAsync());

  containerEngineContract(async () => ({ engine: await open(tls), image: (await engineWithAgentImage()).image }));

  test("doctor says where it is", async () => {
    await using home = await newHome({ "config.yaml": "channels: { terminal: {} }\n" });
    const variables = { DOCKER_HOST: tls.url, DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: tls.certificates };

    const { stdout } = await crabpot({ ...home, variables }, "doctor", "--json");

    const engine = jsonLines(stdout).find(({ check }) => check === "engine");
    expect(engine).toMatchObject({ ok: true, detail: expect.stringContaining(tls.url) });
  });

  test("a name that its certificate does not have is not spoken to", async () => {
    await expect(open({ ...tls, url: tls.numericUrl })).rejects.toMatchObject({
      code: "engine_unavailable",
      message: expect.stringMatching(/named by DOCKER_HOST does not answer.*127\.0\.0\.1.*certificate's altnames/),
    });
  });

  test("without TLS there is no answer", async () => {
    await expect(openEngine({ env: { DOCKER_HOST: tls.url }, homeFolder: "/nowhere" })).rejects.toMatchObject({
      code: "engine_unavailable",
    });
  });
});

test.each<[string, () => Promise<TlsEngineOptions>, RegExp]>([
  ["of another authority", async () => ({ signer: await testAuthority() }), /certificate/],
  ["that has expired", async () => ({ issuedAt: Date.now() - 60 * dayMs }), /certificate has expired/],
])("an engine with a certificate %s is not spoken to", async (_kind, options, words) => {
  await using tls = await startTlsEngine(await options());

  await expect(open(tls)).rejects.toMatchObject({
    code: "engine_unavailable",
    message: expect.stringMatching(new RegExp(`named by DOCKER_HOST does not answer.*${words.source}`)),
  });
});

test("an engine that does not know our certificate does not answer", async () => {
  await using tls = await startTlsEngine();
  await writeClientCertificate(tls.certificates);

  await expect(open(tls)).rejects.toMatchObject({
    code: "engine_unavailable",
    message: expect.stringMatching(/named by DOCKER_HOST does not answer/),
  });
});

test.each(["ca.pem", "cert.pem", "key.pem"])("TLS that is asked for without a usable %s is an error", async (name) => {
  await using tls = await startTlsEngine();
  const path = join(tls.certificates, name);
  const named = { code: "engine_unavailable", message: expect.stringContaining(path) };

  await writeFile(path, "not a certificate");
  await expect(open(tls)).rejects.toMatchObject(named);
  await rm(path);

  await expect(open(tls)).rejects.toMatchObject(named);
});

test("a key that is not the certificate's is an error", async () => {
  await using tls = await startTlsEngine();
  const { key } = (await testAuthority()).issue("localhost", Date.now());
  await writeFile(join(tls.certificates, "key.pem"), key);

  await expect(open(tls)).rejects.toThrow(/key\.pem cannot be used: it is not the key of cert\.pem/);
});
