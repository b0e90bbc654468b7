import { createHash } from 'node:crypto';
import type { ListedTool } from '../../../entities/conversations/runs/tool.ts';
import { isObject } from '../../../lib/json/json.ts';

/** Equal for listings that say the same, whatever the order of the members in their objects. */
export function digestTools(tools: readonly ListedTool[]): string {
  return createHash('sha256').update(JSON.stringify(tools, sorted)).digest('base64url');
}

function sorted(_name: string, value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))) : value;
}
