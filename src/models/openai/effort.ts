import type { Effort } from "../routes/routes.ts";

/** Servers' fields for setting the effort; some differ for newer models. */
export const effortStyles = {
  /** OpenAI, Gemini, Mistral, Groq, xAI, Ollama. */
  effort: (thinking) => ({ reasoning_effort: thinking === "off" ? "none" : thinking }),
  /** Models of Mistral that know only these two (https://docs.mistral.ai/capabilities/reasoning/adjustable). */
  highOrNone: (thinking) => ({ reasoning_effort: thinking === "off" ? "none" : "high" }),
  /** DeepSeek (https://api-docs.deepseek.com/guides/thinking_mode). */
  switchAndEffort: (thinking) =>
    thinking === "off"
      ? { thinking: { type: "disabled" } }
      : { thinking: { type: "enabled" }, reasoning_effort: thinking },
  /**
   * Kimi: on or off up to K2.7; from K3 on it always thinks, little, much or most
   * (https://platform.kimi.ai/docs/guide/use-reasoning-effort).
   */
  kimi: (thinking, model) =>
    /^kimi-k([3-9]|\d\d)/.test(model)
      ? { reasoning_effort: thinking === "high" ? "max" : thinking === "medium" ? "high" : "low" }
      : { thinking: { type: thinking === "off" ? "disabled" : "enabled" } },
  /** Qwen on Alibaba's own servers: on or off. */
  enable: (thinking) => ({ enable_thinking: thinking !== "off" }),
  /** OpenRouter (https://openrouter.ai/docs/use-cases/reasoning-tokens). */
  reasoning: (thinking) => ({ reasoning: thinking === "off" ? { enabled: false } : { effort: thinking } }),
  /** vLLM and llama.cpp: what the chat template of the model knows. */
  template: (thinking) => ({ chat_template_kwargs: { enable_thinking: thinking !== "off" } }),
} as const satisfies Readonly<Record<string, (thinking: Effort, model: string) => object>>;

export type EffortStyle = keyof typeof effortStyles;
