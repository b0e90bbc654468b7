import { flowStepStatuses } from '../entities/agents/flow.ts';
import { flowStepTypes } from '../entities/agents/part.ts';
import { component, integer, oneOfTexts, text } from './schema.ts';

/** A finished step of a flow, as completions and responses show it. */
export const flowStepWire = component('FlowStepRecord', 'A finished step of a flow.', {
  step_id: text('Its id in the flow, else `step_` and its place from 1.'),
  type: oneOfTexts('What it does.', flowStepTypes),
  status: oneOfTexts('How it ended.', flowStepStatuses),
  input: text('What it worked with; at most 4 kB.'),
  output: text('What it came to; at most 4 kB.'),
  duration_ms: integer('Milliseconds that it took.'),
});
