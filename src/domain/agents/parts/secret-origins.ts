import { originOfTool } from '../../../engine/tools/api-function/address.ts';
import { secretElsewhere } from '../../../engine/tools/secrets/bound-secrets.ts';
import { type AgentSecret, type RunnableTool, secretKeysIn } from '../../../entities/agents/part.ts';
import { hasMembers } from '../../../lib/json/json.ts';
import type { Faults } from '../../ground/faults.ts';

type CallingTool = Pick<RunnableTool, 'type' | 'data'>;

const originsMax = 20;

/** The origins that tools send a secret to, sorted. */
export function originsOfKey(tools: readonly CallingTool[], key: string): readonly string[] {
  const origins = tools.filter(({ data }) => secretKeysIn(data).includes(key)).map((tool) => originOfTool(tool));
  return [...new Set(origins.filter((origin) => origin !== undefined))].sort();
}

/** A tool to write. */
export interface WrittenTool {
  readonly tool: CallingTool;
  /** The stored tool; undefined for a new one. */
  readonly before: CallingTool | undefined;
  /** Keys whose values come with the tool's data. */
  readonly givenKeys: readonly string[];
  readonly userId: string;
}

/**
 * Requires that each stored secret that a tool refers to was given for the tool's origin. A secret without an origin is bound by
 * the first tool that its giver writes.
 *
 * @returns the keys to bind to the tool's origin.
 */
export function requireOwnOrigins(
  param: string,
  { tool, before, givenKeys, userId }: WrittenTool,
  secretsByKey: ReadonlyMap<string, AgentSecret>,
  faults: Faults,
): readonly string[] {
  const origin = originOfTool(tool);
  if (origin === undefined) return [];
  const keptKeys = before !== undefined && originOfTool(before) === origin ? secretKeysIn(before.data) : [];
  return secretKeysIn(tool.data).filter((key) => {
    const secret = secretsByKey.get(key);
    if (secret === undefined || !secret.hasValue || givenKeys.includes(key) || keptKeys.includes(key)) return false;
    if (secret.origins.includes(origin)) return false;
    if (secret.origins.length === 0 && secret.givenByUserId === userId) return true;
    const place = hasMembers(tool.data.auth) && tool.data.auth.secretKey === key ? '.auth.secretKey' : placeOfKey(tool.data, key);
    const help = 'put the value in place of the reference, or give the secret with its value and its origins';
    faults.add(`${param}${place}`, `${param}${place}: ${secretElsewhere(key, secret.origins, origin)}: ${help}`);
    return false;
  });
}

/** The place of a reference in the data, like `.headers.Authorization`. */
function placeOfKey(value: unknown, key: string): string {
  if (!hasMembers(value)) return '';
  const matchingEntry = Object.entries(value).find(([, child]) => secretKeysIn(child).includes(key));
  if (matchingEntry === undefined) return '';
  const [name, child] = matchingEntry;
  return `${Array.isArray(value) ? `[${name}]` : `.${name}`}${placeOfKey(child, key)}`;
}

/**
 * The origins of a new value: those that the caller names, else those of the tools that refer to the key. Without such tools a new
 * value keeps the old origins. A value with origins gets other ones only when the caller names them.
 */
export function requestOrigins(
  { key, origins: before }: Pick<AgentSecret, 'key' | 'origins'>,
  originInput: readonly string[] | undefined,
  tools: readonly CallingTool[],
  faults: Faults,
): readonly string[] {
  if (originInput !== undefined) return readOrigins(originInput, faults);
  const toolOrigins = originsOfKey(tools, key);
  if (toolOrigins.length === 0) return before;
  const newOrigins = before.length === 0 ? [] : toolOrigins.filter((origin) => !before.includes(origin));
  if (newOrigins.length > 0) {
    const where = `${key} was given for ${before.join(', ')}, and tools of the agent would send it to ${newOrigins.join(', ')}`;
    faults.add('origins', `origins is required: ${where}; name the origins that it is for`, 'MISSING_REQUIRED_PARAMETER');
  }
  return toolOrigins;
}

function readOrigins(originTexts: readonly string[], faults: Faults): readonly string[] {
  faults.requireCount('origins', originTexts, originsMax);
  const read = originTexts.slice(0, originsMax).map((text, index) => {
    const url = URL.parse(text);
    const isOrigin = url !== null && /^https?:$/.test(url.protocol) && /^https?:\/\/[^/?#@\\]+\/?$/i.test(text);
    if (!isOrigin)
      faults.add(
        `origins[${index}]`,
        `origins[${index}] must be an origin like https://api.example.com or http://127.0.0.1:8080`,
      );
    return url?.origin ?? '';
  });
  return [...new Set(read)].sort();
}
