import { type EndedSubagent, type Subagent, subagentStatuses } from '../../../../entities/conversations/runs/event.ts';
import { builder } from '../../../ground/builder/builder.ts';
import { createEnum, ofFormat } from '../../../ground/types/enums.ts';
import { UsageType } from '../parts.ts';
import { type EventOf, RunEventType } from './events.ts';

const statuses = {
  in_progress: 'It works on its task.',
  completed: 'It completed.',
  failed: 'It failed; other subagents of the same call continue.',
  cancelled: 'Its run was stopped.',
};
const SubagentStatusType = createEnum('SubagentStatus', 'The status of a subagent.', subagentStatuses, statuses, ofFormat);

export const SubagentType = builder.objectRef<Subagent | EndedSubagent>('Subagent').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A model run within a call of a tool of the service, with one task and without the conversation.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The same in all its events.' }),
    name: t.exposeString('name', { description: 'What it is, for people.' }),
    agentId: t.exposeID('agentId', { nullable: true, description: 'The agent whose knowledge it has; null for a bare model.' }),
    parentId: t.exposeID('parentId', { nullable: true, description: 'The subagent that started it; null: the run itself.' }),
    task: t.exposeString('task', { description: 'The question that it works on.' }),
    status: t.expose('status', { type: SubagentStatusType, description: 'Its status.' }),
    depth: t.exposeInt('depth', { description: '1 below the run itself.' }),
    summary: t.string({
      nullable: true,
      description: 'Its findings, or the reason why it has none; null until its end.',
      resolve: (subagent) => ('summary' in subagent ? subagent.summary : null),
    }),
    usage: t.field({
      type: UsageType,
      nullable: true,
      description: 'The tokens used, a part of the usage of its run; null until its end.',
      resolve: (subagent) => ('usage' in subagent ? subagent.usage : null),
    }),
  }),
});

const itemId = 'The call that started it.';
const outputIndex = 'The place of that call in the output, from 0.';

builder.objectRef<EventOf<'response.subagent.started'>>('SubagentStarted').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A tool of the service started a subagent.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: outputIndex }),
    itemId: t.exposeID('itemId', { description: itemId }),
    subagent: t.field({ type: SubagentType, description: 'The subagent.', resolve: ({ subagent }) => subagent }),
  }),
});

builder.objectRef<EventOf<'response.subagent.progress'>>('SubagentProgressed').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A subagent went a step further.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: outputIndex }),
    itemId: t.exposeID('itemId', { description: itemId }),
    subagentId: t.exposeID('subagentId', { description: 'The subagent.' }),
    message: t.exposeString('message', { description: 'A description of the work, for a user interface to show.' }),
    progress: t.exposeFloat('progress', { nullable: true, description: '0 to 1; null where it cannot be told.' }),
    usageSoFar: t.field({
      type: UsageType,
      nullable: true,
      description: 'The tokens used so far; null while they are not known.',
      resolve: ({ usage }) => usage,
    }),
  }),
});

builder.objectRef<EventOf<'response.subagent.completed'>>('SubagentCompleted').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A subagent is over, also when it failed or was stopped: see its `status`.',
  interfaces: [RunEventType],
  fields: (t) => ({
    outputIndex: t.exposeInt('outputIndex', { description: outputIndex }),
    itemId: t.exposeID('itemId', { description: itemId }),
    subagent: t.field({
      type: SubagentType,
      description: 'The subagent, with its summary.',
      resolve: ({ subagent }) => subagent,
    }),
  }),
});
