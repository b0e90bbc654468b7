import type { WireObject } from '../../entities/runs/response.ts';
import type { Faults } from '../faults.ts';
import { isObject } from './values.ts';

/** What a member of a tool must be; a list holds the values it may have. */
type Kind = 'text' | 'flag' | 'integer' | 'object' | 'texts' | 'text or object' | 'texts or object' | readonly string[];

const webSearch: Readonly<Record<string, Kind>> = {
  includeXSearch: 'flag',
  include_x_search: 'flag',
  search_context_size: ['low', 'medium', 'high'],
  user_location: 'object',
  filters: 'object',
  'user_location.type': ['approximate'],
  'user_location.city': 'text',
  'user_location.country': 'text',
  'user_location.region': 'text',
  'user_location.timezone': 'text',
  'filters.allowed_domains': 'texts',
  'filters.blocked_domains': 'texts',
};
const python: Readonly<Record<string, Kind>> = { container: 'text or object' };

/** Members of the tools of the service whose meaning is known, by the type of the tool. Others are ignored, and repeated as they came. */
const members: Readonly<Record<string, Readonly<Record<string, Kind>>>> = {
  web_search: webSearch,
  web_search_preview: webSearch,
  python,
  code_interpreter: python,
  image_generation: {
    ...{ model: 'text', size: 'text', quality: 'text', style: 'text' },
    background: ['transparent', 'opaque', 'auto'],
    output_format: ['png', 'jpeg', 'webp'],
    moderation: ['auto', 'low'],
    input_fidelity: ['high', 'low'],
    ...{ output_compression: 'integer', partial_images: 'integer', n: 'integer' },
    ...{ input_image_mask: 'object', model_configuration: 'object' },
  },
  mcp_server: {
    ...{ id: 'text', server_id: 'text', name: 'text', server_label: 'text', server_description: 'text' },
    allowed_tools: 'texts or object',
  },
  spreadsheet: { file_id: 'text', file_ids: 'texts' },
  memory: { scope: 'text' },
  sandbox: { container: 'text or object' },
};
/** What only the server of a tool may know: it is in no reply. */
const hidden = ['authorization', 'headers'];
const textMax = 2_000;
const textsMax = 200;

/** Checks the members of a tool of the service, and gives it back as the response repeats it. */
export function readServiceTool(tool: WireObject, at: string, faults: Faults): WireObject {
  const kinds = members[String(tool.type)] ?? {};
  for (const [path, kind] of Object.entries(kinds)) {
    const [first = '', second] = path.split('.');
    const outer = tool[first];
    const value = second === undefined ? outer : isObject(outer) ? outer[second] : undefined;
    if (value === undefined || value === null || isOfKind(value, kind)) continue;
    const isText = typeof value === 'string' && (typeof kind !== 'string' || kind === 'text' || kind === 'text or object');
    faults.add(`${at}.${path}`, `${at}.${path} must be ${described(kind)}`, isText ? undefined : 'INVALID_TYPE');
  }
  return Object.fromEntries(Object.entries(tool).filter(([name]) => !hidden.includes(name)));
}

function isOfKind(value: unknown, kind: Kind): boolean {
  switch (kind) {
    case 'text':
      return isText(value);
    case 'flag':
      return typeof value === 'boolean';
    case 'integer':
      return Number.isSafeInteger(value);
    case 'object':
      return isObject(value);
    case 'texts':
      return isTexts(value);
    case 'text or object':
      return isText(value) || isObject(value);
    case 'texts or object':
      return isTexts(value) || isObject(value);
    default:
      return kind.includes(String(value)) && typeof value === 'string';
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.length <= textMax;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length <= textsMax && value.every(isText);
}

const texts = `an array of at most ${textsMax} strings`;
const kindNames = {
  text: `a string of at most ${textMax} characters`,
  flag: 'true or false',
  integer: 'an integer',
  object: 'an object',
  texts,
  'text or object': 'a string or an object',
  'texts or object': `${texts}, or an object`,
} as const;

function described(kind: Kind): string {
  return typeof kind === 'string' ? kindNames[kind] : `one of ${kind.join(', ')}`;
}
