import { type FlowStepRecord, flowStepStatuses } from '../../entities/agents/flow.ts';
import { builder } from '../builder/builder.ts';
import { wireEnumOf } from '../types/enums.ts';

const FlowStepStatusType = wireEnumOf('FlowStepStatus', 'How a step of a flow ended.', flowStepStatuses, {
  completed: 'It was carried out.',
  failed: 'It failed. The flow went on with the error as its output, unless it was a model step.',
  skipped: 'A branch passed it over.',
});

export const FlowStepType = builder.objectRef<FlowStepRecord>('FlowStep').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A finished step of a flow.',
  fields: (t) => ({
    stepId: t.exposeString('stepId', { description: 'Its id in the flow, else `step_` and its place from 1.' }),
    type: t.exposeString('type', { description: '`retrieve`, `prompt`, `tool`, `model` or `branch`.' }),
    status: t.expose('status', { type: FlowStepStatusType, description: 'How it ended.' }),
    input: t.exposeString('input', { description: 'What it worked with; at most 4 kB.' }),
    output: t.exposeString('output', { description: 'What it came to; at most 4 kB.' }),
    durationMs: t.exposeInt('durationMs', { description: 'Milliseconds that it took.' }),
  }),
});
