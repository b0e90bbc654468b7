import type { Warning } from '../../ground/warning.ts';

export const chatModes = ['execute', 'chat', 'plan'] as const;
export type ChatMode = (typeof chatModes)[number];

/** A part of a response in the responses format, with snake case names. */
export type WireObject = Readonly<Record<string, unknown>>;

/** The members of a response that all its frames repeat from the request. Stored once, in `response.created`. */
export interface ResponseHead {
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly conversationId: string | null;
  /** Members of the response object that the run does not change, in wire format. */
  readonly echo: WireObject;
  /** Values of `include` for members of items; absent for none. */
  readonly includes?: readonly string[];
  /** What of the agent has no effect on the response. */
  readonly warnings?: readonly Warning[];
}

/** The head of a response for a reader who asks for further optional members. */
export function withIncludes(head: ResponseHead, includes: readonly string[]): ResponseHead {
  return includes.length === 0 ? head : { ...head, includes: [...(head.includes ?? []), ...includes] };
}

/** A stored input or output item. */
export interface ResponseItem {
  readonly itemId: string;
  readonly item: WireObject;
}

/** Calls of hosted tools as items of a request: kept and listed as they were given. The model is told of the calls and their outputs. */
export const toolItemTypes: readonly string[] = [
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_call',
  'mcp_list_tools',
];

/**
 * Items of tools that this service does not have: stored and listed, but never sent to a model, which could neither call the tool nor read the
 * screen or the process that the items speak of.
 */
export const foreignItemTypes: readonly string[] = [
  'computer_call',
  'computer_call_output',
  'local_shell_call',
  'local_shell_call_output',
];

/** Values of `include` that the format knows: optional members of a response. */
export const includableMembers: readonly string[] = [
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'message.input_image.image_url',
  'message.output_text.logprobs',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
  'reasoning.encrypted_content',
];

/** Those that this version serves: an input image is always listed with its address. The others belong to tools that it does not have. */
export const servedIncludes: readonly string[] = [
  'file_search_call.results',
  'web_search_call.action.sources',
  'message.input_image.image_url',
  'message.output_text.logprobs',
  'reasoning.encrypted_content',
];

/** Those of them that items have only when a request asks for them. */
export const itemIncludes: readonly string[] = [
  'file_search_call.results',
  'web_search_call.action.sources',
  'reasoning.encrypted_content',
];
