import { containerTools } from "../../container/agent/tools/catalog.ts";
import type { ContainerTool } from "../../container/agent/tools/tool.ts";
import type { HostTool } from "./define-tool.ts";
import { react } from "./react.ts";
import { sendFile } from "./send-file.ts";
import { sendMessage } from "./send-message.ts";
import { spawnAgent } from "./spawn-agent.ts";
import { agentCancel, agentMessage, agentStatus } from "./sub-agent-tools.ts";

export type Tool = HostTool | ContainerTool;

const hostTools: readonly HostTool[] = [
  agentCancel,
  agentMessage,
  agentStatus,
  react,
  sendFile,
  sendMessage,
  spawnAgent,
];

/** Every tool that comes with crabpot. */
export const builtInTools: readonly Tool[] = [...hostTools, ...containerTools];
