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
export function readAllowed(input: unknown): AllowedTools {
  if (input === undefined || input === null) return {};
  if (Array.isArray(input)) return { names: input.filter((name) => typeof name === 'string') };
  if (!isObject(input)) return { names: [] };
  const { tool_names, read_only } = input;
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
export function readApproval(input: unknown): (tool: ListedTool) => boolean {
  if (input === 'never') return () => false;
  if (!isObject(input)) return () => true;
  const always = readFilter(input.always);
  const never = readFilter(input.never);
  return (tool) => always?.(tool) === true || never?.(tool) !== true;
}

function readFilter(input: unknown): ((tool: ListedTool) => boolean) | undefined {
  if (input === undefined || input === null) return undefined;
  const filter = readAllowed(input);
  return (tool) => isAllowed(tool, filter);
}

export function hasHint({ annotations }: ListedTool, hint: 'readOnlyHint' | 'idempotentHint'): boolean {
  return annotations?.[hint] === true;
}
