import type { ModelScript } from "../support/model-servers/model-server.ts";

/** The model's script for the contract, for a vendor's server played by the test. */
export const contractScript: ModelScript = ({ lastText, toolOutputs }) => {
  if (toolOutputs.length > 0) return { text: `They say: ${toolOutputs.join(", ")}` };
  const paths = [...lastText.matchAll(/^read (\S+)$/gm)].map(([, path]) => path);
  if (paths.length > 0) return { toolCalls: paths.map((path) => ({ name: "read_file", input: { path } })) };
  return { text: "Hello, I am a model on this machine." };
};
