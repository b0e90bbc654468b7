import type { ListedTool } from '../../../entities/conversations/runs/tool.ts';
import { isObject } from '../../../lib/json/json.ts';

/** Which tools of a server a request lets the model call. */
export interface AllowedTools {
  /** Names at the server; absent: all. */
  readonly names?: readonly string[];
  /** Only those of this kind, by the server's own words; absent: both. */
  readonly isReadOnly?: boolean;
}

/** Reads a list of names, or `{tool_names, read_only}`. What else is given allows nothing. */
export function readAllowed(given: unknown): AllowedTools {
  if (given === undefined || given === null) return {};
  if (Array.isArray(given)) return { names: given.filter((name) => typeof name === 'string') };
  if (!isObject(given)) return { names: [] };
  const { tool_names, read_only } = given;
  return {
    ...(Array.isArray(tool_names) ? { names: tool_names.filter((name) => typeof name === 'string') } : {}),
    ...(typeof read_only === 'boolean' ? { isReadOnly: read_only } : {}),
  };
}

export function isAllowed(tool: ListedTool, { names, isReadOnly }: AllowedTools): boolean {
  if (names?.includes(tool.name) === false) return false;
  return isReadOnly === undefined || hasHint(tool, 'readOnlyHint') === isReadOnly;
}

/** Reads `require_approval`: "always" (the default), "never", or the tools of each. A tool that both name asks. */
export function readApproval(given: unknown): (tool: ListedTool) => boolean {
  if (given === 'never') return () => false;
  if (!isObject(given)) return () => true;
  const always = filterOf(given.always);
  const never = filterOf(given.never);
  return (tool) => always?.(tool) === true || never?.(tool) !== true;
}

function filterOf(given: unknown): ((tool: ListedTool) => boolean) | undefined {
  if (given === undefined || given === null) return undefined;
  const filter = readAllowed(given);
  return (tool) => isAllowed(tool, filter);
}

export function hasHint({ annotations }: ListedTool, hint: 'readOnlyHint' | 'idempotentHint'): boolean {
  return annotations?.[hint] === true;
}
