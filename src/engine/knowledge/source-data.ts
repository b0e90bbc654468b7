import { type Allowed, allowedRange } from '../../entities/ground/errors.ts';
import { installationIdMax } from '../../entities/knowledge/connection.ts';
import { crawlBounds, type DataSourceType, repoHostModes, webUrlFileTypes } from '../../entities/knowledge/data-source.ts';
import type { JsonObject } from '../../lib/json/json.ts';

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
 * Reads the configuration of a source: the one list of members and bounds for the operations that add a source, for imports and for the job that
 * reads it. The payload of an API source is free.
 *
 * @param data  `{filename, mimeType, size}` of an uploaded file, else the configuration for the connector of the type.
 */
export function readSourceData(type: DataSourceType, data: JsonObject): ReadSourceData {
  const readers = membersOf[type];
  if (readers === undefined) return { data, faults: [], unknownMembers: [] };
  const faults: SourceDataFault[] = [];
  const dataEntries = Object.entries(data).filter(([, value]) => value !== null && value !== undefined);
  for (const [name, value] of dataEntries)
    readers[name]?.(value, (message, path = '', allowedValues) => {
      faults.push({ path: name + path, message, ...(allowedValues === undefined ? {} : { allowed: allowedValues }) });
    });
  return {
    data: Object.fromEntries(dataEntries.filter(([name]) => Object.hasOwn(readers, name))),
    faults,
    unknownMembers: dataEntries.map(([name]) => name).filter((name) => !Object.hasOwn(readers, name)),
  };
}

/** @param path  a place below the member: `[1]`. */
type AddFault = (message: string, path?: string, allowedValues?: Allowed) => void;
type MemberReader = (value: unknown, fault: AddFault) => void;

const textLengthMax = 500;
const nameOfFileLengthMax = 2_000;
const urlLengthMax = 2_000;
const globsMax = 100;
const wildcardsMax = 20;
const reposMax = 500;

const flag: MemberReader = (value, fault) => {
  if (typeof value !== 'boolean') fault('must be true or false');
};
const text = textUpTo(textLengthMax);
/** A text that is not blank. */
const name: MemberReader = (value, fault) => {
  if (typeof value === 'string' && value.trim() === '') fault('must not be blank');
  else text(value, fault);
};
const connection = { oauthTokenId: text };
const file = { ...connection, fileId: name, filename: name };

const membersOf: Readonly<Partial<Record<DataSourceType, Readonly<Record<string, MemberReader>>>>> = {
  FILE_UPLOAD: {
    filename: textUpTo(nameOfFileLengthMax),
    mimeType: textUpTo(nameOfFileLengthMax),
    size: wholeNumber(0, Number.MAX_SAFE_INTEGER),
  },
  DRIVE_A: file,
  DRIVE_B: { ...file, driveId: name },
  WEB_URL: {
    url: readUrl,
    includeFiles: flag,
    includedFileTypes: createListReader(createChoiceReader(webUrlFileTypes), webUrlFileTypes.length),
    includeUrlGlobs: createListReader(readGlob, globsMax),
    excludeUrlGlobs: createListReader(readGlob, globsMax),
    maxPages: wholeNumber(crawlBounds.maxPages.min, crawlBounds.maxPages.max),
    maxMemory: wholeNumber(crawlBounds.maxMemory.min, crawlBounds.maxMemory.max),
    timeout: wholeNumber(crawlBounds.timeout.min, crawlBounds.timeout.max),
  },
  WIKI: {
    ...connection,
    pageName: name,
    ...{ pageId: text, contentType: text, spaceId: text, selectedDriveAccount: text, cloudId: text },
    ...{ indexChildPages: flag, indexDriveFiles: flag, indexAttachments: flag, archive: flag, allSpaces: flag },
  },
  TRACKER: { ...connection, projectName: name, projectKey: readProjectKey, cloudId: name },
  REPO_HOST: {
    mode: createChoiceReader(repoHostModes),
    repoHostAppInstallationId: wholeNumber(1, installationIdMax),
    repos: createListReader(readRepository, reposMax),
  },
};

function textUpTo(lengthMax: number): MemberReader {
  return (value, fault) => {
    if (typeof value !== 'string') fault('must be a text');
    else if (value.length > lengthMax) fault(`must have at most ${lengthMax} characters`, '', { maxLength: lengthMax });
  };
}

function wholeNumber(min: number, max: number): MemberReader {
  const numberRange = allowedRange(min, max);
  return (value, fault) => {
    if (typeof value !== 'number' || value < min || value > max) fault(`must be from ${min} to ${max}`, '', numberRange);
    else if (!Number.isInteger(value)) fault(`must be a whole number from ${min} to ${max}`, '', numberRange);
  };
}

function createChoiceReader(values: readonly string[]): MemberReader {
  return (value, fault) => {
    if (typeof value !== 'string' || !values.includes(value)) fault(`must be one of ${values.join(', ')}`, '', { enum: values });
  };
}

function createListReader(read: MemberReader, countMax: number): MemberReader {
  return (value, fault) => {
    if (!Array.isArray(value)) return fault('must be an array');
    if (value.length > countMax) fault(`must have at most ${countMax} items`, '', { maxItems: countMax });
    for (const [index, item] of value.slice(0, countMax).entries()) {
      read(item, (message, path = '', allowedValues) => fault(message, `[${index}]${path}`, allowedValues));
    }
  };
}

function readUrl(value: unknown, fault: AddFault): void {
  const url = typeof value === 'string' && value.length <= urlLengthMax ? URL.parse(value) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    fault(`must be an http or https address of at most ${urlLengthMax} characters`);
  }
}

/** A pattern for whole addresses: `*` within a segment, `**` across segments, `?`, `[…]`, `{a,b}`. */
function readGlob(value: unknown, fault: AddFault): void {
  name(value, fault);
  if (typeof value !== 'string') return;
  if (!isBalanced(value)) fault('has a bracket without its other half');
  // Patterns become regular expressions, which many wildcards make slow.
  if ((value.match(/\*+|\{/g)?.length ?? 0) > wildcardsMax) fault(`must have at most ${wildcardsMax} wildcards`);
}

const closing: Readonly<Record<string, string>> = { '[': ']', '{': '}', '(': ')' };

function isBalanced(glob: string): boolean {
  const open: string[] = [];
  for (const character of glob.replace(/\\./gs, '')) {
    const end = closing[character];
    if (end !== undefined) open.push(end);
    else if (Object.values(closing).includes(character) && open.pop() !== character) return false;
  }
  return open.length === 0;
}

/** The key becomes a part of tracker queries: no character may end a name there. */
function readProjectKey(value: unknown, fault: AddFault): void {
  if (typeof value !== 'string' || !/^[\p{L}\p{N}_.-]{1,100}$/u.test(value)) {
    fault('must be 1 to 100 letters, digits, dots, hyphens or underscores');
  }
}

function readRepository(value: unknown, fault: AddFault): void {
  const isName =
    typeof value === 'string' &&
    /^[\w.-]{1,100}(\/[\w.-]{1,100}){0,3}$/.test(value) &&
    !value.split('/').some((part) => /^\.+$/.test(part));
  if (!isName) fault('must be a name like owner/repository');
}
