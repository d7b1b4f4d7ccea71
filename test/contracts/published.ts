/** The contract suites for adapters from elsewhere (`import … from "crabpot/contracts"`); they run in vitest. */
export { byName, type ChannelDriver, testChannel } from "./channel.ts";
export { type ContractSubject, testProvider } from "./provider.ts";
export { testTool, type ToolSubject } from "./tool.ts";
