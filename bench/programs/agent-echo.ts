/* The agent's own end of the mailbox: answers each ping with a pong. `agent-echo.ts <to-agent> <to-host>` */
import { AgentMailbox } from "../../container/agent/mailbox.ts";

const [toAgent = "", toHost = ""] = process.argv.slice(2);
const mailbox = new AgentMailbox({
  toAgent,
  toHost,
  generation: 1,
  rescanMs: undefined,
  onMessage: (payload) => {
    if (payload.type === "ping") void mailbox.send({ type: "pong", turn: payload.turn });
  },
  isBusy: () => false,
  onFailure: (error) => process.stderr.write(`${String(error)}\n`),
  log: (text) => process.stderr.write(`${text}\n`),
});
mailbox.listen();
process.send?.("ready");
