import { camel, defined, graphqlTool, named } from '../tools/graphql-tool.ts';

// biome-ignore lint/suspicious/noExplicitAny: requests of the common formats, in snake_case or camelCase.
type Flat = any;

/** A request for a completion as GraphQL takes it, of one that REST takes. */
export function graphqlCompletion(request: object): object {
  const { messages, tools, toolChoice, responseFormat, maxTokens, maxCompletionTokens, reasoningEffort, ...rest } = camel(
    request,
    ofCaller,
  );
  const { secrets, stop, options, ...others } = rest;
  return defined({
    ...others,
    messages: messages?.map(graphqlMessage),
    tools: (request as Flat).tools === undefined ? undefined : (request as Flat).tools.map(graphqlTool),
    toolChoice: graphqlChoice(toolChoice),
    format: graphqlFormat(responseFormat),
    maxOutputTokens: maxCompletionTokens ?? maxTokens,
    reasoningEffort: reasoningEffort?.toUpperCase(),
    stop: typeof stop === 'string' ? [stop] : stop,
    secrets: named(secrets),
    options: graphqlOptions(options),
  });
}

/** A request for a response as GraphQL takes it, of one that REST takes. */
export function graphqlResponse(request: object): object {
  const { input, tools, toolChoice, text, reasoning, metadata, conversation, userSecrets, options, ...rest } = camel(
    request,
    ofCaller,
  );
  const { include: _include, truncation, serviceTier, chatMode, threadMode, ...others } = rest;
  return defined({
    ...others,
    input: graphqlItems((request as Flat).input),
    tools: (request as Flat).tools === undefined ? undefined : (request as Flat).tools.map(graphqlTool),
    toolChoice: graphqlChoice(toolChoice),
    format: graphqlFormat(text?.format),
    verbosity: text?.verbosity?.toUpperCase(),
    reasoningEffort: reasoning?.effort?.toUpperCase(),
    reasoningSummary: reasoning?.summary?.toUpperCase(),
    metadata: named(metadata),
    chatId: typeof conversation === 'object' ? conversation.id : conversation,
    secrets: named(userSecrets),
    options: graphqlOptions(options),
    truncation: truncation?.toUpperCase(),
    serviceTier: serviceTier?.toUpperCase(),
    chatMode: chatMode?.toUpperCase(),
    threadMode: threadMode?.toUpperCase(),
  });
}

/** The input of a response as GraphQL takes it. */
export function graphqlItems(input: Flat): object | undefined {
  if (input === undefined) return undefined;
  return typeof input === 'string' ? { text: input } : { items: input.map(graphqlItem) };
}

/** An item as GraphQL takes it, of one of the responses format. */
export function graphqlItem(item: Flat): object {
  const { type, id, ...given } = item;
  switch (type) {
    case undefined:
      return given.role === undefined ? { reference: id } : graphqlItem({ ...item, type: 'message' });
    case 'message': {
      const { role, content, status: _status } = given;
      return { message: defined({ id, role: role.toUpperCase(), content: contentOf(content, role) }) };
    }
    case 'function_call':
      return { functionCall: defined({ id, callId: given.call_id, name: given.name, arguments: given.arguments }) };
    case 'function_call_output': {
      const { call_id: callId, output, status } = given;
      return { functionOutput: defined({ id, callId, output: contentOf(output), outcome: status?.toUpperCase() }) };
    }
    case 'mcp_approval_response': {
      const { approval_request_id: callId, approve: isApproved, reason } = given;
      return { approvalAnswer: defined({ id, callId, isApproved, reason }) };
    }
    case 'item_reference':
      return { reference: id };
    case 'compaction':
      return { compaction: defined({ id, content: given.encrypted_content }) };
    default:
      return { kept: item };
  }
}

function contentOf(content: Flat, role?: string): object {
  if (typeof content === 'string') return { text: content };
  return { parts: content.map((part: Flat) => partOf(part, role)) };
}

function partOf({ type, text, refusal, ...given }: Flat, role?: string): object {
  const { invisible: isInvisible, metadata, image_url: imageUrl, file_id: fileId, detail } = given;
  if (type === 'refusal') return { refusal };
  if (type === 'input_image') return { image: defined({ imageUrl, fileId, detail: detail?.toUpperCase(), isInvisible }) };
  if (type === 'input_file') {
    const { file_data: fileData, file_url: fileUrl, filename } = given;
    return { file: defined({ fileData, fileId, fileUrl, filename, isInvisible }) };
  }
  return role === 'assistant' ? { answer: text } : { text: defined({ text, isInvisible, metadata }) };
}

function graphqlMessage({ role, content, toolCalls, toolCallId }: Flat): object {
  switch (role) {
    case 'assistant': {
      const calls = toolCalls?.map(({ id, function: called }: Flat) => ({ id, name: called.name, arguments: called.arguments }));
      return { assistant: defined({ text: content ?? undefined, toolCalls: calls }) };
    }
    case 'tool':
      return { toolOutput: { toolCallId, output: content } };
    case 'user':
      return { user: typeof content === 'string' ? { text: content } : { parts: content.map(completionPart) } };
    default:
      return { system: content };
  }
}

function completionPart({ type, text, imageUrl, file, id, url }: Flat): object {
  if (type === 'image_url') return { image: defined({ ...imageUrl, detail: imageUrl.detail?.toUpperCase() }) };
  if (type === 'file') return { file };
  if (type === 'id') return { fileId: id };
  return type === 'url' ? { url } : { text };
}

function graphqlChoice(choice: Flat): object | undefined {
  if (choice === undefined) return undefined;
  if (typeof choice === 'string') return { mode: choice.toUpperCase() };
  if (choice.type === 'allowed_tools') {
    const { mode, tools } = choice.allowedTools ?? choice;
    return { allowed: defined({ mode: mode?.toUpperCase(), tools: tools.map(chosenTool) }) };
  }
  return chosenTool(choice);
}

function chosenTool({ type, function: called, name, serverLabel }: Flat): object {
  if (type === 'function') return { function: called?.name ?? name };
  return { tool: defined({ type: type.toUpperCase(), serverLabel, name }) };
}

function graphqlFormat(format: Flat): object | undefined {
  if (format === undefined) return undefined;
  if (format.type !== 'json_schema') return { plain: format.type.toUpperCase() };
  const { name, description, schema, strict: isStrict } = format.jsonSchema ?? format;
  return { jsonSchema: defined({ name, description, schema, isStrict }) };
}

/** The options of a run as GraphQL takes them, of those that REST takes, in camelCase. */
export function graphqlOptions(options: Flat): object | undefined {
  if (options === undefined) return undefined;
  const { force: isForced, ...override } = options.flow?.override ?? {};
  const isTraced = options.tracing?.enabled ?? options.flow?.tracing?.enabled;
  const flow = options.flow?.override === undefined ? undefined : defined({ ...override, isForced });
  return defined({ flow, isTraced, providers: options.provider });
}

/** Names of the caller's own, and schemas. */
const ofCaller = ['secrets', 'user_secrets', 'userSecrets', 'metadata', 'parameters', 'schema'];
