import { ownServerLabel } from '../../../../entities/conversations/runs/tool.ts';
import { builder } from '../../../ground/builder/builder.ts';
import { flatInput, held, itself, tagged } from '../../../ground/builder/flat-inputs.ts';
import { ToolOutputStatusType } from '../../chats/messages.ts';
import { ItemRoleType, MessagePhaseType } from './items.ts';
import { ImageDetailType } from './parts.ts';

/** Items as GraphQL takes them: of a request for a response, and of a conversation. Their flat form is that of the responses format. */

const idDescription = 'The id it had before; one is given when there is none.';
const invisible = 'Whether it is for the model only, and left out of transcripts. Default false.';

const TextPartInput = flatInput<object>(
  builder.inputType('ItemTextPartInput', {
    description: 'A text for the model.',
    fields: (t) => ({
      text: t.string({ description: 'The text.' }),
      isInvisible: t.boolean({ required: false, description: invisible }),
      metadata: t.field({
        type: 'JSON',
        required: false,
        description: 'At most 16 members, kept with the part; no model is told of them. JSON: they belong to the caller.',
      }),
    }),
  }),
  { members: { isInvisible: 'invisible' } },
);

const ImagePartInput = flatInput<object>(
  builder.inputType('ItemImagePartInput', {
    description: 'An image for the model: by its address, or as a file.',
    fields: (t) => ({
      imageUrl: t.string({ required: false, description: 'An http(s) address, or a data URL with the image in base64.' }),
      fileId: t.id({ required: false, description: 'A file of a chat of the caller.' }),
      detail: t.field({ type: ImageDetailType, required: false, description: 'How closely the model looks. Default AUTO.' }),
      isInvisible: t.boolean({ required: false, description: invisible }),
    }),
  }),
  { members: { imageUrl: 'image_url', fileId: 'file_id', isInvisible: 'invisible' } },
);

const FilePartInput = flatInput<object>(
  builder.inputType('ItemFilePartInput', {
    description: 'A file for the model, by one of its sources. What is no image is given to it as the text in it.',
    fields: (t) => ({
      fileData: t.string({ required: false, description: 'The file as a data URL in base64.' }),
      fileId: t.id({ required: false, description: 'A file of a chat of the caller.' }),
      fileUrl: t.string({ required: false, description: 'An http(s) address; fetched when the request arrives.' }),
      filename: t.string({ required: false, description: 'Its name; at most 255 characters.' }),
      isInvisible: t.boolean({ required: false, description: invisible }),
    }),
  }),
  { members: { fileData: 'file_data', fileId: 'file_id', fileUrl: 'file_url', isInvisible: 'invisible' } },
);

const ItemPartInput = flatInput<object>(
  builder.inputType('ItemPartInput', {
    description: 'A part of a message, or of what a function gave.',
    isOneOf: true,
    fields: (t) => ({
      text: t.field({ type: TextPartInput, required: false, description: 'A text for the model.' }),
      image: t.field({ type: ImagePartInput, required: false, description: 'An image for the model.' }),
      file: t.field({ type: FilePartInput, required: false, description: 'A file for the model.' }),
      answer: t.string({ required: false, description: 'A text that an assistant said before.' }),
      refusal: t.string({ required: false, description: 'What an assistant said instead of an answer.' }),
    }),
  }),
  {
    choices: {
      text: tagged('type', 'input_text'),
      image: tagged('type', 'input_image'),
      file: tagged('type', 'input_file'),
      answer: held('text', { type: 'output_text' }),
      refusal: held('refusal', { type: 'refusal' }),
    },
  },
);

const ItemContentInput = flatInput<unknown>(
  builder.inputType('ItemContentInput', {
    description: 'What is said, or what a function gave: a text, or parts.',
    isOneOf: true,
    fields: (t) => ({
      text: t.string({ required: false, description: 'A text.' }),
      parts: t.field({ type: [ItemPartInput], required: false, description: 'Parts in their order.' }),
    }),
  }),
  { choices: { text: itself, parts: itself } },
);

const MessageItemInput = builder.inputType('MessageItemInput', {
  description: 'A message.',
  fields: (t) => ({
    id: t.string({ required: false, description: idDescription }),
    role: t.field({ type: ItemRoleType, description: 'Who says it.' }),
    content: t.field({ type: ItemContentInput, description: 'What is said.' }),
    phase: t.field({ type: MessagePhaseType, required: false, description: 'Of an assistant: what it is in an answer.' }),
  }),
});

const FunctionCallItemInput = flatInput<object>(
  builder.inputType('FunctionCallItemInput', {
    description: 'A call of a function that a model made before.',
    fields: (t) => ({
      id: t.string({ required: false, description: idDescription }),
      callId: t.string({ description: 'The id that the output of the call refers to.' }),
      name: t.string({ description: 'The function.' }),
      arguments: t.string({ description: 'Its arguments as JSON text.' }),
    }),
  }),
  { members: { callId: 'call_id' } },
);

const FunctionOutputItemInput = flatInput<object>(
  builder.inputType('FunctionOutputItemInput', {
    description: 'What a function of the caller gave.',
    fields: (t) => ({
      id: t.string({ required: false, description: idDescription }),
      callId: t.string({ description: 'The call.' }),
      output: t.field({ type: ItemContentInput, description: 'What it gave.' }),
      outcome: t.field({ type: ToolOutputStatusType, required: false, description: 'How the call went. Default SUCCESS.' }),
    }),
  }),
  { members: { callId: 'call_id', outcome: 'status' } },
);

const ApprovalAnswerItemInput = flatInput<object>(
  builder.inputType('ApprovalAnswerItemInput', {
    description: 'The answer to a call that waits for approval.',
    fields: (t) => ({
      id: t.string({ required: false, description: idDescription }),
      callId: t.string({ description: 'The call: `callId` of the ApprovalItem.' }),
      isApproved: t.boolean({ description: 'Whether the call is made.' }),
      reason: t.string({ required: false, description: 'Why; the model reads it when the call is refused.' }),
    }),
  }),
  { members: { callId: 'approval_request_id', isApproved: 'approve' } },
);

const ApprovalItemInput = flatInput<object>(
  builder.inputType('ApprovalItemInput', {
    description: 'A call of a tool of the service that waited for approval, as it was received.',
    fields: (t) => ({
      callId: t.string({ description: 'As it was received.' }),
      mcpServerLabel: t.string({
        required: false,
        description: 'As it was received; null for tools of the service and of the agent.',
      }),
      tool: t.string({ description: 'As it was received.' }),
      arguments: t.string({ description: 'The arguments as JSON text.' }),
    }),
  }),
  {
    members: {
      callId: 'id',
      tool: 'name',
      mcpServerLabel: 'server_label',
    },
  },
);

const ToolCallItemInput = flatInput<object>(
  builder.inputType('ToolCallItemInput', {
    description: 'A call of a tool of the service, as it was received.',
    fields: (t) => ({
      id: t.string({ required: false, description: idDescription }),
      callId: t.string({ description: 'As it was received.' }),
      name: t.string({ description: 'As it was received.' }),
      arguments: t.string({ description: 'The arguments as JSON text.' }),
    }),
  }),
  { members: { callId: 'call_id' } },
);

const ToolOutputItemInput = flatInput<object>(
  builder.inputType('ToolOutputItemInput', {
    description: 'What a tool of the service gave, as it was received.',
    fields: (t) => ({
      id: t.string({ required: false, description: idDescription }),
      callId: t.string({ description: 'The call.' }),
      output: t.field({ type: ItemContentInput, description: 'What it gave.' }),
    }),
  }),
  { members: { callId: 'call_id' } },
);

const CompactionItemInput = flatInput<object>(
  builder.inputType('CompactionItemInput', {
    description: 'What stands for a conversation that was made shorter.',
    fields: (t) => ({
      id: t.string({ required: false, description: idDescription }),
      content: t.string({ description: 'As it was received.' }),
    }),
  }),
  { members: { content: 'encrypted_content' } },
);

export const RunItemInput = flatInput<object>(
  builder.inputType('RunItemInput', {
    description: 'Something that a model is given.',
    isOneOf: true,
    fields: (t) => ({
      message: t.field({ type: MessageItemInput, required: false, description: 'A message.' }),
      functionOutput: t.field({
        type: FunctionOutputItemInput,
        required: false,
        description: 'What a function of the caller gave.',
      }),
      approvalAnswer: t.field({
        type: ApprovalAnswerItemInput,
        required: false,
        description: 'The answer to a call that waits for approval.',
      }),
      reference: t.string({
        required: false,
        description: 'The id of an item of an earlier response of the caller; that item is put in this place.',
      }),
      functionCall: t.field({ type: FunctionCallItemInput, required: false, description: 'A call of a function of the caller.' }),
      toolCall: t.field({ type: ToolCallItemInput, required: false, description: 'A call of a tool of the service.' }),
      toolOutput: t.field({ type: ToolOutputItemInput, required: false, description: 'What such a call gave.' }),
      approval: t.field({ type: ApprovalItemInput, required: false, description: 'A call that waited for approval.' }),
      compaction: t.field({ type: CompactionItemInput, required: false, description: 'What stands for a conversation.' }),
      kept: t.field({
        type: 'JSON',
        required: false,
        description:
          'Any other item of the responses format, as it was received: thinking, and calls of tools such as `web_search_call`. JSON: each tool has members of its own.',
      }),
    }),
  }),
  {
    choices: {
      message: tagged('type', 'message'),
      functionOutput: tagged('type', 'function_call_output'),
      approvalAnswer: tagged('type', 'mcp_approval_response'),
      reference: held('id', { type: 'item_reference' }),
      functionCall: tagged('type', 'function_call'),
      toolCall: tagged('type', 'server_tool_call'),
      toolOutput: tagged('type', 'server_tool_call_output'),
      approval: { ...tagged('type', 'mcp_approval_request'), flatten: approvalRequest },
      compaction: tagged('type', 'compaction'),
      kept: itself,
    },
  },
);

function approvalRequest(value: unknown): unknown {
  return { type: 'mcp_approval_request', server_label: ownServerLabel, ...(value as object) };
}

/** What a response is given. */
export const RunInput = flatInput<unknown>(
  builder.inputType('RunInput', {
    description: 'What a run is given: a text of the user, or items.',
    isOneOf: true,
    fields: (t) => ({
      text: t.string({ required: false, description: 'What the user says.' }),
      items: t.field({
        type: [RunItemInput],
        required: false,
        description: 'Messages, outputs of calls, references to items of earlier responses.',
      }),
    }),
  }),
  { choices: { text: itself, items: itself } },
);
