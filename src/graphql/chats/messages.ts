import { freshContentAddress } from '../../engine/knowledge/content-links.ts';
import { messageRoles, type ToolCall, toolOutputStatuses } from '../../entities/chats/chat.ts';
import type { Citation } from '../../entities/knowledge/citation.ts';
import { builder } from '../builder/builder.ts';
import { MessageRef } from '../refs.ts';
import { RunErrorType } from '../runs/run-error.ts';
import { wireEnumOf } from '../types/enums.ts';

export const ToolOutputStatusType = wireEnumOf('ToolOutputStatus', 'How a call of a tool went.', toolOutputStatuses, {
  success: 'It gave the output.',
  error: 'It failed; the output says why.',
  cancelled: 'The call was not made.',
});

export const MessageRoleType = wireEnumOf('MessageRole', 'Who says a message.', messageRoles, {
  user: 'The user.',
  assistant: 'The agent.',
  system: 'The service.',
  tool: 'The output of a tool.',
});

export const CitationType = builder.objectRef<Citation>('Citation').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A passage that an answer cites.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the passage.' }),
    index: t.exposeInt('index', { description: 'The number in its `[n]` marker, in order of first use.' }),
    knowledgeItemId: t.exposeID('knowledgeItemId', { description: 'The document it is from; empty for a page of the web.' }),
    dataSourceId: t.exposeID('dataSourceId', { description: 'The data source of that document; empty for a page of the web.' }),
    name: t.exposeString('name', { description: 'The title of that document.' }),
    url: t.string({
      description: 'Where to read it: the address of a web page, or a link that works without a key for half an hour to an hour.',
      resolve: (citation, _args, { deps }) => freshContentAddress(deps, citation),
    }),
    type: t.exposeString('type', { description: 'The kind of that document.' }),
    page: t.exposeInt('page', { nullable: true, description: 'The page it stands on, where there are pages.' }),
    headingPath: t.exposeString('headingPath', { description: 'The headings above it; empty when there are none.' }),
    snippet: t.exposeString('snippet', { description: 'Its first 300 characters.' }),
    charStart: t.exposeInt('charStart', { description: 'Where it starts in the text of the document, UTF-16 code units.' }),
    charEnd: t.exposeInt('charEnd', { description: 'Where it ends.' }),
    score: t.exposeFloat('score', { description: 'How close it is to the question; higher is closer.' }),
    answerStart: t.exposeInt('answerStart', { description: 'Where the marker starts in the answer, UTF-16 code units.' }),
    answerEnd: t.exposeInt('answerEnd', { description: 'Where the marker ends, UTF-16 code units.' }),
  }),
});

export const ToolCallType = builder.objectRef<ToolCall>('ToolCall').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A call that the caller is asked to make.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id that the output refers to.' }),
    name: t.exposeString('name', { description: 'The name of the function.' }),
    arguments: t.exposeString('arguments', { description: 'Its arguments as JSON text.' }),
    approval: t.boolean({
      nullable: true,
      description:
        'True when the tool runs in the service and waits for approval: the output `success` approves (an object replaces the arguments), `cancelled` refuses.',
      resolve: ({ approval }) => approval ?? null,
    }),
  }),
});

export const MessageType = MessageRef.implement({
  access: { scope: 'CHATS:READ' },
  description: 'A message of a chat.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique; sorts by time.' }),
    chatId: t.exposeID('chatId', { description: 'The chat it stands in.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it began.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    role: t.expose('role', { type: MessageRoleType, description: "The role of the message's author." }),
    content: t.exposeString('content', { description: 'Its text; empty for a message that only asks for calls.' }),
    parts: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'The content parts as they were sent: `{type: "text", text}`, `{type: "id", id}`, `{type: "url", url}`. Null for plain text.',
      resolve: ({ parts }) => parts,
    }),
    toolCalls: t.field({
      type: [ToolCallType],
      description: 'Calls that it asks the caller to make.',
      resolve: ({ toolCalls }) => toolCalls ?? [],
    }),
    toolCallId: t.exposeString('toolCallId', { nullable: true, description: 'With the role tool: the call that it answers.' }),
    toolStatus: t.expose('toolStatus', {
      type: ToolOutputStatusType,
      nullable: true,
      description: 'With the role tool: how the call went.',
    }),
    citations: t.field({
      type: [CitationType],
      description: 'The cited passages, in the order of its text.',
      resolve: ({ citations }) => citations ?? [],
    }),
    runId: t.exposeID('runId', { nullable: true, description: 'The run that it began, or whose output it is.' }),
    error: t.field({
      type: RunErrorType,
      nullable: true,
      description:
        'On a message of the user: why the run that answers it failed. `retryRun` asks it again while it is the last one.',
      resolve: ({ failure }) => failure ?? null,
    }),
    isComplete: t.boolean({
      description: 'False when the run was cut while it was being said.',
      resolve: ({ status }) => status === 'completed',
    }),
  }),
});
