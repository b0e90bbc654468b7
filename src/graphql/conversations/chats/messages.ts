import { getMessages, listKin, listReplies } from '../../../domain/conversations/chats/branches.ts';
import { listFailures } from '../../../domain/conversations/chats/transcripts.ts';
import { findOpenItems } from '../../../domain/knowledge/permissions/open-items.ts';
import { freshContentAddress } from '../../../engine/knowledge/content-links.ts';
import {
  type Chat,
  type ChatMessage,
  messageRoles,
  type PromptPart,
  type ToolCall,
  toolOutputStatuses,
} from '../../../entities/conversations/chats/chat.ts';
import type { Run } from '../../../entities/conversations/runs/run.ts';
import { type Citation, closeCitation, hiddenTitle } from '../../../entities/knowledge/citation.ts';
import { batched } from '../../ground/builder/batched.ts';
import { builder } from '../../ground/builder/builder.ts';
import type { GraphContext } from '../../ground/builder/context.ts';
import { loadNode, loadNodes, nodeById, registerNode } from '../../ground/builder/nodes.ts';
import { AgentRef, ChatFileRef, ChatRef, MessageRef, RunRef } from '../../ground/refs.ts';
import { createEnum, ofFormat } from '../../ground/types/enums.ts';
import { NodeType } from '../../ground/types/node.ts';
import { RunErrorType } from '../runs/run-error.ts';

export const ToolOutputStatusType = createEnum(
  'ToolOutputStatus',
  'How a call of a tool went.',
  toolOutputStatuses,
  {
    success: 'It gave the output.',
    error: 'It failed; the output says why.',
    cancelled: 'The call was not made.',
  },
  ofFormat,
);

export const MessageRoleType = createEnum(
  'MessageRole',
  'Who says a message.',
  messageRoles,
  {
    user: 'The user.',
    assistant: 'The agent.',
    system: 'The service.',
    tool: 'The output of a tool.',
  },
  ofFormat,
);

const isOpenTo = batched((citations: readonly Citation[], { deps, caller }) => findOpenItems(deps, caller, citations));

/** A citation as the caller may see it: of a document that is closed to the caller, nothing but its number and place. */
async function shownCitation(context: GraphContext, citation: Citation): Promise<Citation> {
  if (isLentSource(context, citation)) return citation;
  return (await isOpenTo(context, citation)) ? citation : closeCitation(citation);
}

function isLentSource({ deps }: GraphContext, { dataSourceId }: Citation): boolean {
  return dataSourceId === '' || deps.storage.knowledge.permissions.gates.isLent(dataSourceId);
}

function freshAddress(context: GraphContext, citation: Citation): string {
  const { orgId, userId } = context.caller;
  return freshContentAddress(context.deps, citation, isLentSource(context, citation) ? undefined : { orgId, userId });
}

export const CitationType = builder.objectRef<Citation>('Citation').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A passage that an answer cites.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the passage.' }),
    index: t.exposeInt('index', { description: 'The number in its `[n]` marker, in order of first use.' }),
    knowledgeItemId: t.exposeID('knowledgeItemId', { description: 'The document it is from; empty for a page of the web.' }),
    dataSourceId: t.exposeID('dataSourceId', { description: 'The data source of that document; empty for a page of the web.' }),
    name: t.string({
      description: 'The title of that document; `Hidden from you` where the caller may not open it any more.',
      resolve: async (citation, _args, context) => (await shownCitation(context, citation)).name,
    }),
    isHidden: t.boolean({
      description: 'Whether the caller may not open the document: then nothing is shown of it but the place of its number.',
      resolve: async (citation, _args, context) => (await shownCitation(context, citation)).name === hiddenTitle,
    }),
    url: t.string({
      description: 'Where to read it: the address of a web page, or a link that works without a key for half an hour to an hour.',
      resolve: async (citation, _args, context) => freshAddress(context, await shownCitation(context, citation)),
    }),
    type: t.exposeString('type', { description: 'The kind of that document.' }),
    page: t.int({
      nullable: true,
      description: 'The page it stands on, where there are pages.',
      resolve: async (citation, _args, context) => (await shownCitation(context, citation)).page,
    }),
    headingPath: t.string({
      description: 'The headings above it; empty when there are none.',
      resolve: async (citation, _args, context) => (await shownCitation(context, citation)).headingPath,
    }),
    snippet: t.string({
      description: 'Its first 300 characters.',
      resolve: async (citation, _args, context) => (await shownCitation(context, citation)).snippet,
    }),
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

type TextPart = Extract<PromptPart, { readonly type: 'text' }>;
type FilePart = Extract<PromptPart, { readonly type: 'id' }>;
type ImagePart = Extract<PromptPart, { readonly type: 'url' }>;

const TextPartType = builder.objectRef<TextPart>('TextPart').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A text in a message.',
  fields: (t) => ({ text: t.exposeString('text', { description: 'The text.' }) }),
});

const FilePartType = builder.objectRef<FilePart>('FilePart').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A file of the chat in a message: one that the user sent, or an image that a tool made.',
  fields: (t) => ({
    fileId: t.exposeID('id', { description: 'The id of the file.' }),
    file: t.field({
      type: ChatFileRef,
      nullable: true,
      description: 'The file; null when it is deleted.',
      resolve: ({ id }, _args, context) => loadNode(context, 'chatFile', id),
    }),
  }),
});

const ImagePartType = builder.objectRef<ImagePart>('ImagePart').implement({
  access: { scope: 'CHATS:READ' },
  description: 'An image in a message by its address.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'An http(s) address, or the image itself as a data URL.' }),
  }),
});

const partTypes = { text: TextPartType, id: FilePartType, url: ImagePartType } as const;

export const MessagePartType = builder.unionType('MessagePart', {
  description: 'A part of what a message says.',
  types: [TextPartType, FilePartType, ImagePartType],
  resolveType: ({ type }) => partTypes[type],
});

const filesMax = 100;
const kinMax = 100;
/** The places of messages among those that people see. */
const kinOfMessage = batched((ids: readonly string[], { deps }) => listKin(deps, ids));
const repliesToMessage = batched((ids: readonly string[], { deps }) => listReplies(deps, ids));
const failureOfMessage = batched((messages: readonly ChatMessage[], { deps }) => listFailures(deps, messages));

export const MessageType = MessageRef.implement({
  access: { scope: 'CHATS:READ' },
  description: 'A message of a chat.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique; sorts by time.' }),
    chatId: t.exposeID('chatId', { description: 'The chat it stands in.' }),
    chat: t.field({
      type: ChatRef,
      nullable: true,
      description: 'That chat; null when it was deleted meanwhile.',
      resolve: ({ chatId }, _args, context) => loadNode(context, 'chat', chatId),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it began.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    role: t.expose('role', { type: MessageRoleType, description: "The role of the message's author." }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      description:
        'The agent that says it; null on messages of others, in a chat with a bare model, and when the caller may not see the agent.',
      resolve: (message, _args, context) => (message.role === 'assistant' ? agentOfMessage(context, message) : null),
    }),
    content: t.exposeString('content', { description: 'Its text; empty for a message that only asks for calls.' }),
    parts: t.field({
      type: [MessagePartType],
      description: 'What it says, in order: its text, and files and images between; at most 100.',
      resolve: listParts,
    }),
    isPlainText: t.boolean({
      description: 'Whether it was sent as a text, not as a list of parts.',
      resolve: ({ parts }) => parts === null,
    }),
    files: t.field({
      type: [ChatFileRef],
      description: `The files among its parts that are not deleted; at most ${filesMax}.`,
      resolve: ({ parts }, _args, context) => {
        const ids = (parts ?? []).flatMap((part) => (part.type === 'id' ? [part.id] : []));
        return loadNodes(context, 'chatFile', [...new Set(ids)].slice(0, filesMax));
      },
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
  }),
});

/** The run it belongs to. */
builder.objectFields(MessageRef, (t) => ({
  runId: t.exposeID('runId', { nullable: true, description: 'The run that it began, or whose output it is.' }),
  agentVersion: t.int({
    nullable: true,
    description:
      'The version of the agent that said it; 0: a draft that was not published. Where it differs from that of the answer before, the agent was changed in between. Null for other messages, and for those of before versions.',
    resolve: ({ agentVersion }) => agentVersion ?? null,
  }),
  run: t.field({
    type: RunRef,
    nullable: true,
    description: 'That run; null for a message that belongs to none.',
    resolve: ({ runId }, _args, context) => nodeById(context, runId),
  }),
  modelName: t.string({
    nullable: true,
    description:
      'On an imported answer: the model that wrote it, as the file called it. The model of an answer of here is that of its run.',
    resolve: ({ modelName }) => modelName ?? null,
  }),
  error: t.field({
    type: RunErrorType,
    nullable: true,
    description:
      'On a message of the user: why the run that answers it failed. `retryRun` asks it again while it is the last one.',
    resolve: (message, _args, context) => failureOfMessage(context, message),
  }),
  isComplete: t.boolean({
    description: 'False when the run was cut while it was being said.',
    resolve: ({ status }) => status === 'completed',
  }),
}));

/** Its place among the branches of its chat. */
builder.objectFields(MessageRef, (t) => ({
  isActive: t.exposeBoolean('isActive', {
    description: 'Whether it is on the branch that people and models read. `selectBranch` changes that.',
  }),
  parent: t.field({
    type: MessageRef,
    nullable: true,
    description: 'The message before it on its branch; null for the first.',
    resolve: async ({ id }, _args, context) => loadNode(context, 'message', (await kinOfMessage(context, id)).parentId),
  }),
  siblings: t.field({
    type: [MessageRef],
    description: `The messages at its place on all branches, itself among them, the first one first: texts of \`editMessage\`, answers of \`regenerateMessage\`. The newest ${kinMax} when there are more.`,
    resolve: async ({ id }, _args, context) =>
      loadNodes(context, 'message', (await kinOfMessage(context, id)).siblingIds.slice(-kinMax)),
  }),
  siblingIndex: t.int({
    description: 'Its place among its siblings, from 0.',
    resolve: async ({ id }, _args, context) => (await kinOfMessage(context, id)).siblingIds.indexOf(id),
  }),
  siblingCount: t.int({
    description: 'How many messages there are at its place, itself among them; 1 where there are no branches.',
    resolve: async ({ id }, _args, context) => (await kinOfMessage(context, id)).siblingIds.length,
  }),
  replies: t.field({
    type: [MessageRef],
    description: `The messages that follow it, one on each branch, the first one first. The newest ${kinMax} when there are more.`,
    resolve: async ({ id }, _args, context) =>
      loadNodes(context, 'message', (await repliesToMessage(context, id)).slice(-kinMax)),
  }),
}));

registerNode('message', {
  typeName: 'Message',
  operation: 'Query.chatMessages',
  loadMany: (ids, { deps, caller }) => getMessages(deps, caller, ids),
});

/** Plain text is a part too. */
export function listParts({ parts, content }: Pick<ChatMessage, 'parts' | 'content'>): PromptPart[] {
  if (parts !== null) return [...parts];
  return content === '' ? [] : [{ type: 'text', text: content }];
}

/** That of the run, which may be another one than that of the chat: agents answer beside each other. */
async function agentOfMessage(context: GraphContext, { runId, chatId }: ChatMessage): Promise<never | null> {
  const run = (await nodeById(context, runId)) as Run | null;
  if (run !== null) return loadNode(context, 'agent', run.agentId);
  const chat = (await loadNode(context, 'chat', chatId)) as Chat | null;
  return loadNode(context, 'agent', chat?.agentId);
}
