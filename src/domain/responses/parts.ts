import type { WireObject } from '../../entities/runs/response.ts';
import { imageUrlRule, kindOfImageUrl } from '../chats/image-url.ts';
import type { Faults } from '../faults.ts';
import { isObject } from './values.ts';

/** Content parts of one item, at most. */
export const partsMax = 1_000;
const metadataKeysMax = 16;
const filenameMax = 255;
const urlMax = 8_192;
/** Longer ids name nothing. */
const idMax = 200;
const details = ['auto', 'low', 'high', 'original'];
const filePattern = /^data:[\w.+/-]*(?:;[\w=."-]+)*;base64,[A-Za-z0-9+/=\s]*$/i;
const addressPattern = /^https?:\/\/[^\s/]+\S*$/i;

/** Reads a part of a message, in one spelling. Files and addresses are looked up by given-items.ts. */
export function readPart(part: unknown, at: string, isAssistant: boolean, faults: Faults): WireObject | undefined {
  if (!isObject(part)) return noObject(at, faults);
  const { type } = part;
  if (type === 'input_text' || type === 'text' || type === 'output_text') {
    const text = requireText(part.text, `${at}.text`, faults);
    if (text === undefined) return undefined;
    if (isAssistant) return { ...stringPart(text, true), ...listsOf(part) };
    return { type: 'input_text', text, ...flagsOf(part, at, faults), ...metadataOf(part, at, faults) };
  }
  if (type === 'refusal' && isAssistant) {
    const refusal = requireText(part.refusal, `${at}.refusal`, faults);
    return refusal === undefined ? undefined : { type, refusal };
  }
  if (type === 'input_image' && !isAssistant) return readImage(part, at, faults);
  if (type === 'input_file' && !isAssistant) return readFile(part, at, faults);
  return unknownType(type, at, isAssistant ? 'output_text, refusal' : 'input_text, input_image, input_file', faults);
}

/** Reads a part of what a tool gave: a tool of the service also answers in parts of an output. */
export function readOutputPart(part: unknown, at: string, isServer: boolean, faults: Faults): WireObject | undefined {
  if (!isServer) return readPart(part, at, false, faults);
  if (!isObject(part)) return noObject(at, faults);
  const { type } = part;
  if (type === 'output_text') return readPart(part, at, true, faults);
  if (type !== 'output_image') return readPart(part, at, false, faults);
  const read = readImage(part, at, faults);
  if (read === undefined) return undefined;
  const { detail: _detail, ...image } = read;
  return { ...image, type, ...(typeof part.mime_type === 'string' ? { mime_type: part.mime_type.slice(0, idMax) } : {}) };
}

export function stringPart(text: string, isAssistant: boolean): WireObject {
  return isAssistant ? { type: 'output_text', text, annotations: [], logprobs: [] } : { type: 'input_text', text };
}

export function requireText(value: unknown, at: string, faults: Faults): string | undefined {
  if (typeof value === 'string') return value;
  const isMissing = value === undefined || value === null;
  faults.add(at, `${at} must be a string`, isMissing ? 'MISSING_REQUIRED_PARAMETER' : 'INVALID_TYPE');
  return undefined;
}

function listsOf(part: WireObject): WireObject {
  return {
    annotations: Array.isArray(part.annotations) ? part.annotations : [],
    logprobs: Array.isArray(part.logprobs) ? part.logprobs : [],
  };
}

function readImage(part: WireObject, at: string, faults: Faults): WireObject | undefined {
  const source = readSource(part, ['image_url', 'file_id'], at, faults);
  if (source === undefined) return undefined;
  const { image_url: url } = source;
  if (typeof url === 'string' && kindOfImageUrl(url) === undefined) {
    faults.add(`${at}.image_url`, `${at}.image_url must be ${imageUrlRule}`);
    return undefined;
  }
  return { type: 'input_image', ...source, detail: 'auto', ...detailOf(part, at, faults), ...flagsOf(part, at, faults) };
}

function readFile(part: WireObject, at: string, faults: Faults): WireObject | undefined {
  const source = readSource(part, ['file_data', 'file_id', 'file_url'], at, faults);
  if (source === undefined) return undefined;
  const { file_data: data, file_url: url } = source;
  if (typeof data === 'string' && !filePattern.test(data)) {
    faults.add(`${at}.file_data`, `${at}.file_data must be a data URL in base64`);
    return undefined;
  }
  if (typeof url === 'string' && (url.length > urlMax || !addressPattern.test(url))) {
    faults.add(`${at}.file_url`, `${at}.file_url must be an http(s) URL of at most ${urlMax} characters`);
    return undefined;
  }
  const { filename } = part;
  const isNamed = filename !== undefined && filename !== null;
  if (isNamed && (typeof filename !== 'string' || filename.length > filenameMax)) {
    faults.add(`${at}.filename`, `${at}.filename must be a string of at most ${filenameMax} characters`);
  }
  const name = typeof filename === 'string' ? { filename } : data === undefined ? {} : { filename: 'file' };
  return { type: 'input_file', ...name, ...source, ...detailOf(part, at, faults), ...flagsOf(part, at, faults) };
}

/** The one member of several that says where the content is. */
function readSource(part: WireObject, names: readonly string[], at: string, faults: Faults): WireObject | undefined {
  const [first = '', second] = names.filter((name) => part[name] !== undefined && part[name] !== null);
  if (first === '') {
    faults.add(`${at}.${names[0]}`, `${at} must have one of ${names.join(', ')}`, 'MISSING_REQUIRED_PARAMETER');
    return undefined;
  }
  if (second !== undefined) {
    faults.add(`${at}.${second}`, `${at} must have only one of ${names.join(', ')}`, 'MUTUALLY_EXCLUSIVE_PARAMETERS');
    return undefined;
  }
  const value = requireText(part[first], `${at}.${first}`, faults);
  if (value === undefined) return undefined;
  return { [first]: first === 'file_id' ? value.slice(0, idMax) : value };
}

function detailOf({ detail }: WireObject, at: string, faults: Faults): WireObject {
  if (detail === undefined || detail === null) return {};
  if (details.includes(detail as string)) return { detail };
  faults.add(`${at}.detail`, `${at}.detail must be one of ${details.join(', ')}`);
  return {};
}

/** `invisible`: for the model, not for transcripts. */
function flagsOf({ invisible }: WireObject, at: string, faults: Faults): WireObject {
  if (invisible === undefined || invisible === null) return {};
  if (typeof invisible === 'boolean') return { invisible };
  faults.add(`${at}.invisible`, `${at}.invisible must be true or false`, 'INVALID_TYPE');
  return {};
}

/** Kept and listed, never shown to a model. */
function metadataOf({ metadata }: WireObject, at: string, faults: Faults): WireObject {
  if (metadata === undefined || metadata === null) return {};
  if (!isObject(metadata)) faults.add(`${at}.metadata`, `${at}.metadata must be an object`, 'INVALID_TYPE');
  else if (Object.keys(metadata).length > metadataKeysMax) {
    faults.add(`${at}.metadata`, `${at}.metadata must have at most ${metadataKeysMax} members`);
  }
  return { metadata };
}

function noObject(at: string, faults: Faults): undefined {
  faults.add(at, `${at} must be an object`, 'INVALID_TYPE');
}

function unknownType(type: unknown, at: string, known: string, faults: Faults): undefined {
  faults.add(`${at}.type`, `${at}.type must be one of ${known}`, type === undefined ? 'MISSING_REQUIRED_PARAMETER' : undefined);
}
