import { createHmac, randomBytes } from "node:crypto";

import {
  aesDecryptCTR,
  aesDecryptGCM,
  aesEncryptCTR,
  BufferJSON,
  configureSuccessfulPairing,
  Curve,
  derivePairingCodeKey,
  hkdf,
  initAuthCreds,
  proto,
} from "@whiskeysockets/baileys";
import type { BinaryNode } from "@whiskeysockets/baileys";

import type { Connection } from "./connection.ts";
import type { Companion, Person } from "./person.ts";
import { attribute, bytesOf, freshId, nowSeconds, serverJid, stanza, userOf } from "./stanza.ts";
import { isSignedBy } from "./signature.ts";

const accountPrefix = Buffer.from([6, 0]);
const devicePrefix = Buffer.from([6, 1]);

/** A client that waits for a phone to link it. */
export interface LinkAttempt {
  readonly refs: readonly string[];
  readonly linked: PromiseWithResolvers<Companion>;
  code?: CodeExchange;
  /** Sent to the client, and not yet signed by it. */
  offered?: { readonly companion: Companion; readonly details: Buffer };
}

/** Linking by an eight-letter code, from the client's request on. */
interface CodeExchange {
  readonly pn: string;
  readonly ref: Buffer;
  readonly wrapped: Buffer;
  readonly noiseKey: Buffer;
  shared?: Buffer;
  person?: Person;
}

interface ClientKeys {
  readonly noiseKey: Buffer;
  readonly identity: Buffer;
  readonly secret: Buffer;
}

/** Links clients to accounts, by the text of a QR code or by a code that is typed on the phone. */
export class Pairing {
  readonly #waiting = new Set<Connection>();

  /** A client has no account yet. */
  begin(connection: Connection): void {
    const refs = Array.from({ length: 6 }, () => `2@${randomBytes(60).toString("base64")}`);
    connection.link = { refs, linked: Promise.withResolvers() };
    this.#waiting.add(connection);
    const content = refs.map((ref) => stanza("ref", {}, Buffer.from(ref)));
    connection.query({ type: "set", xmlns: "md" }, [stanza("pair-device", {}, content)]);
  }

  forget(connection: Connection): void {
    this.#waiting.delete(connection);
  }

  /** Scans a QR code as a phone. Resolves when the client has signed. */
  async scan(qr: string, person: Person): Promise<Companion> {
    const [ref = "", noiseKey = "", identity = "", secret = ""] = qr.slice(qr.indexOf("#") + 1).split(",");
    const connection = [...this.#waiting].find(({ link }) => link?.refs.includes(ref));
    if (!connection?.link) throw new Error("nobody shows this QR code, or not anymore");
    this.#offer(connection, person, {
      noiseKey: Buffer.from(noiseKey, "base64"),
      identity: Buffer.from(identity, "base64"),
      secret: Buffer.from(secret, "base64"),
    });
    return connection.link.linked.promise;
  }

  /** Enters a pairing code as a phone. Resolves when the client has signed. */
  async enterCode(code: string, person: Person): Promise<Companion> {
    const connection = [...this.#waiting].find(({ link }) => link?.code?.pn === person.pn);
    const link = connection?.link;
    if (!link?.code) throw new Error(`nobody has asked for a pairing code for ${person.pn}`);
    const { wrapped } = link.code;
    const clientKey = await derivePairingCodeKey(code, wrapped.subarray(0, 32));
    const clientEphemeral = aesDecryptCTR(wrapped.subarray(48, 80), clientKey, wrapped.subarray(32, 48));
    const ephemeral = Curve.generateKeyPair();
    const salt = randomBytes(32);
    const vector = randomBytes(16);
    const sealed = aesEncryptCTR(ephemeral.public, await derivePairingCodeKey(code, salt), vector);
    link.code.shared = Curve.sharedKey(ephemeral.private, clientEphemeral);
    link.code.person = person;
    const hello = stanza("link_code_companion_reg", { stage: "primary_hello" }, [
      stanza("link_code_pairing_wrapped_primary_ephemeral_pub", {}, Buffer.concat([salt, vector, sealed])),
      stanza("primary_identity_pub", {}, person.phone.identity.public),
      stanza("link_code_pairing_ref", {}, link.code.ref),
    ]);
    const attributes = { from: serverJid, id: freshId(), type: "link_code_companion_reg", t: nowSeconds() };
    connection?.send(stanza("notification", attributes, [hello]));
    return link.linked.promise;
  }

  /** Both steps of the client in linking by code; returns the content of the answer. */
  answerLinkCode(connection: Connection, request: BinaryNode): BinaryNode[] {
    const link = connection.link;
    if (!link) throw new Error("a client asks for a pairing code and is linked already");
    if (attribute(request, "stage") === "companion_hello") {
      link.code = {
        pn: userOf(attribute(request, "jid")),
        ref: randomBytes(16),
        wrapped: bytesOf(request, "link_code_pairing_wrapped_companion_ephemeral_pub"),
        noiseKey: bytesOf(request, "companion_server_auth_key_pub"),
      };
      const ref = stanza("link_code_pairing_ref", {}, link.code.ref);
      return [stanza("link_code_companion_reg", { stage: "companion_hello" }, [ref])];
    }
    this.#finishCode(connection, request, link.code);
    return [];
  }

  /** Both ends of it at once, for a client that is not started yet: what it will keep as its credentials. */
  link(person: Person): string {
    const fresh = initAuthCreds();
    const { companion, success } = offerFor(person, {
      noiseKey: Buffer.from(fresh.noiseKey.public),
      identity: Buffer.from(fresh.signedIdentityKey.public),
      secret: Buffer.from(fresh.advSecretKey, "base64"),
    });
    const { creds } = configureSuccessfulPairing(stanza("iq", { id: freshId() }, [success]), fresh);
    person.companions.set(companion.device, companion);
    return JSON.stringify({ ...fresh, ...creds }, BufferJSON.replacer);
  }

  /** The client's signature of what it was offered; after it the client has to connect anew. */
  complete(connection: Connection, signed: BinaryNode): void {
    const offered = connection.link?.offered;
    if (!offered) throw new Error("a client signs and was offered nothing");
    const { companion, details } = offered;
    const identity = proto.ADVSignedDeviceIdentity.decode(bytesOf(signed, "device-identity"));
    const phoneKey = companion.person.phone.identity.public;
    const message = Buffer.concat([devicePrefix, details, companion.identity, phoneKey]);
    if (!isSignedBy(companion.identity, message, identity.deviceSignature)) {
      throw new Error("the signature of the new device is wrong");
    }
    companion.person.companions.set(companion.device, companion);
    connection.send(stanza("stream:error", { code: "515" }));
    connection.close();
    connection.link?.linked.resolve(companion);
  }

  #finishCode(connection: Connection, request: BinaryNode, code: CodeExchange | undefined): void {
    if (!code?.shared || !code.person) throw new Error("a client finishes with a code that nobody has typed");
    const bundle = bytesOf(request, "link_code_pairing_wrapped_key_bundle");
    const info = "link_code_pairing_key_bundle_encryption_key";
    const key = Buffer.from(hkdf(code.shared, 32, { salt: bundle.subarray(0, 32), info }));
    const plain = aesDecryptGCM(bundle.subarray(44), key, bundle.subarray(32, 44), Buffer.alloc(0));
    const identity = Buffer.from(plain.subarray(0, 32));
    const identitySecret = Curve.sharedKey(code.person.phone.identity.private, identity);
    const material = Buffer.concat([code.shared, identitySecret, plain.subarray(64, 96)]);
    const secret = Buffer.from(hkdf(material, 32, { info: "adv_secret" }));
    this.#offer(connection, code.person, { noiseKey: code.noiseKey, identity, secret });
  }

  #offer(connection: Connection, person: Person, keys: ClientKeys): void {
    const { companion, details, success } = offerFor(person, keys);
    if (connection.link) connection.link.offered = { companion, details };
    connection.query({ type: "set", xmlns: "md", t: nowSeconds() }, [success]);
  }
}

/** The number of a new device, and proof that the phone wants it. */
function offerFor(
  person: Person,
  keys: ClientKeys,
): { readonly companion: Companion; readonly details: Buffer; readonly success: BinaryNode } {
  const device = person.takeDeviceNumber();
  const details = Buffer.from(
    proto.ADVDeviceIdentity.encode({
      rawId: randomBytes(4).readUInt32BE(),
      timestamp: Number(nowSeconds()),
      keyIndex: device,
      accountType: proto.ADVEncryptionType.E2EE,
      deviceType: proto.ADVEncryptionType.E2EE,
    }).finish(),
  );
  const { public: accountSignatureKey, private: accountKey } = person.phone.identity;
  const accountSignature = Curve.sign(accountKey, Buffer.concat([accountPrefix, details, keys.identity]));
  const signed = Buffer.from(
    proto.ADVSignedDeviceIdentity.encode({ details, accountSignatureKey, accountSignature }).finish(),
  );
  const hmac = createHmac("sha256", keys.secret).update(signed).digest();
  const success = stanza("pair-success", {}, [
    stanza("device-identity", {}, proto.ADVSignedDeviceIdentityHMAC.encode({ details: signed, hmac }).finish()),
    stanza("biz", { name: person.name }),
    stanza("device", { jid: person.jid("pn", device), lid: person.jid("lid", device) }),
    stanza("platform", { name: "android" }),
  ]);
  return { companion: newCompanion(person, device, keys), details, success };
}

function newCompanion(person: Person, device: number, keys: ClientKeys): Companion {
  return {
    person,
    device,
    noiseKey: keys.noiseKey,
    identity: keys.identity,
    registration: Buffer.alloc(4),
    signedPreKey: undefined,
    preKeys: [],
    pending: new Map(),
    connection: undefined,
    hasHistory: false,
  };
}
