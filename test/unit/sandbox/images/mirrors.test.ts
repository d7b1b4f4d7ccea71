import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { sortPackages } from "../../../../src/domain/sandbox/packages.ts";
import { findMirrors } from "../../../../src/sandbox/images/mirrors.ts";
import { nameOfPackages, packageDockerfile } from "../../../../src/sandbox/images/package-recipe.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const certificate = "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----";
const key = "-----BEGIN PRIVATE KEY-----\nU0VDUkVU\n-----END PRIVATE KEY-----";

test("mirrors are those of the environment or of the user's files; of a file with certificates nothing else is taken", async () => {
  await using home = await temporaryFolder();
  await mkdir(join(home.path, ".config/pip"), { recursive: true });
  await writeFile(join(home.path, ".config/pip/pip.conf"), "[global]\nindex-url = https://pip.example/simple\n");
  await writeFile(join(home.path, ".npmrc"), "registry=https://file.example/\n//file.example/:_authToken=secret\n");
  const trusted = join(home.path, "trusted.pem");
  await writeFile(trusted, `${key}\n${certificate}\n${certificate}\n`);
  const env = { npm_config_registry: "https://npm.example/", NODE_EXTRA_CA_CERTS: trusted, OPENAI_API_KEY: "secret" };

  const mirrors = await findMirrors({
    env: { ...env, PIP_EXTRA_INDEX_URL: "file:///opt/pypi" },
    homeFolder: home.path,
  });

  expect(mirrors.variables).toMatchObject({
    npm_config_registry: "https://npm.example/",
    PIP_INDEX_URL: "https://pip.example/simple",
  });
  expect(Object.keys(mirrors.variables)).not.toContain("PIP_EXTRA_INDEX_URL");
  expect(mirrors.certificates).toContain(certificate);
  expect(mirrors.certificates.split(certificate)).toHaveLength(2);
  expect(JSON.stringify(mirrors)).not.toMatch(/secret|U0VDUkVU/);
});

test.for(["PIP_INDEX_URL", "npm_config_registry", "https_proxy"])("%s with a password is refused", async (name) => {
  const env = { [name]: "https://ann:pass-word@mirror.example/" };

  await expect(findMirrors({ env, homeFolder: "/nonexistent" })).rejects.toThrow(`${name} holds a user or a password`);
});

test("each step of the Dockerfile is a list of words with the names behind the script", () => {
  const name = nameOfPackages("sha256:base", sortPackages({ apt: ["jq"], npm: ["@a/b@1"] }));

  const lines = packageDockerfile(name, { variables: { PIP_INDEX_URL: "x", http_proxy: "y" }, certificates: "" }).split(
    "\n",
  );
  const steps = lines.filter((line) => line.startsWith("RUN ")).map((line) => JSON.parse(line.slice(4)) as string[]);

  expect(lines[0]).toBe("FROM sha256:base");
  expect(lines).toContain("ARG PIP_INDEX_URL");
  expect(lines).not.toContain("ARG http_proxy");
  expect(steps.map((words) => [...words.slice(0, 2), ...words.slice(3)])).toEqual([
    ["sh", "-euc", "packages", "jq"],
    ["sh", "-euc", "packages", "@a/b@1"],
    ["sh", "-euc", "packages"],
  ]);
  expect(lines.at(-2)).toBe("USER 65534:65534");
});
