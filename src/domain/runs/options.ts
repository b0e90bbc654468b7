import { isObject } from '../../lib/json.ts';
import type { Faults } from '../faults.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * Checks the options of a chat that a message, a completion or a response brings: `{flow: {override: {force, id, version}, tracing:
 * {enabled}}}`; `tracing` may also stand beside `flow`. Members that are not known are ignored, null is the same as absent.
 */
export function readRunOptions(param: string, options: unknown, faults: Faults): void {
  const read = membersOf(param, options, faults);
  if (read === undefined) return;
  requireFlag(`${param}.tracing`, 'enabled', read.tracing, faults);
  const flow = membersOf(`${param}.flow`, read.flow, faults);
  if (flow === undefined) return;
  requireFlag(`${param}.flow.tracing`, 'enabled', flow.tracing, faults);
  const at = `${param}.flow.override`;
  requireFlag(at, 'force', flow.override, faults);
  const { id, version } = isObject(flow.override) ? flow.override : {};
  if (isGiven(id) && typeof id !== 'string') faults.add(`${at}.id`, `${at}.id must be a string`, 'INVALID_TYPE');
  if (!isGiven(version)) return;
  if (typeof version !== 'number') faults.add(`${at}.version`, `${at}.version must be an integer`, 'INVALID_TYPE');
  else if (!Number.isSafeInteger(version) || version < 1) faults.add(`${at}.version`, `${at}.version must be an integer from 1`);
}

function requireFlag(param: string, name: string, given: unknown, faults: Faults): void {
  const value = membersOf(param, given, faults)?.[name];
  if (isGiven(value) && typeof value !== 'boolean') {
    faults.add(`${param}.${name}`, `${param}.${name} must be true or false`, 'INVALID_TYPE');
  }
}

function membersOf(param: string, given: unknown, faults: Faults): Members | undefined {
  if (!isGiven(given)) return undefined;
  if (isObject(given)) return given;
  faults.add(param, `${param} must be an object`, 'INVALID_TYPE');
  return undefined;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
