import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { isSecretPath, secretIn, secretPathExpression } from "../../../src/protocol/secret-names.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const secrets = [
  ".env",
  "a/.env.local",
  ".ENV",
  ".envrc",
  ".env_prod",
  ".env.bak",
  ".env~",
  "..env.swp",
  "prod.env",
  "server.pem",
  "a b/x.KEY",
  "x.key.old",
  "store.p12",
  "vault.kdbx",
  "id_rsa",
  "id_ed25519",
  "credentials",
  "credentials.json",
  "credentials.yml.enc",
  ".credentials.json",
  "credentials-prod.json",
  "google_credentials.json",
  "secrets.yaml",
  "client_secret_12.apps.json",
  "service-account.json",
  "serviceaccount-ci.json",
  "terraform.tfstate",
  ".npmrc",
  ".netrc",
  "_netrc",
  ".pypirc",
  ".vault-token",
  ".git-credentials",
  ".gnupg",
  ".bash_history",
  "kubeconfig",
];
/** A path, and the beginning of it that is the secret. */
const below = [
  ["home/.aws/credentials", "home/.aws"],
  [".SSH/config", ".SSH"],
  [".kube/cache/x", ".kube"],
  [".docker/config.json", ".docker/config.json"],
  ["x/gh/hosts.yml", "x/gh/hosts.yml"],
  [".config/gcloud/any", ".config/gcloud"],
  ["/workspace/extra/site/.env", "/workspace/extra/site/.env"],
  [".ｅnv", ".ｅnv"],
  [".e\u200Bnv", ".e\u200Bnv"],
] as const;
const harmless = [
  "my.environment",
  "environment",
  ".environment",
  "credentials-guide.md",
  "credentials-guide",
  "credentials.md",
  "credentials.ts",
  ".env.example",
  ".env.sample",
  ".env.example.local",
  "example.env",
  ".env.dist",
  "credentials.example.json",
  "id_rsa.pub",
  "cacert.pem",
  "secretary.json",
  "secrets.ts",
  "tokens.json",
  "monkey",
  "pem",
  "key",
  "env",
  "hosts.yml",
  "config.json",
  "src/aws/index.ts",
  "gcloud",
  "keyboard.ts",
  "envoy.yaml",
  "README.md",
  ".gitignore",
  "package.json",
];

test.each(secrets)("%s is a secret", (path) => {
  expect(secretIn(path)).toBe(path);
});

test.each(below)("in %s, %s is a secret", (path, secret) => {
  expect(secretIn(path)).toBe(secret);
});

test.each(harmless)("%s is no secret", (path) => {
  expect(isSecretPath(path)).toBe(false);
});

test("a folder that is a secret makes everything in it one, whatever lies around it", () => {
  const name = fc.stringMatching(/^[a-z]{1,8}$/);
  fc.assert(
    fc.property(fc.array(name), fc.constantFrom(".ssh", ".AWS", ".env"), fc.array(name), (above, secret, inside) => {
      expect(secretIn([...above, secret, ...inside].join("/"))).toBe([...above, secret].join("/"));
    }),
  );
});

test("find finds with the expression what the matcher finds", async () => {
  await using folder = await temporaryFolder();
  const files = [...secrets, ...below.map(([, secret]) => secret).filter((path) => /^[\x20-\x7e]+$/.test(path))];
  for (const [index, path] of files.entries()) {
    const file = join(folder.path, String(index), path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "");
  }

  const args = [".", "-regextype", "posix-extended", "-type", "f", "!", "-iregex", secretPathExpression];
  const missed = execFileSync("find", args, { cwd: folder.path, env: { ...process.env, LC_ALL: "C" } });

  expect(missed.toString()).toBe("");
});

test("a long name takes no long time", () => {
  const path = `${"-credentials".repeat(3_000)}x`;

  expect(isSecretPath(path)).toBe(false);
});
