import type { Allowed } from '../../entities/ground/errors.ts';
import { type DataSourceType, isConnectedType } from '../../entities/knowledge/data-source.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { createNumberReader, createTextReader, type MemberReader } from './connectors/members.ts';
import { sourceKinds } from './connectors/registry.ts';

/** What is wrong with a member of a source's data; `path` is the place in it: `includeUrlGlobs[1]`. */
export interface SourceDataFault {
  readonly path: string;
  /** The end of a sentence that begins with the place: `must be from 1 to 100`. */
  readonly message: string;
  /** What the member must fit, where that is a list or a range. */
  readonly allowed?: Allowed;
}
export interface ReadSourceData {
  /** The members that sources of the type have and that are given, null left out. */
  readonly data: JsonObject;
  readonly faults: readonly SourceDataFault[];
  /** Members that sources of the type do not have. */
  readonly unknownMembers: readonly string[];
}

/**
 * Reads the configuration of a source by the record of its kind: for the operations that add a source, for imports and for the job that reads it.
 * The payload of an API source is free.
 *
 * @param data  `{filename, mimeType, size}` of an uploaded file, else the configuration for the connector of the type.
 */
export function readSourceData(type: DataSourceType, data: JsonObject): ReadSourceData {
  if (type === 'API') return { data, faults: [], unknownMembers: [] };
  const readers = isConnectedType(type) ? sourceKinds[type].members : uploadMembers;
  const faults: SourceDataFault[] = [];
  const dataEntries = Object.entries(data).filter(([, value]) => value !== null && value !== undefined);
  const ownEntries = dataEntries.filter(([name]) => Object.hasOwn(readers, name));
  for (const [name, value] of ownEntries)
    readers[name]?.read(value, (message, path = '', allowedValues) => {
      faults.push({ path: name + path, message, ...(allowedValues === undefined ? {} : { allowed: allowedValues }) });
    });
  return {
    data: Object.fromEntries(ownEntries),
    faults,
    unknownMembers: dataEntries.map(([name]) => name).filter((name) => !Object.hasOwn(readers, name)),
  };
}

/** The members without which nothing could be read. */
export function essentialMembers(type: DataSourceType): readonly string[] {
  const members = isConnectedType(type) ? Object.entries(sourceKinds[type].members) : [];
  return members.filter(([, { isEssential }]) => isEssential === true).map(([name]) => name);
}

const nameOfFileLengthMax = 2_000;
const uploadMembers: Readonly<Record<string, { readonly read: MemberReader }>> = {
  filename: { read: createTextReader(nameOfFileLengthMax) },
  mimeType: { read: createTextReader(nameOfFileLengthMax) },
  size: { read: createNumberReader(0, Number.MAX_SAFE_INTEGER) },
};
