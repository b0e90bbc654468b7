import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  ResourceNotFoundError,
  Server,
  type ServerContext,
  specTypeSchemas,
  type Tool,
} from '@modelcontextprotocol/server';
import { hasScope } from '../domain/ground/access/policy.ts';
import { requireOperation } from '../domain/ground/audit/operation.ts';
import { DomainError } from '../entities/ground/errors.ts';
import type { CallContext } from '../http/context.ts';
import { showError } from '../http/errors.ts';
import { isObject } from '../lib/json/json.ts';
import { cutText } from '../lib/text/text.ts';
import { type Answer, ask } from './ask.ts';
import { agentNamed, type ListedAgent, listedAgents } from './directory.ts';
import { readResource, resourceUri } from './resources.ts';
import { passagesDefault, passagesMax, searchKnowledge } from './search.ts';

/** One request of an MCP client. */
export interface McpCall {
  readonly context: CallContext;
  readonly version: string;
  /** The method and the id of its message. */
  readonly method: string | undefined;
  readonly id: RequestId | null;
  /** The id of the one agent that the address names; undefined: all that are listed. */
  readonly only: string | undefined;
  /** Begins work that a cancellation of its own may end, as a session has them. */
  begin(): { readonly cancelled: AbortSignal; end(): void };
  /** Holds a place for a run while it works. */
  whileRunning<T>(work: () => Promise<T>): Promise<T>;
}

/** Things on one page of a list. */
const pageSize = 50;
/** As the protocol bounds them. */
const completionsMax = 100;
const questionMax = 100_000;
const queryMax = 8_000;
const searchTool = 'search_knowledge';
/** Progress is told at most this often. */
const progressEveryMs = 150;
const progressCharsMax = 500;

/**
 * The server for one request.
 *
 * @param isSessionless  of the revision of 2026-07-28: the client cancels a call by closing its stream.
 */
export function createServer(call: McpCall, isSessionless: boolean): Server {
  const { context, version, only } = call;
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
      capabilities: { tools: listChanged, resources: listChanged, prompts: listChanged, completions: {} },
      instructions: instructionsFor(asks, searches),
    },
  );
  const handleWork = <T>(work: () => Promise<T>): Promise<T> =>
    work().catch((error: unknown) => Promise.reject(protocolError(error, context)));
  const page = { params: specTypeSchemas.PaginatedRequestParams };

  server.setRequestHandler('tools/list', page, ({ cursor }) =>
    handleWork(async () => {
      const usable = asks ? await agents() : [];
      deps.audit.read(caller, 'agent', usable);
      const listedTools = usable.map(toTool);
      const { items, nextCursor } = slicePage([...(searches ? [searchDefinition] : []), ...listedTools], cursor);
      return { tools: [...items], ...nextCursor };
    }),
  );
  server.setRequestHandler('tools/call', ({ params: { name, arguments: args = {} } }, { mcpReq }) =>
    handleWork(async () => {
      requireOperation(context, 'Query.agents');
      requireOperation(context, name === searchTool ? 'Query.searchKnowledge' : 'Mutation.sendMessage');
      const knownAgents = await agents();
      return asResult(context, async () => {
        if (name === searchTool) return search(context, knownAgents, args);
        const agent = knownAgents.find(({ toolName }) => toolName === name);
        if (agent === undefined) throw unknown(`tool ${name}`);
        const work = call.begin();
        const cancelSignal = isSessionless ? mcpReq.signal : work.cancelled;
        const options = { cancelled: cancelSignal, onProgress: progressTo(mcpReq) };
        try {
          return toResult(await call.whileRunning(() => ask(context, agent, readQuestion(args), options)));
        } finally {
          work.end();
        }
      });
    }),
  );
  server.setRequestHandler('resources/list', page, ({ cursor }) =>
    handleWork(async () => {
      const { items, nextCursor } = slicePage(await agents(), cursor);
      deps.audit.read(caller, 'agent', items);
      const resources = items.map(({ id, name, description }) => ({
        uri: resourceUri(id),
        name,
        description,
        mimeType: 'application/json',
      }));
      return { resources, ...nextCursor };
    }),
  );
  server.setRequestHandler('resources/templates/list', page, async () => ({
    resourceTemplates: [{ uriTemplate: resourceUri('{id}'), name: 'agent', title: 'An agent', mimeType: 'application/json' }],
  }));
  server.setRequestHandler('resources/read', { params: specTypeSchemas.ReadResourceRequestParams }, ({ uri }) =>
    handleWork(async () => {
      const read = await readResource(context, uri);
      if (read === undefined) throw new ResourceNotFoundError(uri.slice(0, 1_000), 'There is no such resource for this key');
      return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(read, null, 2) }] };
    }),
  );
  server.setRequestHandler('completion/complete', { params: specTypeSchemas.CompleteRequestParams }, ({ ref, argument }) =>
    handleWork(async () => {
      const isAgent = ref.type === 'ref/resource' && ref.uri === resourceUri('{id}');
      const begin = argument.value.toLowerCase();
      const begins = ({ id, name }: ListedAgent) => id.startsWith(begin) || name.toLowerCase().startsWith(begin);
      const matches = isAgent ? (await agents()).filter(begins) : [];
      const shownMatches = matches.slice(0, completionsMax);
      deps.audit.read(caller, 'agent', shownMatches);
      const hasMore = shownMatches.length < matches.length;
      return { completion: { values: shownMatches.map(({ id }) => id), total: matches.length, hasMore } };
    }),
  );
  server.setRequestHandler('prompts/list', page, ({ cursor }) =>
    handleWork(async () => {
      const { items, nextCursor } = slicePage(asks ? await agents() : [], cursor);
      deps.audit.read(caller, 'agent', items);
      const prompts = items.map(({ toolName: name, name: title, description }) => ({
        name,
        title,
        description,
        arguments: [questionArgument],
      }));
      return { prompts, ...nextCursor };
    }),
  );
  server.setRequestHandler('prompts/get', { params: specTypeSchemas.GetPromptRequestParams }, ({ name, arguments: args = {} }) =>
    handleWork(async () => {
      const agent = asks ? (await agents()).find(({ toolName }) => toolName === name) : undefined;
      if (agent === undefined) throw unknown(`prompt ${name}`);
      const text = `Ask ${agent.name} with the tool ${agent.toolName}, and answer from what it says:\n\n${args.question ?? ''}`;
      return { description: agent.description, messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] };
    }),
  );
  return server;
}

/** Tells the client of the request what an agent does, when it asked for that. */
function progressTo({ _meta, notify }: ServerContext['mcpReq']): (message: string) => void {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => undefined;
  return createProgress((progress, message) => {
    // A client that has left gets no progress.
    notify({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(() => undefined);
  });
}

const questionArgument = { name: 'question', description: 'What to ask.', required: true };

function toTool({ name, description, toolName }: ListedAgent): Tool {
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
  const namedAgent = typeof args.agent === 'string' ? agentNamed(agents, args.agent) : undefined;
  if (args.agent !== undefined && namedAgent === undefined)
    throw new DomainError('NOT_FOUND', 'agent names no agent that this key may use');
  const atHome = agents.length === 1 ? agents : agents.filter(({ orgId }) => orgId === context.caller.orgId);
  const among = namedAgent === undefined ? atHome : [namedAgent];
  const passages = await searchKnowledge(context, among, query, limit);
  return structured({ passages: passages.map(({ title, url, page, text, score }) => ({ title, url, page, text, score })) });
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

function toResult({ text, chatId, runId, citations }: Answer): CallToolResult {
  return structured({ answer: text, chat_id: chatId, run_id: runId, citations });
}

/**
 * Some clients show a model the texts, some the structured content, some both. So the text is the structured content as JSON, as the protocol
 * asks for: whoever shows both can see that they are the same.
 */
function structured(content: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(content) }], structuredContent: content };
}

/** A failure of a tool is a result that the model reads; a tool that is missing is an error of the protocol. */
async function asResult(context: CallContext, work: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    const { code, message } = showError(context.endedBy ?? error, context.deps.logger, context.requestId);
    return { content: [{ type: 'text', text: `${message} (${code.toLowerCase()})` }], isError: true };
  }
}

function protocolError(error: unknown, context: CallContext): ProtocolError {
  if (error instanceof ProtocolError) return error;
  const { status, message } = showError(error, context.deps.logger, context.requestId);
  return new ProtocolError(status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError, message);
}

function unknown(what: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no ${what.slice(0, 100)} for this key`);
}

/** One page of a list; the cursor is the index of its first item. */
function slicePage<T>(
  all: readonly T[],
  cursor: string | undefined,
): { readonly items: readonly T[]; readonly nextCursor: { nextCursor?: string } } {
  const start = cursor === undefined ? 0 : Number(cursor);
  if (!Number.isSafeInteger(start) || start < 0)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'cursor is not one of this list');
  const next = start + pageSize;
  return { items: all.slice(start, next), nextCursor: next < all.length ? { nextCursor: String(next) } : {} };
}

/** Joins texts that come soon after each other, so that a fast model does not send a message for each word. */
function createProgress(send: (progress: number, message: string) => void): (message: string) => void {
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
