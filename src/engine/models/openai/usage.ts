import type { TokenUsage } from '../port.ts';
import { count, record } from './json.ts';

/** Usage as the common wire has it; undefined when there is none. */
export function usageOf(value: unknown): TokenUsage | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const usage = record(value);
  return {
    inputTokens: count(usage.prompt_tokens ?? usage.input_tokens),
    outputTokens: count(usage.completion_tokens ?? usage.output_tokens),
    cachedTokens: count(record(usage.prompt_tokens_details).cached_tokens),
    reasoningTokens: count(record(usage.completion_tokens_details).reasoning_tokens),
  };
}
