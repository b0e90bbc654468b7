import { type FlowStepRecord, flowStepStatuses } from '../../entities/agents/flow.ts';
import { flowStepTypes } from '../../entities/agents/part.ts';
import type { SelectionMetadata } from '../../entities/conversations/runs/event.ts';
import { component, integer, isExtension, list, number, object, oneOfTexts, type Sent, text } from './schema.ts';

/** What completions and responses both show of a run. */

export const flowStep = component('FlowStepRecord', 'A finished step of a flow.', {
  step_id: text('Its id in the flow, else `step_` and its place from 1.'),
  type: oneOfTexts('What it does.', flowStepTypes),
  status: oneOfTexts('How it ended.', flowStepStatuses),
  input: text('What it worked with; at most 4 kB.'),
  output: text('What it came to; at most 4 kB.'),
  duration_ms: integer('Milliseconds that it took.'),
});

export function toWireFlowStep({ stepId, type, status, input, output, durationMs }: FlowStepRecord): Sent<typeof flowStep> {
  return { step_id: stepId, type, status, input, output, duration_ms: durationMs };
}

const duration = (description: string) => number(description).min(0);
export const selection = component(
  'ResponseSelection',
  'Which model answered and how it was chosen.',
  {
    provider: text('The provider that answered.'),
    model: text('Its model.'),
    fallback_chain: list(
      'Models that were asked before it and failed, in order.',
      object('A model that failed.', {
        provider: text('Its provider.'),
        model: text('The model.'),
        reason: text('Why it failed.'),
      }),
    ),
    latency_hints: object('How long it took, in milliseconds.', {
      queue_ms: duration('Until the model was asked.'),
      first_token_ms: duration('Until its first token; null when there was none.').nullable(),
    }),
  },
  isExtension,
);

export function toWireSelection({ provider, model, fallbackChain, latencyHints }: SelectionMetadata): Sent<typeof selection> {
  return {
    provider,
    model,
    fallback_chain: fallbackChain,
    latency_hints: { queue_ms: latencyHints.queueMs, first_token_ms: latencyHints.firstTokenMs },
  };
}
