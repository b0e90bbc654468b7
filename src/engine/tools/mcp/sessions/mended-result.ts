import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isObject } from '../../../../lib/json/json.ts';

/** Results that the revision of 2026-07-28 lets a client cache: how long, and for whom. */
const cacheable = ['tools/list', 'resources/read', 'server/discover'];
const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

/**
 * A response with the members that a server left out. The SDK refuses a result of the revision of 2026-07-28 as a whole for one of them: a list
 * without `ttlMs`, or with one odd tool, would lose every tool. What is filled in is what the protocol assumes elsewhere: complete, and never cached.
 *
 * @param method  of the request; undefined: unknown.
 */
export function mendedResponse(message: JSONRPCMessage, method: string | undefined): JSONRPCMessage {
  if (!('result' in message) || method === undefined || !isObject(message.result)) return message;
  const { resultType, ttlMs, cacheScope, ...rest } = message.result as Readonly<Record<string, unknown>>;
  const isFresh = typeof ttlMs === 'number' && Number.isInteger(ttlMs) && ttlMs >= 0;
  const caching = {
    ttlMs: isFresh ? ttlMs : 0,
    cacheScope: cacheScope === 'public' ? 'public' : 'private',
  };
  const result = {
    ...rest,
    resultType: typeof resultType === 'string' ? resultType : 'complete',
    ...(cacheable.includes(method) ? caching : {}),
    ...(method === 'tools/list' && Array.isArray(rest.tools) ? { tools: rest.tools.flatMap(readableTool) } : {}),
    ...(method === 'tools/call' && resultType !== 'input_required'
      ? { content: Array.isArray(rest.content) ? rest.content : [] }
      : {}),
  };
  return { ...message, result };
}

/** What is read of a tool; none for one without a name. */
function readableTool(tool: unknown): readonly object[] {
  if (!isObject(tool) || typeof tool.name !== 'string') return [];
  const { name, title, description, inputSchema, annotations } = tool;
  const schema = isObject(inputSchema) ? inputSchema : {};
  return [
    {
      name,
      ...(typeof title === 'string' ? { title } : {}),
      ...(typeof description === 'string' ? { description } : {}),
      inputSchema: { ...schema, type: 'object' },
      ...(isObject(annotations) ? { annotations: readableAnnotations(annotations) } : {}),
    },
  ];
}

function readableAnnotations(rawAnnotations: Readonly<Record<string, unknown>>): object {
  const entries = Object.entries(rawAnnotations).filter(
    ([name, value]) => (hints.includes(name) && typeof value === 'boolean') || (name === 'title' && typeof value === 'string'),
  );
  return Object.fromEntries(entries);
}
