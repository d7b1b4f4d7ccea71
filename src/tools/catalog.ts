import { containerTools } from "../../container/agent/tools/catalog.ts";
import type { ContainerTool } from "../../container/agent/tools/tool.ts";
import type { HostTool } from "./define-tool.ts";
import { memoryForget } from "./memory-forget.ts";
import { memorySearch } from "./memory-search.ts";
import { memoryStore } from "./memory-store.ts";
import { proposeInstructions } from "./propose-instructions.ts";
import { react } from "./react.ts";
import { sendFile } from "./send-file.ts";
import { sendMessage } from "./send-message.ts";
import { sessionsHistory } from "./sessions-history.ts";
import { sessionsList } from "./sessions-list.ts";
import { sessionsSend } from "./sessions-send.ts";
import { sessionsSpawn } from "./sessions-spawn.ts";
import { cancelTask } from "./tasks/cancel-task.ts";
import { listTasks } from "./tasks/list-tasks.ts";
import { runTask } from "./tasks/run-task.ts";
import { scheduleTask } from "./tasks/schedule-task.ts";
import { updateTask } from "./tasks/update-task.ts";
import { proposeSkill } from "./skills/propose-skill.ts";
import { getAvailableAgents, getAvailableSkills, getSkillContent, getSkillsForTask } from "./skills/skill-tools.ts";
import { spawnAgent } from "./spawn-agent.ts";
import { agentCancel, agentMessage, agentStatus } from "./sub-agent-tools.ts";

export type Tool = HostTool | ContainerTool;

const hostTools: readonly HostTool[] = [
  agentCancel,
  agentMessage,
  agentStatus,
  cancelTask,
  getAvailableAgents,
  getAvailableSkills,
  getSkillContent,
  getSkillsForTask,
  listTasks,
  memoryForget,
  memorySearch,
  memoryStore,
  proposeInstructions,
  proposeSkill,
  react,
  runTask,
  scheduleTask,
  sendFile,
  sendMessage,
  sessionsHistory,
  sessionsList,
  sessionsSend,
  sessionsSpawn,
  spawnAgent,
  updateTask,
];

/** Every tool that comes with crabpot. */
export const builtInTools: readonly Tool[] = [...hostTools, ...containerTools];
