import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

import SQLite from "better-sqlite3";

import { startCrabpot } from "../crabpot.ts";
import type { TestHost } from "../host.ts";
import type { HostOptions } from "../host-options.ts";
import { startModelHost } from "../model-host.ts";
import type { ModelScript, ModelServer } from "../model-servers/model-server.ts";
import { openFakeWhatsApp } from "./fake-whatsapp.ts";
import type { FakeGroup, FakeUser, FakeWhatsApp } from "./fake-whatsapp.ts";
import type { Addressing } from "./stanza.ts";
import { listChannels } from "../../../src/operations/channels/operations.ts";

/** A group on the server, and what the configuration says of it. */
export interface AppGroup {
  readonly addressing?: Addressing;
  /** Sends only one name of each member. */
  readonly oneName?: boolean;
  readonly settings?: object;
}

/** Options of a scenario. */
export interface AppRigOptions {
  /** By name; left out: `family`. */
  readonly groups?: Readonly<Record<string, AppGroup>>;
  /** A group on the HTTP channel, `elsewhere`. */
  readonly httpGroup?: boolean;
  /** The owner's chat with oneself is the main group, `main`. */
  readonly main?: boolean;
  readonly config?: object;
  readonly models?: object;
  /** More of `models.providers`. */
  readonly providers?: object;
  readonly withoutContainers?: HostOptions["withoutContainers"];
  readonly shellHere?: boolean;
}

const mainGroup = { channel: "whatsapp", main: true, trigger: "always" };

/** The whole app with a scripted model, and groups on a WhatsApp server of the test's own. */
export class AppRig implements AsyncDisposable {
  readonly whatsapp: FakeWhatsApp;
  readonly host: TestHost;
  readonly model: ModelServer;
  readonly ann: FakeUser;
  readonly bob: FakeUser;
  /** All groups; the first is `family`. */
  readonly groups: readonly FakeGroup[];
  /** Output of `crabpot channels login`. */
  readonly loginOutput: string[] = [];
  readonly #owned: AsyncDisposable;

  private constructor(
    options: Pick<AppRig, "whatsapp" | "host" | "model" | "ann" | "bob" | "groups">,
    owned: AsyncDisposable,
  ) {
    this.whatsapp = options.whatsapp;
    this.host = options.host;
    this.model = options.model;
    this.ann = options.ann;
    this.bob = options.bob;
    this.groups = options.groups;
    this.#owned = owned;
  }

  static async start(script: ModelScript, options: AppRigOptions = {}): Promise<AppRig> {
    await using stack = new AsyncDisposableStack();
    const whatsapp = stack.use(await openFakeWhatsApp());
    const ann = await whatsapp.addUser({ name: "Ann", pn: "15550000011", lid: "90000000000011" });
    const bob = await whatsapp.addUser({ name: "Bob", pn: "15550000012", lid: "90000000000012" });
    const members = [ann, bob, whatsapp.bot];
    const wanted = Object.entries(options.groups ?? { family: {} });
    const groups: FakeGroup[] = [];
    for (const [subject, { addressing = "lid", oneName = false }] of wanted) {
      groups.push(await whatsapp.addGroup({ subject, members, addressing, oneName }));
    }
    const configured = wanted.map(([name, { settings = {} }], index) => [
      name,
      { channel: "whatsapp", chat: groups[index]?.id, ...settings },
    ]);
    const settings = {
      webSocketUrl: whatsapp.url,
      rootPublicKey: whatsapp.root.toString("hex"),
      pacing: { perChatPerSecond: 100, perMinute: 10_000 },
    };
    const { host, model } = stack.use(
      await startModelHost(script, {
        groups: {
          ...(Object.fromEntries(configured) as Record<string, object>),
          ...(options.httpGroup ? { elsewhere: {} } : {}),
          ...(options.main ? { main: { ...mainGroup, chat: `${whatsapp.bot.lid}@lid` } } : {}),
        },
        // Reactions, and what the agent is doing meanwhile where the machine is slow, would be among what members hear.
        config: {
          channels: { http: {}, whatsapp: settings },
          progress: { reactions: false, afterSeconds: 0 },
          ...options.config,
        },
        ...(options.models && { models: options.models }),
        ...(options.providers && { providers: options.providers }),
        ...(options.withoutContainers && { withoutContainers: options.withoutContainers }),
        ...(options.shellHere && { shellHere: true }),
        variables: { NODE_EXTRA_CA_CERTS: whatsapp.caFile },
      }),
    );
    const rig = new AppRig({ whatsapp, host, model, ann, bob, groups }, stack.move());
    await using started = new AsyncDisposableStack();
    started.use(rig);
    await rig.link();
    started.move();
    return rig;
  }

  get family(): FakeGroup {
    const [first] = this.groups;
    if (!first) throw new Error("there is no group");
    return first;
  }

  /** Does what the operator does: `crabpot channels login whatsapp`, and the phone scans. */
  async link(...options: readonly string[]): Promise<void> {
    const command = startCrabpot({ home: this.host.home }, "channels", "login", "whatsapp", "--json", ...options);
    let linked: Promise<void> | undefined;
    for await (const line of createInterface({ input: command.stdout })) {
      this.loginOutput.push(line);
      const event = JSON.parse(line) as { qr?: string; pairingCode?: string };
      if (event.qr !== undefined) linked ??= this.whatsapp.scan(event.qr);
      if (event.pairingCode !== undefined) linked ??= this.whatsapp.enterPairingCode(event.pairingCode);
    }
    if (!linked) throw new Error(`nothing to scan:\n${this.loginOutput.join("\n")}\n${this.host.output.join("")}`);
    await linked;
  }

  /** The state of the channel as the operator sees it. */
  async state(): Promise<string> {
    const channels = await this.host.control.call(listChannels, {});
    return String(channels.find(({ name }) => name === "whatsapp")?.state);
  }

  /** All that the host has printed and written for people: output, logs and records. */
  async written(): Promise<string> {
    const texts = [...this.host.output, ...this.loginOutput.filter((line) => !line.includes('"qr"'))];
    for await (const file of glob("{logs,audit}/**", { cwd: this.host.home, withFileTypes: true })) {
      if (file.isFile()) texts.push(await readFile(join(file.parentPath, file.name), "utf8"));
    }
    return texts.join("\n");
  }

  /** Every key that the host keeps of the account, private or not, as base64. */
  secrets(): string[] {
    using stack = new DisposableStack();
    const database = stack.adopt(new SQLite(join(this.host.home, "crabpot.sqlite"), { readonly: true }), (open) =>
      open.close(),
    );
    const rows = database.prepare<[], { value: Buffer }>("select value from channel_state").all();
    return rows.flatMap(({ value }) =>
      [...value.toString().matchAll(/"([A-Za-z0-9+/]{40,}=*)"/g)].map(([, key]) => key ?? ""),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned[Symbol.asyncDispose]();
  }
}
