import { AgentPeer } from "../fixtures/agent/agent-peer.ts";
import { type Change, Sandbox } from "./sandbox.ts";

/** The agent of the image in a container as sessions get it, its host played by the test. */
export class AgentInContainer extends AgentPeer {
  readonly #sandbox: Sandbox;

  private constructor(sandbox: Sandbox) {
    super();
    this.#sandbox = sandbox;
  }

  /** `change`: what is different from a session's container. */
  static async start(change: Change = (body) => body): Promise<AgentInContainer> {
    const sandbox = await Sandbox.open();
    const agent = new AgentInContainer(sandbox);
    const { generation, user } = sandbox.wish;
    await agent.openMailbox({ folder: sandbox.folder, generation, containerUid: user.uid });
    await sandbox.start(change(sandbox.body(["node", "/opt/crabpot/start.cjs"])));
    await agent.next("ready");
    return agent;
  }

  /** The group's folder, and the mailbox. */
  get folder(): string {
    return this.#sandbox.folder;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.#sandbox[Symbol.asyncDispose]();
  }
}
