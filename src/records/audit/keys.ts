import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { AppError, nothingIfMissing, toError } from "../../lib/app-error.ts";
import { formatVerificationKey, keyId, originOf, parseVerificationKey, type VerificationKey } from "./signed-note.ts";
import { syncFolder } from "../../lib/files/sync-folder.ts";

const privateKeyFile = "audit-ed25519.pem";
const publicKeyFile = "audit-ed25519.pub";
const saltFile = "audit-salt";

export interface AuditKeys {
  readonly verification: VerificationKey;
  readonly sign: (text: string) => Uint8Array;
  /** Secret of the home that keys its fingerprints. */
  readonly salt: Uint8Array;
}

/**
 * The keys in `folder`, made at the first start, readable by the owner only. The public key lies beside the private
 * one.
 */
export async function openKeys(folder: string, instance: string): Promise<AuditKeys> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const pem = await readOrMake(join(folder, privateKeyFile), newPrivateKey);
    const key = createPrivateKey(pem);
    const name = originOf(instance);
    const publicKey = publicBytes(key);
    const published = formatVerificationKey(name, publicKey);
    await readOrMake(join(folder, publicKeyFile), () => `${published}\n`);
    const salt = await readOrMake(join(folder, saltFile), () => `${randomBytes(32).toString("hex")}\n`);
    await syncFolder(folder);
    return {
      verification: { name, id: keyId(name, publicKey), key },
      sign: (text) => sign(null, Buffer.from(text), key),
      salt: Buffer.from(salt.trim(), "hex"),
    };
  } catch (cause) {
    throw new AppError(
      "audit_broken",
      `The keys of the audit log in ${folder} cannot be used: ${toError(cause).message}.`,
      {
        cause,
        fix: `check the owner and mode of ${folder}`,
      },
    );
  }
}

/** The public key of a home, as text; undefined when the home has none. */
export async function readPublicKey(folder: string): Promise<string | undefined> {
  return readIfThere(join(folder, publicKeyFile));
}

/** The id under which the log of these keys was begun; undefined when there are none. */
export async function readLogInstance(folder: string): Promise<string | undefined> {
  const name = parseVerificationKey((await readPublicKey(folder)) ?? "")?.name;
  return name?.startsWith(originOf("")) === true ? name.slice(originOf("").length) : undefined;
}

/** The key in such a text; throws AppError `bad_input` when it is not one. */
export function requireVerificationKey(text: string): VerificationKey {
  const key = parseVerificationKey(text);
  if (key) return key;
  throw new AppError(
    "bad_input",
    `This is not a public key of an audit log (name+id+key): ${text.trim().slice(0, 100)}`,
  );
}

function newPrivateKey(): string {
  const { privateKey } = generateKeyPairSync("ed25519");
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

function publicBytes(privateKey: KeyObject): Buffer {
  return Buffer.from(privateKey.export({ format: "jwk" }).x ?? "", "base64url");
}

async function readOrMake(path: string, make: () => string): Promise<string> {
  const known = await readIfThere(path);
  if (known !== undefined) return known;
  const text = make();
  // Beside its place and renamed: half a key would be taken for one at the next start. The home is ours alone by now.
  const draft = `${path}.new`;
  await rm(draft, { force: true });
  await writeFile(draft, text, { mode: 0o600, flag: "wx", flush: true });
  await rename(draft, path);
  return text;
}

function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(nothingIfMissing);
}
