import { builtinTools } from '../../engine/tools/builtin.ts';
import type { WireObject } from '../../entities/runs/response.ts';
import { servedToolTypes } from '../../entities/runs/served.ts';
import { type FaultNotes, readWire } from '../../wire/read.ts';
import { responseToolParam } from '../../wire/responses/tools.ts';

/** Whether a type names a tool of the service, served or not. */
export function isServiceTool(type: unknown): type is string {
  return typeof type === 'string' && Object.hasOwn(builtinTools, type);
}

/** The names that the model sees of a tool of the service. */
export function serviceToolNames(type: unknown): readonly string[] {
  return isServiceTool(type) ? (builtinTools[type] ?? []) : [];
}

/**
 * Checks a tool of the service: its members, and that this version serves it.
 *
 * @param tool  as the responses format writes it.
 */
export function checkServiceTool(tool: WireObject, at: string, faults: FaultNotes): void {
  readWire(responseToolParam, tool, at, faults);
  const type = String(tool.type);
  if (servedToolTypes.includes(type)) return;
  const message = `${at}.type: this version of Parley has no ${type}; of the tools of the service it has ${servedToolTypes.join(', ')}`;
  faults.add(`${at}.type`, message, 'TOOL_NOT_AVAILABLE');
}

export function unknownToolType(at: string): string {
  return `${at}.type must be one of ${['function', ...Object.keys(builtinTools)].join(', ')}`;
}
