import { type CallToolResult, ProtocolError, type ServerContext, type Tool } from '@modelcontextprotocol/server';
import { DomainError } from '../entities/ground/errors.ts';
import type { CallContext } from '../http/context.ts';
import { showError } from '../http/errors.ts';
import { isObject } from '../lib/json/json.ts';
import { cutText } from '../lib/text/text.ts';
import type { Answer } from './ask.ts';
import { agentNamed, type ListedAgent } from './directory.ts';
import { passagesDefault, passagesMax, searchKnowledge } from './search.ts';

const questionMax = 100_000;
const queryMax = 8_000;
export const searchTool = 'search_knowledge';
/** Progress is told at most this often. */
const progressEveryMs = 150;
const progressCharsMax = 500;

/** What a client calls a tool with. */
export type ToolArguments = Readonly<Record<string, unknown>>;

const questionArguments = {
  question: { type: 'string', description: 'What to ask, with everything the agent must know.' },
  chat_id: { type: 'string', description: 'The chat_id of an earlier answer, to go on with that conversation.' },
  inputs: { type: 'object', description: 'Values of the variables that the agent asks for, in a new conversation.' },
};
const searchArguments = {
  query: { type: 'string', description: 'What to look for.' },
  agent: { type: 'string', description: 'Only the knowledge of this agent: its id, its name or the name of its tool.' },
  limit: { type: 'integer', minimum: 1, maximum: passagesMax, description: `Most passages; default ${passagesDefault}.` },
};

export function toTool({ name, description, toolName }: ListedAgent): Tool {
  const what = description.trim() === '' ? '' : ` ${cutText(description.trim(), 1_000)}`;
  return {
    name: toolName,
    title: name,
    description: `Asks the agent ${name}.${what}`,
    inputSchema: {
      type: 'object',
      properties: questionArguments,
      required: ['question'],
      additionalProperties: false,
    },
    annotations: { title: name, openWorldHint: true },
  };
}

export const searchDefinition: Tool = {
  name: searchTool,
  title: 'Search knowledge',
  description: 'Finds passages in the knowledge of the agents, with their sources.',
  inputSchema: {
    type: 'object',
    properties: searchArguments,
    required: ['query'],
    additionalProperties: false,
  },
  annotations: { title: 'Search knowledge', readOnlyHint: true, openWorldHint: false },
};

export async function search(context: CallContext, agents: readonly ListedAgent[], args: ToolArguments): Promise<CallToolResult> {
  requireKnown(args, searchArguments);
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

export function readQuestion(args: ToolArguments) {
  requireKnown(args, questionArguments);
  const { chat_id: chatId, inputs } = args;
  if (chatId !== undefined && typeof chatId !== 'string') throw new DomainError('INVALID_TYPE', 'chat_id must be a string');
  if (inputs !== undefined && !isObject(inputs)) throw new DomainError('INVALID_TYPE', 'inputs must be an object');
  return { question: textIn(args, 'question', questionMax), chatId, inputs };
}

/** The protocol leaves the check of arguments to servers. */
function requireKnown(args: ToolArguments, known: object): void {
  const unknown = Object.keys(args).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  const message = `${unknown.slice(0, 100)} is no argument of this tool, which takes ${Object.keys(known).join(', ')}`;
  throw new DomainError('INVALID_VALUE', message);
}

function textIn(args: ToolArguments, member: string, lengthMax: number): string {
  const text = args[member];
  if (typeof text !== 'string' || text.trim() === '')
    throw new DomainError('INVALID_VALUE', `${member} must be a text that is not blank`);
  if (text.length > lengthMax) throw new DomainError('INVALID_VALUE', `${member} must have at most ${lengthMax} characters`);
  return text;
}

export function toResult({ text, chatId, runId, citations }: Answer): CallToolResult {
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
export async function asResult(context: CallContext, work: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    const { code, message } = showError(context.endedBy ?? error, context.deps.logger, context.requestId);
    return { content: [{ type: 'text', text: `${message} (${code.toLowerCase()})` }], isError: true };
  }
}

/** Tells the client of the request what an agent does, when it asked for that. */
export function progressTo({ _meta, notify }: ServerContext['mcpReq']): (message: string) => void {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => undefined;
  return createProgress((progress, message) => {
    // A client that has left gets no progress.
    notify({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(() => undefined);
  });
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
