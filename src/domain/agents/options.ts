import type { ModelParameters } from '../../engine/models/port.ts';
import type { AgentOptions } from '../../entities/agents/agent.ts';

/** The first value of each option is the one used. */
export function toModelParameters(options: AgentOptions): ModelParameters {
  const numericOptions: Record<string, number> = {};
  for (const name of ['temperature', 'topP', 'topK', 'maxTokens', 'frequencyPenalty', 'presencePenalty'] as const) {
    const value = options[name]?.[0];
    if (value !== undefined) numericOptions[name] = value;
  }
  return numericOptions;
}
