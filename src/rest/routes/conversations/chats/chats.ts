import { openChatExport } from '../../../../domain/conversations/chats/changes.ts';
import { chatEventEncoder, chatMessageReply, messageParts, pinPosition } from '../../../../wire/chats.ts';
import { pageInfo, pageQuery } from '../../../paging.ts';
import type { DeclaredRoute } from '../../../route.ts';

const chatFields = 'id createdAt updatedAt name userId pinPosition ai: shownAgent { id name src description userId userName }';
const messageFields = 'id createdAt updatedAt content role';
const shownMessageFields = `${messageFields} parts { type: __typename ... on TextPart { text } ... on FilePart { id: fileId } ... on ImagePart { url } } isPlainText toolCalls { id name arguments approval } toolCallId toolStatus runId isComplete error { code message }
  citations { id index knowledgeItemId dataSourceId name url type page headingPath snippet charStart charEnd score answerStart answerEnd }`;
const chatWithMessages = `${chatFields} messages { nodes { ${shownMessageFields} } }`;
const hiddenNulls = ['parts', 'toolCallId', 'toolStatus', 'approval', 'error'];
const blankName = { 'Chat.name': 'Empty until the first exchange names it.' };
const blankSeed = {
  ...blankName,
  seed: 'A text of its agent that the first message begins from, for the box of a front end; empty when there is none. Models do not get it.',
};
const runFields = 'id createdAt startedAt endedAt chatId status incompleteReason error { code message } modelId';
const blankModel = { 'Run.modelId': 'The model that was asked for.' };
const chatShapes = { pinPosition };
const messageShapes = { parts: messageParts, isPlainText: 'unshown' } as const;
const withMessages = {
  terms: { whole: true as const },
  lists: { messages: 'What was said, in order; the newest 2,000 when there are more.' },
  shapes: { ...chatShapes, ...messageShapes },
};
const usageFields = 'usage { inputTokens outputTokens cachedTokens reasoningTokens totalTokens isEstimated }';

const exportFormat = (format: unknown) => (format === 'json' ? 'json' : 'markdown');

const toolExample = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Tells the weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

const sending =
  'subscription ($chatId: ID!, $input: SendMessageInput!) { messageEvents(chatId: $chatId, input: $input) { sequence } }';
const submitting =
  'subscription ($chatId: ID!, $input: SubmitToolOutputsInput!) { toolOutputEvents(chatId: $chatId, input: $input) { sequence } }';
const editing =
  'subscription ($messageId: ID!, $input: EditMessageInput!) { editedMessageEvents(id: $messageId, input: $input) { sequence } }';
const regenerating =
  'subscription ($messageId: ID!, $input: RegenerateMessageInput) { regeneratedMessageEvents(id: $messageId, input: $input) { sequence } }';
const following = 'subscription ($runId: ID!) { runEvents(runId: $runId) { sequence } }';
/** The chat that a message or a run must be in. */
const ofChat = { chatId: 'ID' } as const;

/** The whole trace of a run. */
const tracing = `query ($runId: ID!) {
  runTrace(runId: $runId) {
    runId status showsSteps instructions
    steps { stepId type status input output durationMs }
    retrieval { question mode reason passages { title score } }
    retrievals { question mode reason passages { title score } }
    modelCalls { modelId inputTokens outputTokens durationMs }
    toolCalls { callId name outcome error durationMs }
    subagents { id name agentId parentId task status depth summary usage { inputTokens outputTokens } }
    skills { name content }
  }
}`;

export const chatRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'listChatsOfAgent',
    method: 'get',
    path: '/api/v1/ais/{aiId}/chats',
    summary: 'List chats of an AI',
    description:
      "The caller's own; for who may edit the AI, everybody's, as far as it shows its logs. The one changed last comes first.",
    tag: 'Chats',
    spec: 'List chats of an AI',
    shapes: chatShapes,
    blankNull: blankName,
    document: `query ($aiId: ID!, $limit: Int = 100, $cursor: String) {
      chats(agentId: $aiId, first: $limit, after: $cursor) { nodes { ${chatFields} } ${pageInfo} }
    }`,
    query: pageQuery,
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'createChat',
    method: 'post',
    path: '/api/v1/ais/{aiId}/chats',
    summary: 'Create chat for an AI',
    description: "Its transcript begins with the AI's `introduction`; `seed` is the text that the first message begins from.",
    tag: 'Chats',
    spec: 'Create chat for an AI',
    schemas: { Chat: 'CreatedChat' },
    shapes: chatShapes,
    document: `mutation ($aiId: ID!, $input: CreateChatInput!) { createChat(agentId: $aiId, input: $input) { ${chatFields} seed isVisibleToEditors } }`,
    blankNull: blankSeed,
    body: 'input',
    example: { name: 'Holidays' },
  },
  {
    operationId: 'listMyChats',
    method: 'get',
    path: '/api/v1/chats',
    summary: "List current user's chats",
    description: 'The one changed last comes first.',
    tag: 'Chats',
    spec: "List current user's chats",
    shapes: chatShapes,
    blankNull: blankName,
    document: `query ($search: String, $archive: ArchiveChoice, $tag: String, $projectId: ID, $limit: Int = 100, $cursor: String) {
      chats(search: $search, archive: $archive, tag: $tag, projectId: $projectId, first: $limit, after: $cursor) { nodes { ${chatFields} } ${pageInfo} }
    }`,
    query: {
      search: 'Only chats whose name or messages hold this, in any case.',
      archive: 'Whether archived chats are listed: `without`, `only` or `with` them. Default `without`.',
      tag: 'Only chats with this tag.',
      projectId: 'Only chats in this project.',
      ...pageQuery,
    },
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'getChat',
    method: 'get',
    path: '/api/v1/chats/{chatId}',
    summary: 'Get chat',
    description:
      'With its messages, in order; the newest 2,000 when there are more. Long chats are read page by page with List messages of a chat.',
    tag: 'Chats',
    spec: 'Get chat',
    schemas: { Chat: 'ChatDetail' },
    ...withMessages,
    document: `query ($chatId: ID!) { chat(id: $chatId) { ${chatWithMessages} seed isVisibleToEditors activeRunId } }`,
    omitNull: hiddenNulls,
    blankNull: blankSeed,
  },
  {
    operationId: 'listMessagesOfChat',
    method: 'get',
    path: '/api/v1/chats/{chatId}/messages',
    summary: 'List messages of a chat',
    description:
      'The newest message comes first, so the first page is the end of the chat, and `nextCursor` leads back to its beginning.',
    tag: 'Chats',
    shapes: messageShapes,
    document: `query ($chatId: ID!, $limit: Int = 100, $cursor: String) {
      chatMessages(chatId: $chatId, first: $limit, after: $cursor) { nodes { ${shownMessageFields} } ${pageInfo} }
    }`,
    query: pageQuery,
    wrap: 'data',
    page: 'cursor',
    omitNull: hiddenNulls,
  },
  {
    operationId: 'updateChat',
    method: 'patch',
    path: '/api/v1/chats/{chatId}',
    summary: 'Rename or pin a chat',
    description:
      'Also archives, labels and moves it. Absent members are kept; null takes the name, the pin or the project away; 0 is no pin, lower ones stand higher.',
    tag: 'Chats',
    shapes: chatShapes,
    blankNull: blankName,
    document: `mutation ($chatId: ID!, $input: UpdateChatInput!) { updateChat(id: $chatId, input: $input) { ${chatFields} } }`,
    body: 'input',
    example: { name: 'Holidays', pinPosition: 1, isArchived: false, tags: ['travel'] },
  },
  {
    operationId: 'deleteChat',
    method: 'delete',
    path: '/api/v1/chats/{chatId}',
    summary: 'Delete a chat',
    description:
      'With everything said in it; its run is stopped. It can be restored from the bin for a while. Answers the chat as it was, without messages.',
    tag: 'Chats',
    shapes: chatShapes,
    blankNull: blankName,
    document: `mutation ($chatId: ID!) { deleteChat(id: $chatId) { ${chatFields} } }`,
  },
  {
    operationId: 'duplicateChat',
    method: 'post',
    path: '/api/v1/chats/{chatId}/duplicate',
    summary: 'Duplicate chat',
    description: 'A new chat with the same messages, files, name and AI. It is not pinned, and has no runs.',
    tag: 'Chats',
    spec: 'Duplicate chat',
    schemas: { Chat: 'ChatWithMessages' },
    ...withMessages,
    blankNull: blankName,
    document: `mutation ($chatId: ID!) { duplicateChat(id: $chatId) { ${chatWithMessages} } }`,
    omitNull: hiddenNulls,
  },
  {
    operationId: 'resetChat',
    method: 'post',
    path: '/api/v1/chats/{chatId}/reset',
    summary: 'Reset chat',
    description:
      'Removes all messages, with the files and the summary; id, AI, name and pin stay. 409 while a run answers: cancel that first.',
    tag: 'Chats',
    spec: 'Reset chat (clears its current state or content)',
    schemas: { Chat: 'ChatWithMessages' },
    ...withMessages,
    blankNull: blankName,
    document: `mutation ($chatId: ID!) { resetChat(id: $chatId) { ${chatWithMessages} } }`,
    omitNull: hiddenNulls,
  },
  {
    operationId: 'summarizeChat',
    method: 'post',
    path: '/api/v1/chats/{chatId}/summarize',
    summary: 'Summarize a chat',
    description:
      'Summarizes the chat with the model of its AI, and stores the summary with the chat. 409 when nothing was said yet.',
    asksModel: true,
    tag: 'Chats',
    document: 'mutation ($chatId: ID!) { summarizeChat(id: $chatId) { summary } }',
  },
  {
    operationId: 'compressChat',
    method: 'post',
    path: '/api/v1/chats/{chatId}/compress',
    summary: 'Compress a chat',
    description:
      'From here on, models are given a summary in place of all but the last two turns. The transcript stays as it is. Does nothing when there is nothing older.',
    asksModel: true,
    tag: 'Chats',
    document: 'mutation ($chatId: ID!) { compressChat(id: $chatId) { summary compressedCount keptCount } }',
  },
  {
    operationId: 'exportChat',
    method: 'get',
    path: '/api/v1/chats/{chatId}/export',
    summary: 'Export a chat',
    description: 'The transcript as a file, Markdown or JSON, without what only models are given.',
    tag: 'Chats',
    document: `query ($chatId: ID!, $format: ChatExportFormat = MARKDOWN) { chatExport(chatId: $chatId, format: $format) { filename } }`,
    query: { format: 'markdown or json. Default markdown.' },
    download: (deps, caller, { chatId, format }) => openChatExport(deps, caller, String(chatId), exportFormat(format)),
  },
  {
    operationId: 'sendMessage',
    method: 'post',
    path: '/api/v1/chats/{chatId}/messages',
    summary: 'Send a message',
    description:
      'Answers when the run is over, or with an event stream: `stream: true`, or `Accept: text/event-stream`. A client that leaves does not stop the run. ' +
      '`toolCalls` ask for outputs: see Submit tool outputs. A run that failed is told by `status` and `error`.',
    tag: 'Chats',
    spec: 'Send a message to a chat',
    document: sending,
    body: 'input',
    reply: chatMessageReply,
    stream: { when: 'stream-or-accept', document: sending, encoder: chatEventEncoder, event: 'ChatStreamEvent' },
    replyHeaders: { 'x-thread-attached': 'The message became part of another run: `collect` or `steer`.' },
    example: {
      prompt: [{ type: 'text', text: 'What is the weather in Paris?' }],
      date: '2026-01-31T09:30:00.000Z',
      modelId: 'parley/offline',
      options: {},
      tools: [toolExample],
      secrets: {},
      threadMode: 'collect',
      stream: false,
    },
  },
  {
    operationId: 'editMessage',
    method: 'post',
    path: '/api/v1/chats/{chatId}/messages/{messageId}/edit',
    summary: 'Edit a message',
    description:
      'Begins a branch with another text in place of a message of the user, and answers it. The old branch stays: see Select a branch. Replies and streams as Send a message does. 409 while a run answers, waits or is paused in the chat.',
    tag: 'Chats',
    document: editing,
    terms: ofChat,
    body: 'input',
    reply: chatMessageReply,
    stream: { when: 'stream-or-accept', document: editing, encoder: chatEventEncoder, event: 'ChatStreamEvent' },
    example: {
      prompt: 'What is the weather in Rome?',
      date: '2026-01-31T09:30:00.000Z',
      modelId: 'parley/offline',
      options: {},
      tools: [toolExample],
      secrets: {},
      stream: false,
    },
  },
  {
    operationId: 'regenerateMessage',
    method: 'post',
    path: '/api/v1/chats/{chatId}/messages/{messageId}/regenerate',
    summary: 'Regenerate an answer',
    description:
      'Begins a branch with another answer in place of one, or with an answer to a message that has none, whatever became of the run before: with the same tools and instructions, and the same model unless another one is named. The old answer stays: see Select a branch. Replies and streams as Send a message does. 409 while a run answers, waits or is paused in the chat. A request with secrets needs them again.',
    tag: 'Chats',
    document: regenerating,
    terms: ofChat,
    body: 'input',
    reply: chatMessageReply,
    stream: { when: 'stream-or-accept', document: regenerating, encoder: chatEventEncoder, event: 'ChatStreamEvent' },
    example: { modelId: 'parley/offline', secrets: {}, stream: false },
  },
  {
    operationId: 'selectBranch',
    method: 'post',
    path: '/api/v1/chats/{chatId}/messages/{messageId}/select',
    summary: 'Select a branch',
    description:
      'Makes the newest branch that goes through a message the one that people and models read, and answers the chat. 409 while a run answers, waits or is paused in it.',
    tag: 'Chats',
    schemas: { Chat: 'ChatWithMessages' },
    ...withMessages,
    blankNull: blankName,
    document: `mutation ($messageId: ID!) { selectBranch(messageId: $messageId) { ${chatWithMessages} } }`,
    terms: { ...ofChat, whole: true },
    omitNull: hiddenNulls,
  },
  {
    operationId: 'rateMessage',
    method: 'put',
    path: '/api/v1/chats/{chatId}/messages/{messageId}/feedback',
    summary: 'Rate an answer',
    description:
      'Says what the user of the chat thinks of an answer, in place of what the user said before; editors of the AI and administrators of the organization read it. The reply is null after the rating `NONE`. 409 for a message that is no answer.',
    tag: 'Chats',
    terms: ofChat,
    document: `mutation ($messageId: ID!, $input: RateMessageInput!) {
      rateMessage(id: $messageId, input: $input) {
        feedback { id createdAt updatedAt messageId runId chatId rating tags comment }
      }
    }`,
    member: 'feedback',
    body: 'input',
    example: { rating: 'UP', tags: ['clear'], comment: 'Just what I needed.' },
  },
  {
    operationId: 'submitToolOutputs',
    method: 'post',
    path: '/api/v1/chats/{chatId}/tool-outputs',
    summary: 'Submit tool outputs',
    description:
      'Answers all calls that a message asked for, each once, and goes on. Replies and streams as Send a message does. 409 when they were answered already or the chat went on without them.',
    tag: 'Chats',
    spec: 'Submit tool outputs',
    document: submitting,
    body: 'input',
    reply: chatMessageReply,
    stream: { when: 'stream-or-accept', document: submitting, encoder: chatEventEncoder, event: 'ChatStreamEvent' },
    example: {
      systemMessageId: 'msg_01ke2s7d4vfzgv0b4xw2q9a1bc',
      outputs: [{ toolCallId: 'call_1', status: 'success', output: '{"celsius":12}' }],
      options: {},
      stream: false,
    },
  },
  {
    operationId: 'followRun',
    method: 'get',
    path: '/api/v1/chats/{chatId}/runs/{runId}/events',
    summary: 'Follow a run of a chat',
    description:
      'The event stream of a run from its start, or after `Last-Event-ID`, until its end; the same frames as the stream of Send a message.',
    tag: 'Chats',
    document: following,
    terms: ofChat,
    stream: { when: 'always', document: following, encoder: chatEventEncoder, event: 'ChatStreamEvent', resumesFrames: true },
  },
  {
    operationId: 'getRunTrace',
    method: 'get',
    path: '/api/v1/runs/{runId}/trace',
    summary: 'Get the trace of a run',
    description:
      'What a run of a chat, or a stored response, did between question and answer. Steps and searches only where the agent shows them or the caller may edit it; instructions and contents of skills for editors only.',
    tag: 'Chats',
    document: tracing,
    schemas: { FlowStep: 'TraceFlowStep', Usage: 'SubagentUsage' },
  },
  {
    operationId: 'cancelRun',
    method: 'post',
    path: '/api/v1/chats/{chatId}/runs/{runId}/cancel',
    summary: 'Cancel a run of a chat',
    description: 'Answers when it is over. What it said stays; a run that is over is answered as it is.',
    tag: 'Chats',
    terms: ofChat,
    blankNull: blankModel,
    document: `mutation ($runId: ID!) { cancelRun(id: $runId) { ${runFields} ${usageFields} } }`,
    omitNull: ['isEstimated'],
  },
  {
    operationId: 'retryRun',
    method: 'post',
    path: '/api/v1/chats/{chatId}/runs/{runId}/retry',
    summary: 'Ask a failed run of a chat again',
    description:
      'Begins a run that is asked the same, with the same model, tools and instructions, and answers it at once: follow it by its events. What the failed run said and did stays in the chat, and the model reads it. 409 when the run did not fail or the chat went on. A request with secrets needs them again.',
    tag: 'Chats',
    terms: ofChat,
    blankNull: blankModel,
    document: `mutation ($runId: ID!, $input: RetryRunInput) {
      retryRun(id: $runId, input: $input) { ${runFields} ${usageFields} }
    }`,
    omitNull: ['isEstimated'],
    body: 'input',
    example: { secrets: {} },
  },
  {
    operationId: 'compareAnswers',
    method: 'post',
    path: '/api/v1/chats/{chatId}/messages/{messageId}/compare',
    summary: 'Answer beside an answer',
    description:
      'Begins another answer to the same message, by another agent (`agentId`), another model (`modelId`), or the same ones once more, and answers its run at once: follow it by its events. Select branch goes on with one of them. At most four answers stand beside each other.',
    tag: 'Chats',
    terms: ofChat,
    blankNull: blankModel,
    document: `mutation ($messageId: ID!, $input: CompareAnswersInput) {
      compareAnswers(messageId: $messageId, input: $input) { ${runFields} ${usageFields} }
    }`,
    omitNull: ['isEstimated'],
    body: 'input',
    example: { modelId: 'parley/offline' },
  },
];
