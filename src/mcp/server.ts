import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  GetPromptRequestSchema,
  type JSONRPCMessage,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type RequestId,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { hasScope } from '../domain/access/policy.ts';
import { noteReads, requireOperation } from '../domain/audit/operation.ts';
import { DomainError } from '../entities/errors.ts';
import type { CallContext } from '../http/context.ts';
import { showError } from '../http/errors.ts';
import { isObject, itemsOf } from '../lib/json.ts';
import { cutText } from '../lib/text.ts';
import { type Answer, ask } from './ask.ts';
import { agentNamed, type ListedAgent, listedAgents } from './directory.ts';
import { readResource, resourceUri } from './resources.ts';
import { passagesDefault, passagesMax, searchKnowledge } from './search.ts';

export interface McpRequestContext {
  readonly context: CallContext;
  readonly version: string;
  /** The id of the one agent that the address names; absent: all that are listed. */
  readonly only?: string;
  /** Begins a call that the client may cancel. */
  beginCall(requestId: RequestId): { readonly cancelled: AbortSignal; end(): void };
  /** Holds a place for a run while it works. */
  whileRunning<T>(work: () => Promise<T>): Promise<T>;
}

/** Things on one page of a list. */
const pageSize = 50;
const questionMax = 100_000;
const queryMax = 8_000;
const searchTool = 'search_knowledge';
/** Progress is told at most this often. */
const progressEveryMs = 150;
const progressCharsMax = 500;

/**
 * Answers one request of the protocol. Nothing is kept between requests, so any instance answers any of them.
 *
 * @param value  the JSON-RPC message.
 * @param isStream  whether the reply is an event stream, which tells progress.
 */
export async function answerMessage(
  value: unknown,
  headers: Headers,
  isStream: boolean,
  request: McpRequestContext,
): Promise<{ readonly response: Response; close(): Promise<void> }> {
  const server = createServer(request);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !isStream, keepAliveMs: 0 });
  const send = transport.send.bind(transport);
  transport.send = (message, options) => send(withPlainError(message), options);
  // The class and the interface differ in optional members only.
  await server.connect(transport as Parameters<Server['connect']>[0]);
  const response = await transport.handleRequest(new Request('http://parley/mcp', { method: 'POST', headers }), {
    parsedBody: value,
  });
  return { response, close: () => server.close() };
}

/** The refusal of a request in a version of the protocol that is not spoken here; undefined for one that is. */
export function unspokenVersion(requested: string, id: unknown): object | undefined {
  if (SUPPORTED_PROTOCOL_VERSIONS.includes(requested)) return undefined;
  const supported = SUPPORTED_PROTOCOL_VERSIONS;
  const message = `Unsupported protocol version; supported are ${supported.join(', ')}`;
  const error = { code: ErrorCode.InvalidParams, message, data: { supported, requested: requested.slice(0, 100) } };
  return { jsonrpc: '2.0', id: typeof id === 'string' || typeof id === 'number' ? id : null, error };
}

/** The SDK writes the code before the message, and clients write it again; what its schemas find wrong is a dump with the code of a failure. */
function withPlainError(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message)) return message;
  const { error } = message;
  const faults = faultsIn(error.message);
  if (faults !== undefined) return { ...message, error: { ...error, code: ErrorCode.InvalidParams, message: faults } };
  return { ...message, error: { ...error, message: error.message.replace(/^(MCP error -?\d+: )+/, '') } };
}

function faultsIn(text: string): string | undefined {
  if (!text.startsWith('[')) return undefined;
  try {
    const [first] = itemsOf(JSON.parse(text)).filter(isObject);
    return first === undefined ? undefined : `${itemsOf(first.path).join('.')}: ${String(first.message)}`;
  } catch {
    return undefined;
  }
}

function createServer(request: McpRequestContext): Server {
  const { context, version, only } = request;
  const { deps, caller } = context;
  const may = (operation: string) => hasScope(caller, operation);
  const seesAgents = may('Query.agents');
  const agents = () => (seesAgents ? listedAgents(deps, caller, only) : Promise.resolve([]));
  const asks = seesAgents && may('Mutation.sendMessage');
  const searches = seesAgents && may('Query.dataSources');
  const listChanged = { listChanged: true };
  const server = new Server(
    { name: 'parley', title: 'Parley', version },
    {
      capabilities: { tools: listChanged, resources: listChanged, prompts: listChanged },
      instructions: instructionsFor(asks, searches),
    },
  );
  const handled = <T>(work: () => Promise<T>): Promise<T> =>
    work().catch((error: unknown) => Promise.reject(protocolError(error, context)));

  server.setRequestHandler(ListToolsRequestSchema, ({ params }) =>
    handled(async () => {
      const usable = asks ? await agents() : [];
      noteListed(context, usable);
      const listed = usable.map(toolOf);
      const { items, nextCursor } = pageOf([...(searches ? [searchDefinition] : []), ...listed], params?.cursor);
      return { tools: [...items], ...nextCursor };
    }),
  );
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { requestId, sendNotification }) =>
    handled(async () => {
      const { name, arguments: args = {}, _meta } = params;
      requireOperation(context, 'Query.agents');
      requireOperation(context, name === searchTool ? 'Query.search' : 'Mutation.sendMessage');
      const known = await agents();
      const progressToken = _meta?.progressToken;
      const onProgress = progressOf((progress, message) => {
        if (progressToken === undefined) return;
        const notification = { method: 'notifications/progress' as const, params: { progressToken, progress, message } };
        // A client that has left gets no progress.
        sendNotification(notification).catch(() => undefined);
      });
      return asResult(context, async () => {
        if (name === searchTool) return search(context, known, args);
        const agent = known.find(({ toolName }) => toolName === name);
        if (agent === undefined) throw unknown(`tool ${name}`);
        const call = request.beginCall(requestId);
        try {
          const answer = await request.whileRunning(() =>
            ask(context, agent, readQuestion(args), { cancelled: call.cancelled, onProgress }),
          );
          return resultOf(answer);
        } finally {
          call.end();
        }
      });
    }),
  );
  server.setRequestHandler(ListResourcesRequestSchema, ({ params }) =>
    handled(async () => {
      const { items, nextCursor } = pageOf(await agents(), params?.cursor);
      noteListed(context, items);
      const resources = items.map(({ id, name, description }) => ({
        uri: resourceUri(id),
        name,
        description,
        mimeType: 'application/json',
      }));
      return { resources, ...nextCursor };
    }),
  );
  server.setRequestHandler(ListResourceTemplatesRequestSchema, async () => ({
    resourceTemplates: [{ uriTemplate: resourceUri('{id}'), name: 'agent', title: 'An agent', mimeType: 'application/json' }],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) =>
    handled(async () => {
      const read = await readResource(context, uri);
      if (read === undefined) throw unknown('resource');
      return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(read, null, 2) }] };
    }),
  );
  server.setRequestHandler(ListPromptsRequestSchema, ({ params }) =>
    handled(async () => {
      const { items, nextCursor } = pageOf(asks ? await agents() : [], params?.cursor);
      noteListed(context, items);
      const prompts = items.map(({ toolName: name, name: title, description }) => ({
        name,
        title,
        description,
        arguments: [questionArgument],
      }));
      return { prompts, ...nextCursor };
    }),
  );
  server.setRequestHandler(GetPromptRequestSchema, ({ params: { name, arguments: args = {} } }) =>
    handled(async () => {
      const agent = asks ? (await agents()).find(({ toolName }) => toolName === name) : undefined;
      if (agent === undefined) throw unknown(`prompt ${name}`);
      const text = `Ask ${agent.name} with the tool ${agent.toolName}, and answer from what it says:\n\n${args.question ?? ''}`;
      return { description: agent.description, messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] };
    }),
  );
  return server;
}

const questionArgument = { name: 'question', description: 'What to ask.', required: true };

function toolOf({ name, description, toolName }: ListedAgent): Tool {
  const what = description.trim() === '' ? '' : ` ${cutText(description.trim(), 1_000)}`;
  return {
    name: toolName,
    title: name,
    description: `Asks the agent ${name}.${what}`,
    inputSchema: {
      type: 'object',
      properties: {
        question: { type: 'string', description: 'What to ask, with everything the agent must know.' },
        chat_id: { type: 'string', description: 'The chat_id of an earlier answer, to go on with that conversation.' },
        inputs: { type: 'object', description: 'Values of the variables that the agent asks for, in a new conversation.' },
      },
      required: ['question'],
    },
    annotations: { title: name, openWorldHint: true },
  };
}

const searchDefinition: Tool = {
  name: searchTool,
  title: 'Search knowledge',
  description: 'Finds passages in the knowledge of the agents, with their sources.',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'What to look for.' },
      agent: { type: 'string', description: 'Only the knowledge of this agent: its id, its name or the name of its tool.' },
      limit: { type: 'integer', minimum: 1, maximum: passagesMax, description: `Most passages; default ${passagesDefault}.` },
    },
    required: ['query'],
  },
  annotations: { title: 'Search knowledge', readOnlyHint: true, openWorldHint: false },
};

function instructionsFor(asks: boolean, searches: boolean): string {
  if (!asks && !searches) return 'This key may neither ask agents nor search their knowledge.';
  return [
    ...(asks ? ['Each agent is a tool ask_<name>. Pass chat_id of an answer to go on with its conversation.'] : []),
    ...(searches ? [`${searchTool} finds passages without asking an agent.`] : []),
  ].join(' ');
}

function noteListed(context: CallContext, agents: readonly ListedAgent[]): void {
  noteReads(
    context,
    'Query.agents',
    'agent',
    agents.map(({ id }) => id),
  );
}

async function search(
  context: CallContext,
  agents: readonly ListedAgent[],
  args: Readonly<Record<string, unknown>>,
): Promise<CallToolResult> {
  const query = textIn(args, 'query', queryMax);
  const limit = args.limit ?? passagesDefault;
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > passagesMax) {
    throw new DomainError('INVALID_VALUE', `limit must be a whole number from 1 to ${passagesMax}`);
  }
  const named = typeof args.agent === 'string' ? agentNamed(agents, args.agent) : undefined;
  if (args.agent !== undefined && named === undefined)
    throw new DomainError('NOT_FOUND', 'agent names no agent that this key may use');
  const atHome = agents.length === 1 ? agents : agents.filter(({ orgId }) => orgId === context.caller.orgId);
  const among = named === undefined ? atHome : [named];
  const passages = await searchKnowledge(context, among, query, limit);
  const texts = passages.map(({ title, url, text }, index) => `[${index + 1}] ${title}\n${url}\n${text}`);
  return {
    content: [{ type: 'text', text: texts.length === 0 ? 'Nothing was found.' : texts.join('\n\n') }],
    structuredContent: { passages: passages.map(({ title, url, page, text, score }) => ({ title, url, page, text, score })) },
  };
}

function readQuestion(args: Readonly<Record<string, unknown>>) {
  const { chat_id: chatId, inputs } = args;
  if (chatId !== undefined && typeof chatId !== 'string') throw new DomainError('INVALID_TYPE', 'chat_id must be a string');
  if (inputs !== undefined && !isObject(inputs)) throw new DomainError('INVALID_TYPE', 'inputs must be an object');
  return { question: textIn(args, 'question', questionMax), chatId, inputs };
}

function textIn(args: Readonly<Record<string, unknown>>, member: string, lengthMax: number): string {
  const text = args[member];
  if (typeof text !== 'string' || text.trim() === '')
    throw new DomainError('INVALID_VALUE', `${member} must be a text that is not blank`);
  if (text.length > lengthMax) throw new DomainError('INVALID_VALUE', `${member} must have at most ${lengthMax} characters`);
  return text;
}

/** Many clients show a model the texts only, so the chat and the sources are a text too. */
function resultOf({ text, chatId, runId, citations }: Answer): CallToolResult {
  const sources = citations.map(({ index, title, url }) => `[${index}] ${title} ${url}`);
  const about = [...(sources.length === 0 ? [] : ['Sources:', ...sources]), `chat_id: ${chatId}`].join('\n');
  return {
    content: [
      { type: 'text', text },
      { type: 'text', text: about },
    ],
    structuredContent: { answer: text, chat_id: chatId, run_id: runId, citations },
  };
}

/** A failure of a tool is a result that the model reads; a tool that is missing is an error of the protocol. */
async function asResult(context: CallContext, work: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof McpError) throw error;
    const { code, message } = showError(context.endedBy ?? error, context.deps.logger, context.requestId);
    return { content: [{ type: 'text', text: `${message} (${code.toLowerCase()})` }], isError: true };
  }
}

function protocolError(error: unknown, context: CallContext): McpError {
  if (error instanceof McpError) return error;
  const { status, message } = showError(error, context.deps.logger, context.requestId);
  return new McpError(status < 500 ? ErrorCode.InvalidParams : ErrorCode.InternalError, message);
}

function unknown(what: string): McpError {
  return new McpError(ErrorCode.InvalidParams, `There is no ${what.slice(0, 100)} for this key`);
}

/** One page of a list; the cursor is the index of its first item. */
function pageOf<T>(
  all: readonly T[],
  cursor: string | undefined,
): { readonly items: readonly T[]; readonly nextCursor: { nextCursor?: string } } {
  const start = cursor === undefined ? 0 : Number(cursor);
  if (!Number.isSafeInteger(start) || start < 0) throw new McpError(ErrorCode.InvalidParams, 'cursor is not one of this list');
  const next = start + pageSize;
  return { items: all.slice(start, next), nextCursor: next < all.length ? { nextCursor: String(next) } : {} };
}

/** Joins texts that come soon after each other, so that a fast model does not send a message for each word. */
function progressOf(send: (progress: number, message: string) => void): (message: string) => void {
  let count = 0;
  let sentMs = Number.NEGATIVE_INFINITY;
  let waiting = '';
  return (message) => {
    waiting = (waiting + message).slice(-progressCharsMax);
    const nowMs = performance.now();
    if (nowMs - sentMs < progressEveryMs) return;
    sentMs = nowMs;
    count += 1;
    send(count, waiting);
    waiting = '';
  };
}
