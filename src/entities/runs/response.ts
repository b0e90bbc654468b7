export const chatModes = ['execute', 'chat', 'plan'] as const;
export type ChatMode = (typeof chatModes)[number];

/** A member of a response in the form of the responses format, names in snake case. */
export type WireObject = Readonly<Record<string, unknown>>;

/** What all frames of a response repeat from its request. Written once, with `response.created`. */
export interface ResponseHead {
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly conversationId: string | null;
  /** Members of the response object that the run does not change, as the wire has them. */
  readonly echo: WireObject;
}

/** An input or output item that is kept. */
export interface ResponseItem {
  readonly itemId: string;
  readonly item: WireObject;
}

/** Items of tools that other services run: they are kept and listed, but no model is told of them. */
export const foreignItemTypes: readonly string[] = [
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'computer_call',
  'computer_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'mcp_call',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
];

/** What a request may ask for beyond what a response holds by itself. */
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
