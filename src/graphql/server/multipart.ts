import type { GraphQLParams } from 'graphql-yoga';
import type { AdmissionPool } from '../../engine/sharing/pools.ts';
import type { UploadedFile } from '../../entities/chats/uploaded-file.ts';
import { DomainError } from '../../entities/errors.ts';
import { type Form, readForm } from '../../http/body/form.ts';
import type { Settings } from '../../settings.ts';
import { type CallPlugin, callerOf } from './call.ts';

const filesMax = 10;
/** The specification has two, `operations` and `map`. */
const fieldsMax = 5;

/**
 * Reads requests of the GraphQL multipart request specification: `operations`, `map`, then the files, which are gone when the reply is
 * sent. Yoga's own reader keeps whole files in memory; this one sets them aside in temporary files, within the limits of uploads.
 */
export function useMultipart(settings: Settings, uploads: AdmissionPool): CallPlugin {
  const limits = {
    fileMaxBytes: settings.UPLOAD_MAX_BYTES,
    filesMax,
    // Nearly all text is in the field `operations`.
    fieldMaxBytes: settings.BODY_MAX_BYTES,
    fieldsMaxBytes: settings.BODY_MAX_BYTES,
    fieldsMax,
    idleMs: settings.BODY_IDLE_TIMEOUT_MS,
  };
  return {
    onRequestParse: ({ request, serverContext: { call }, setRequestParser }) => {
      if (request.method !== 'POST' || !/^multipart\/form-data\b/i.test(request.headers.get('content-type') ?? '')) return;
      setRequestParser(async () => {
        const caller = callerOf(call);
        uploads.enter(caller);
        call.afterwards.push(() => uploads.leave(caller));
        try {
          const form = await readForm(call.req, limits);
          call.afterwards.push(form.dispose);
          return paramsOfForm(form);
        } catch (error) {
          call.refusal = [error];
          throw error;
        }
      });
    },
  };
}

function paramsOfForm({ fields, files }: Form): GraphQLParams {
  const operations = jsonField(fields, 'operations');
  const byName = new Map(files.map((file) => [file.name, file]));
  for (const [name, paths] of Object.entries(jsonField(fields, 'map'))) {
    const file = byName.get(name);
    if (file === undefined) {
      throw new DomainError('MISSING_REQUIRED_PARAMETER', `map names ${name}, but the form has no such file`, { param: name });
    }
    if (!Array.isArray(paths))
      throw new DomainError('INVALID_TYPE', `map.${name} must be an array of paths`, { param: `map.${name}` });
    for (const path of paths) place(operations, path, file);
  }
  return operations;
}

function jsonField(fields: ReadonlyMap<string, string>, name: string): object {
  const text = fields.get(name);
  if (text === undefined)
    throw new DomainError('MISSING_REQUIRED_PARAMETER', `The form must hold the field ${name}`, { param: name });
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    throw new DomainError('INVALID_JSON', `${name} is not valid JSON`, { param: name });
  }
  throw new DomainError('INVALID_TYPE', `${name} must be a JSON object`, { param: name });
}

/** Puts a file where a path of `map` points: `variables.input.file`. Only own members that are null are replaced. */
function place(root: object, path: unknown, file: UploadedFile): void {
  const fault = new DomainError('INVALID_VALUE', 'A path of map must point to a variable whose value is null', { param: 'map' });
  if (typeof path !== 'string' || path.length > 500) throw fault;
  const keys = path.split('.');
  const last = keys.pop();
  let holder: unknown = root;
  for (const key of keys) {
    if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key)) throw fault;
    holder = Reflect.get(holder, key);
  }
  if (last === undefined || keys[0] !== 'variables' || typeof holder !== 'object' || holder === null) throw fault;
  if (!Object.hasOwn(holder, last) || Reflect.get(holder, last) !== null) throw fault;
  Reflect.set(holder, last, file);
}
