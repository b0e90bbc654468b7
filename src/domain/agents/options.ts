import type { ModelParameters } from '../../engine/models/port.ts';
import type { AgentOptions } from '../../entities/agents/agent.ts';

/** The first value of each option is the one used. */
export function parametersOf(options: AgentOptions): ModelParameters {
  const given: Record<string, number> = {};
  for (const name of ['temperature', 'topP', 'topK', 'maxTokens', 'frequencyPenalty', 'presencePenalty'] as const) {
    const value = options[name]?.[0];
    if (value !== undefined) given[name] = value;
  }
  return given;
}
