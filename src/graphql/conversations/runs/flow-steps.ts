import { type FlowStepRecord, flowStepStatuses } from '../../../entities/agents/flow.ts';
import { flowStepTypes } from '../../../entities/agents/part.ts';
import { builder } from '../../ground/builder/builder.ts';
import { createEnum, ofFormat, textOnRest } from '../../ground/types/enums.ts';

const statuses = {
  completed: 'It was carried out.',
  failed: 'It failed. The flow went on with the error as its output, unless it was a model step.',
  skipped: 'A branch passed it over.',
};
const FlowStepStatusType = createEnum('FlowStepStatus', 'How a step of a flow ended.', flowStepStatuses, statuses, ofFormat);

const kinds = {
  retrieve: 'It searches knowledge.',
  prompt: 'It adds to what the model is told.',
  tool: 'It calls a tool.',
  model: 'It asks a model.',
  branch: 'It chooses which step follows.',
};
export const FlowStepKindType = createEnum('FlowStepKind', 'What a step of a flow does.', flowStepTypes, kinds, {
  ...ofFormat,
  ...textOnRest,
});

export const FlowStepType = builder.objectRef<FlowStepRecord>('FlowStep').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A finished step of a flow.',
  fields: (t) => ({
    stepId: t.exposeString('stepId', { description: 'Its id in the flow, else `step_` and its place from 1.' }),
    type: t.expose('type', {
      type: FlowStepKindType,
      description: 'What it does.',
      extensions: { restDescription: '`retrieve`, `prompt`, `tool`, `model` or `branch`.' },
    }),
    status: t.expose('status', { type: FlowStepStatusType, description: 'How it ended.' }),
    input: t.exposeString('input', { description: 'What it worked with; at most 4 kB.' }),
    output: t.exposeString('output', { description: 'What it came to; at most 4 kB.' }),
    durationMs: t.exposeInt('durationMs', { description: 'Milliseconds that it took.' }),
  }),
});
