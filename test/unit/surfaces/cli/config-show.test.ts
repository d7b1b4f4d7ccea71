import { expect, test } from "vitest";

import { crabpot, jsonLines, newHome } from "../../../support/crabpot.ts";

const file = `timezone: Europe/Paris
gateway: { token: "\${TOKEN}", port: 8080 }
models:
  providers:
    local: &local { kind: openai, apiKey: sk-very-secret-key, baseUrl: "http://me:p%C3%A4ss-word@localhost:1/v1" }
    other: *local
groups:
  main: { channel: terminal, chat: main, mounts: [{ source: ~/x, target: x }] }
`;

test("config show says what each value is and where it comes from, and no secret", async () => {
  await using place = await newHome({ "config.yaml": file });

  const json = await crabpot({ ...place, variables: { TOKEN: "token-0123456789" } }, "config", "show", "--json");
  const plain = await crabpot({ ...place, variables: { TOKEN: "token-0123456789" } }, "config", "show");

  const values = jsonLines(json.stdout);
  expect(values).toEqual(
    expect.arrayContaining([
      { path: "timezone", value: "Europe/Paris", from: "config.yaml:1" },
      { path: "gateway.token", value: "***", from: "config.yaml:2, environment TOKEN" },
      { path: "gateway.port", value: 8080, from: "config.yaml:2" },
      { path: "gateway.host", value: "127.0.0.1", from: "default" },
      { path: "models.providers.local.apiKey", value: "***", from: "config.yaml:5" },
      { path: "models.providers.local.baseUrl", value: "http://me:***@localhost:1/v1", from: "config.yaml:5" },
      { path: "models.providers.other.apiKey", value: "***", from: "config.yaml:5" },
      { path: "models.routes.main", value: ["offline/scripted"], from: "default" },
      { path: "groups.main.mounts[0].access", value: "ro", from: "default" },
      { path: "groups.main.mounts[0].target", value: "x", from: "config.yaml:8" },
      { path: "intake.perGroupPerDay.messages", value: 20_000, from: "default" },
    ]),
  );
  expect(plain.stdout).toContain("gateway.port\t8080\tconfig.yaml:2\n");
  for (const { stdout } of [json, plain]) expect(stdout).not.toMatch(/secret-key|token-0|ss-word/);
});

test("config show without a file names the variable that the model was taken from", async () => {
  await using place = await newHome();

  const shown = await crabpot({ ...place, variables: { OPENAI_API_KEY: "sk-0123456789" } }, "config", "show", "--json");
  const broken = await newHome({ "config.yaml": "sandbx: {}" });
  const refused = await crabpot(broken, "config", "show");
  await broken[Symbol.asyncDispose]();

  const values = jsonLines(shown.stdout);
  expect(values).toContainEqual({
    path: "models.providers.openai.apiKey",
    value: "***",
    from: "environment OPENAI_API_KEY",
  });
  expect(values).toContainEqual({
    path: "models.routes.main",
    value: [expect.stringMatching(/^openai\//)],
    from: "environment OPENAI_API_KEY",
  });
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain("did you mean sandbox?");
});
