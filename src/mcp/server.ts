import {
  type CallToolResult,
  type CompleteRequestParams,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  ResourceNotFoundError,
  Server,
  type ServerContext,
  specTypeSchemas,
} from '@modelcontextprotocol/server';
import { getAgent, readInstructions } from '../domain/agents/agents.ts';
import { hasScope } from '../domain/ground/access/policy.ts';
import { performOperation, requireOperation } from '../domain/ground/audit/operation.ts';
import type { CallContext } from '../http/context.ts';
import { showError } from '../http/errors.ts';
import { ask } from './ask.ts';
import { type ListedAgent, listedAgents } from './directory.ts';
import { type DocumentsOfCall, documentResult, documentTool, type ListedDocument } from './documents.ts';
import {
  asResult,
  progressTo,
  readQuestion,
  search,
  searchDefinition,
  searchTool,
  type ToolArguments,
  toResult,
  toTool,
} from './tools.ts';

/** One request of an MCP client. */
export interface McpCall {
  readonly context: CallContext;
  readonly version: string;
  /** The method and the id of its message. */
  readonly method: string | undefined;
  readonly id: RequestId | null;
  /** What the organization of the key has saved. */
  readonly documents: DocumentsOfCall;
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

/**
 * The server for one request.
 *
 * @param isSessionless  of the revision of 2026-07-28: the client cancels a call by closing its stream.
 */
export function createServer(call: McpCall, isSessionless: boolean): Server {
  const { context, version } = call;
  const methods = new McpMethods(call, isSessionless);
  const listChanged = { listChanged: true };
  const server = new Server(
    { name: 'parley', title: 'Parley', version },
    {
      capabilities: { tools: listChanged, resources: listChanged, prompts: listChanged, completions: {} },
      instructions: methods.instructions(),
    },
  );
  const handleWork = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => Promise.reject(protocolError(error, context)));
  const page = { params: specTypeSchemas.PaginatedRequestParams };
  server.setRequestHandler('tools/list', page, ({ cursor }) => handleWork(methods.listTools(cursor)));
  server.setRequestHandler('tools/call', ({ params: { name, arguments: args = {} } }, { mcpReq }) =>
    handleWork(methods.callTool(name, args, mcpReq)),
  );
  server.setRequestHandler('resources/list', page, ({ cursor }) => handleWork(methods.listResources(cursor)));
  server.setRequestHandler('resources/templates/list', page, async () => ({
    resourceTemplates: [{ uriTemplate: resourceUri('{id}'), name: 'agent', title: 'An agent', mimeType: 'application/json' }],
  }));
  server.setRequestHandler('resources/read', { params: specTypeSchemas.ReadResourceRequestParams }, ({ uri }) =>
    handleWork(methods.readResource(uri)),
  );
  server.setRequestHandler('completion/complete', { params: specTypeSchemas.CompleteRequestParams }, (params) =>
    handleWork(methods.complete(params)),
  );
  server.setRequestHandler('prompts/list', page, ({ cursor }) => handleWork(methods.listPrompts(cursor)));
  server.setRequestHandler('prompts/get', { params: specTypeSchemas.GetPromptRequestParams }, ({ name, arguments: args = {} }) =>
    handleWork(methods.getPrompt(name, args)),
  );
  return server;
}

/** The methods of the protocol, for what the key of the request may do. */
class McpMethods {
  readonly #call: McpCall;
  readonly #isSessionless: boolean;
  readonly #context: CallContext;
  readonly #seesAgents: boolean;
  readonly #asks: boolean;
  readonly #searches: boolean;

  constructor(call: McpCall, isSessionless: boolean) {
    this.#call = call;
    this.#isSessionless = isSessionless;
    this.#context = call.context;
    const may = (operation: string) => hasScope(call.context.caller, operation);
    this.#seesAgents = may('Query.agents');
    this.#asks = this.#seesAgents && may('Mutation.sendMessage');
    this.#searches = this.#seesAgents && may('Query.dataSources');
  }

  instructions(): string {
    return instructionsFor(this.#asks, this.#searches);
  }

  async listTools(cursor: string | undefined) {
    const usable = this.#asks ? await this.#agents() : [];
    this.#noteRead(usable);
    const listedTools = usable.map(toTool);
    const documents = (await this.#documents()).map(documentTool);
    const allTools = [...(this.#searches ? [searchDefinition] : []), ...documents, ...listedTools];
    const { items, nextCursor } = slicePage(allTools, cursor, ({ name }) => name);
    return { tools: [...items], ...nextCursor };
  }

  async callTool(name: string, args: ToolArguments, mcpReq: ServerContext['mcpReq']): Promise<CallToolResult> {
    const context = this.#context;
    if (this.#call.only === undefined && (await this.#call.documents.has(name)))
      return asResult(context, async () => documentResult(await this.#call.documents.run(name, args)));
    requireOperation(context, 'Query.agents');
    requireOperation(context, name === searchTool ? 'Query.searchKnowledge' : 'Mutation.sendMessage');
    const agents = await this.#agents();
    return asResult(context, async () => {
      if (name === searchTool) return search(context, agents, args);
      const agent = agents.find(({ toolName }) => toolName === name);
      if (agent === undefined) throw unknown(`tool ${name}`);
      const work = this.#call.begin();
      const cancelled = this.#isSessionless ? mcpReq.signal : work.cancelled;
      const options = { cancelled, onProgress: progressTo(mcpReq) };
      try {
        return toResult(await this.#call.whileRunning(() => ask(context, agent, readQuestion(args), options)));
      } finally {
        work.end();
      }
    });
  }

  async listResources(cursor: string | undefined) {
    const { items, nextCursor } = slicePage(await this.#agents(), cursor, toolNameOf);
    this.#noteRead(items);
    const resources = items.map(({ id, name, description }) => ({
      uri: resourceUri(id),
      name,
      description,
      mimeType: 'application/json',
    }));
    return { resources, ...nextCursor };
  }

  async readResource(uri: string) {
    const read = await readResource(this.#context, uri);
    if (read === undefined) throw new ResourceNotFoundError(uri.slice(0, 1_000), 'There is no such resource for this key');
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(read, null, 2) }] };
  }

  async complete({ ref, argument }: CompleteRequestParams) {
    const isAgent = ref.type === 'ref/resource' && ref.uri === resourceUri('{id}');
    const begin = argument.value.toLowerCase();
    const begins = ({ id, name }: ListedAgent) => id.startsWith(begin) || name.toLowerCase().startsWith(begin);
    const matches = isAgent ? (await this.#agents()).filter(begins) : [];
    const shownMatches = matches.slice(0, completionsMax);
    this.#noteRead(shownMatches);
    const hasMore = shownMatches.length < matches.length;
    return { completion: { values: shownMatches.map(({ id }) => id), total: matches.length, hasMore } };
  }

  async listPrompts(cursor: string | undefined) {
    const { items, nextCursor } = slicePage(this.#asks ? await this.#agents() : [], cursor, toolNameOf);
    this.#noteRead(items);
    const prompts = items.map(({ toolName: name, name: title, description }) => ({
      name,
      title,
      description,
      arguments: [questionArgument],
    }));
    return { prompts, ...nextCursor };
  }

  async getPrompt(name: string, args: Readonly<Record<string, string>>) {
    const agent = this.#asks ? (await this.#agents()).find(({ toolName }) => toolName === name) : undefined;
    if (agent === undefined) throw unknown(`prompt ${name}`);
    const text = `Ask ${agent.name} with the tool ${agent.toolName}, and answer from what it says:\n\n${args.question ?? ''}`;
    return { description: agent.description, messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] };
  }

  async #agents(): Promise<readonly ListedAgent[]> {
    const { deps, caller } = this.#context;
    return this.#seesAgents ? listedAgents(deps, caller, this.#call.only) : [];
  }

  /** At the address of one agent there are none. */
  async #documents(): Promise<readonly ListedDocument[]> {
    return this.#call.only === undefined ? this.#call.documents.list() : [];
  }

  #noteRead(agents: readonly ListedAgent[]): void {
    this.#context.deps.audit.read(this.#context.caller, 'agent', agents);
  }
}

const questionArgument = { name: 'question', description: 'What to ask.', required: true };

function instructionsFor(asks: boolean, searches: boolean): string {
  if (!asks && !searches) return 'This key may neither ask agents nor search their knowledge.';
  return [
    ...(asks ? ['Each agent is a tool ask_<name>. Pass chat_id of an answer to go on with its conversation.'] : []),
    ...(searches ? [`${searchTool} finds passages without asking an agent.`] : []),
  ].join(' ');
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
  nameOf: (item: T) => string,
): { readonly items: readonly T[]; readonly nextCursor: { nextCursor?: string } } {
  const start = cursor === undefined ? 0 : findStart(all, cursor, nameOf);
  const items = all.slice(start, start + pageSize);
  const last = items.at(-1);
  const next = start + items.length;
  return { items, nextCursor: next < all.length && last !== undefined ? { nextCursor: `${next} ${nameOf(last)}` } : {} };
}

/** Behind the last item of the page before, also where items before it came or went. Once it is gone itself: one item earlier than it stood. */
function findStart<T>(all: readonly T[], cursor: string, nameOf: (item: T) => string): number {
  const [, place, name] = /^(\d{1,9}) (.+)$/.exec(cursor) ?? [];
  if (place === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'cursor is not one of this list');
  const index = all.findIndex((item) => nameOf(item) === name);
  return index < 0 ? Math.max(0, Number(place) - 1) : index + 1;
}

const toolNameOf = ({ toolName }: ListedAgent): string => toolName;

const prefix = 'parley://agents/';

function resourceUri(agentId: string): string {
  return prefix + agentId;
}

/**
 * An agent as a document: its name, description and introduction, and its instructions for those who may edit it.
 *
 * @returns undefined for another address. @throws DomainError NOT_FOUND, INSUFFICIENT_SCOPE.
 */
async function readResource(context: CallContext, uri: string): Promise<object | undefined> {
  if (!uri.startsWith(prefix)) return undefined;
  const { deps } = context;
  const agentId = uri.slice(prefix.length);
  return performOperation(context, 'Query.agent', [agentId], async (caller) => {
    const agent = await getAgent(deps, caller, agentId);
    const { id, name, description, introduction } = agent;
    const instructions = readInstructions(deps, caller, agent);
    return { id, name, description, introduction, ...(instructions === null ? {} : { instructions }) };
  });
}
