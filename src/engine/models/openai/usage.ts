import { hasMembers, membersOf } from '../../../lib/json.ts';
import type { TokenUsage } from '../port.ts';

/** Usage in the OpenAI-compatible format; undefined when there is none. */
export function usageOf(value: unknown): TokenUsage | undefined {
  if (!hasMembers(value)) return undefined;
  return {
    inputTokens: count(value.prompt_tokens ?? value.input_tokens),
    outputTokens: count(value.completion_tokens ?? value.output_tokens),
    cachedTokens: count(membersOf(value.prompt_tokens_details).cached_tokens),
    reasoningTokens: count(membersOf(value.completion_tokens_details).reasoning_tokens),
  };
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.trunc(value) : 0;
}
