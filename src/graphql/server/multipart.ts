import type { IncomingMessage } from 'node:http';
import type { GraphQLParams } from 'graphql-yoga';
import type { AdmissionPool } from '../../engine/sharing/pools.ts';
import type { UploadedFile } from '../../entities/conversations/chats/uploaded-file.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import { type Form, readForm } from '../../http/body/form.ts';
import type { Settings } from '../../settings.ts';
import { type CallPlugin, requireCaller } from './call.ts';

const filesMax = 10;
/** The specification has two, `operations` and `map`. */
const fieldsMax = 5;

/**
 * Reads requests of the GraphQL multipart request specification: `operations`, `map`, then the files, which are gone when the reply is
 * sent. Yoga's own reader keeps whole files in memory; this one sets them aside in temporary files, within the limits of uploads.
 */
export function useMultipart(settings: Settings, uploads: AdmissionPool): CallPlugin {
  const limits = {
    ...{ filesMax, fieldsMax, fileMaxBytes: settings.UPLOAD_MAX_BYTES, idleMs: settings.BODY_IDLE_TIMEOUT_MS },
    // Nearly all text is in the field `operations`.
    ...{ fieldMaxBytes: settings.BODY_MAX_BYTES, fieldsMaxBytes: settings.BODY_MAX_BYTES },
  };
  return {
    onRequestParse: ({ serverContext: { call }, setRequestParser }) => {
      if (!isForm(call.req)) return;
      setRequestParser(async () => {
        const caller = requireCaller(call);
        uploads.enter(caller);
        call.afterwards.push(() => uploads.leave(caller));
        const form = await readForm(call.req, limits);
        call.afterwards.push(form.dispose);
        return paramsOfForm(form);
      });
    },
  };
}

export function isForm({ headers }: IncomingMessage): boolean {
  return /^multipart\/form-data\b/i.test(headers['content-type'] ?? '');
}

function paramsOfForm({ fields, files }: Form): GraphQLParams {
  const operations = jsonField(fields, 'operations');
  const map = jsonField(fields, 'map');
  for (const [name, paths] of Object.entries(map)) {
    const file = files.find((candidate) => candidate.name === name);
    if (file === undefined) {
      throw new DomainError('MISSING_REQUIRED_PARAMETER', `map names ${name}, but the form has no such file`, { param: name });
    }
    if (!Array.isArray(paths))
      throw new DomainError('INVALID_TYPE', `map.${name} must be an array of paths`, { param: `map.${name}` });
    for (const path of paths) place(operations, path, file);
  }
  const unnamedFile = files.find(({ name }) => !Object.hasOwn(map, name));
  if (unnamedFile !== undefined) {
    throw new DomainError('INVALID_VALUE', `The form has a file ${unnamedFile.name}, which map does not name`, { param: 'map' });
  }
  return operations;
}

function jsonField(fields: ReadonlyMap<string, string>, param: string): object {
  const text = fields.get(param);
  if (text === undefined) throw new DomainError('MISSING_REQUIRED_PARAMETER', `The form must hold the field ${param}`, { param });
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    throw new DomainError('INVALID_JSON', `${param} is not valid JSON`, { param });
  }
  throw new DomainError('INVALID_TYPE', `${param} must be a JSON object`, { param });
}

/** Puts a file where a path of `map` points: `variables.input.file`. Only own members that are null are replaced. */
function place(root: object, path: unknown, file: UploadedFile): void {
  const keys = typeof path === 'string' && path.length <= 500 ? path.split('.') : [];
  const last = keys.pop() ?? '';
  let holder: unknown = keys[0] === 'variables' ? root : undefined;
  for (const key of keys) holder = ownMember(holder, key);
  if (ownMember(holder, last) !== null) {
    throw new DomainError('INVALID_VALUE', 'A path of map must point to a variable whose value is null', { param: 'map' });
  }
  Reflect.set(holder as object, last, file);
}

function ownMember(holder: unknown, key: string): unknown {
  return typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key) ? Reflect.get(holder, key) : undefined;
}
