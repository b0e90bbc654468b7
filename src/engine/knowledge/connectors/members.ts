import { type Allowed, allowedRange } from '../../../entities/ground/errors.ts';
import type { OauthProvider } from '../../../entities/knowledge/connection.ts';

/** Adds what is wrong with a member: the end of a sentence that begins with its place. @param path  a place below the member: `[1]`. */
export type AddFault = (message: string, path?: string, allowedValues?: Allowed) => void;
/** Says what is wrong with a value, which is never null or undefined. */
export type MemberReader = (value: unknown, fault: AddFault) => void;

/**
 * A member of what a source is added with. Operations, bundles and jobs read it by `read`; the inputs and types of both APIs are made of the rest.
 * It is kept in `data` under its name, which REST has too.
 */
export type SourceMember =
  | TextMember
  | TextsMember
  | FlagMember
  | NumberMember
  | ChoiceMember
  | AccountMember
  | InstallationMember;

interface Words {
  /** What a caller who adds a source is told of it. Absent: callers do not give it. */
  readonly input?: string;
  /** What a reader of a source is told of it. Absent: it is not shown by itself. */
  readonly setting?: string;
  /** Its name in GraphQL, where it is another: with a unit. */
  readonly graphName?: string;
  /** No source is added without it. */
  readonly isRequired?: true;
  /** Without it nothing could be read: a bundle must have it. */
  readonly isEssential?: true;
}
interface Member extends Words {
  readonly read: MemberReader;
}
export interface TextMember extends Member {
  readonly form: 'text';
  /** It is the address of a service: http or https, without credentials. */
  readonly isAddress?: true;
  /** Where it is the id of a connection, it must be one of the caller to this service. */
  readonly accountAt?: OauthProvider;
}
export interface TextsMember extends Member {
  readonly form: 'texts';
  /** Each value is kept once. */
  readonly isSet?: true;
  readonly default?: readonly string[];
}
export interface FlagMember extends Member {
  readonly form: 'flag';
  readonly default?: boolean;
}
export interface NumberMember extends Member {
  readonly form: 'number';
  readonly bounds: NumberBounds;
}
export interface ChoiceMember extends Member {
  /** One value, which is the first where a source has none; or several, each once. */
  readonly form: 'choice' | 'choices';
  readonly values: ChoiceValues;
}
/** What a source reads with: the id of a connection of the caller. */
export interface AccountMember extends Member {
  readonly form: 'account';
  readonly provider: OauthProvider;
}
/** The number of an installation of the operator's App, which is a connection of the caller. GraphQL takes the id of the connection. */
export interface InstallationMember extends Member {
  readonly form: 'installation';
}

export interface NumberBounds {
  readonly min: number;
  readonly max: number;
  readonly default: number;
}

/** An enum of GraphQL: values with a sentence for each. */
export interface ChoiceValues {
  readonly name: string;
  readonly description: string;
  readonly values: Readonly<Record<string, string>>;
  /** REST reads and shows the values as they are written here. */
  readonly isOfFormat?: true;
}

export const textLengthMax = 500;
const urlLengthMax = 2_000;

export const textReader: MemberReader = createTextReader(textLengthMax);
/** A text that is not blank. */
export const nameReader: MemberReader = (value, fault) => {
  if (typeof value === 'string' && value.trim() === '') fault('must not be blank');
  else textReader(value, fault);
};

export function createTextReader(lengthMax: number): MemberReader {
  return (value, fault) => {
    if (typeof value !== 'string') fault('must be a text');
    else if (value.length > lengthMax) fault(`must have at most ${lengthMax} characters`, '', { maxLength: lengthMax });
  };
}

export function createNumberReader(min: number, max: number): MemberReader {
  const numberRange = allowedRange(min, max);
  return (value, fault) => {
    if (typeof value !== 'number' || value < min || value > max) fault(`must be from ${min} to ${max}`, '', numberRange);
    else if (!Number.isInteger(value)) fault(`must be a whole number from ${min} to ${max}`, '', numberRange);
  };
}

export function createListReader(read: MemberReader, countMax: number): MemberReader {
  return (value, fault) => {
    if (!Array.isArray(value)) return fault('must be an array');
    if (value.length > countMax) fault(`must have at most ${countMax} items`, '', { maxItems: countMax });
    for (const [index, item] of value.slice(0, countMax).entries()) {
      read(item, (message, path = '', allowedValues) => fault(message, `[${index}]${path}`, allowedValues));
    }
  };
}

/** A text of at most 500 characters. */
export function textMember(words: Words, read: MemberReader = textReader): TextMember {
  return { form: 'text', read, ...words };
}

/** An http or https address of at most 2,000 characters. */
export function addressMember(words: Words): TextMember {
  return { form: 'text', read: readUrl, isAddress: true, ...words };
}

export function flagMember(words: Words, defaultValue?: boolean): FlagMember {
  return { form: 'flag', read: readFlag, ...words, ...(defaultValue === undefined ? {} : { default: defaultValue }) };
}

/** @param words  the input is told the bounds too. */
export function numberMember(bounds: NumberBounds, { input, ...words }: Words & { readonly input: string }): NumberMember {
  const { min, max, default: fallback } = bounds;
  const range = `${min.toLocaleString('en')} to ${max.toLocaleString('en')}. Default ${fallback.toLocaleString('en')}.`;
  return { form: 'number', bounds, read: createNumberReader(min, max), input: `${input}: ${range}`, ...words };
}

export function choiceMember(values: ChoiceValues, words: Words): ChoiceMember {
  return { form: 'choice', values, read: createChoiceReader(Object.keys(values.values)), ...words };
}

export function choicesMember(values: ChoiceValues, words: Words): ChoiceMember {
  const names = Object.keys(values.values);
  return { form: 'choices', values, read: createListReader(createChoiceReader(names), names.length), ...words };
}

/** The caller's own connection of one kind. Without `isRequired` it is the newest one where the caller names none. */
export function accountMember(provider: OauthProvider, words: Pick<Words, 'isRequired'> = { isRequired: true }): AccountMember {
  const newest = words.isRequired === undefined ? ' Default: the newest one.' : '';
  const input = `The caller's own connection of the kind ${provider}.${newest}`;
  return { form: 'account', provider, read: textReader, graphName: 'connectionId', input, ...words };
}

function createChoiceReader(values: readonly string[]): MemberReader {
  return (value, fault) => {
    if (typeof value !== 'string' || !values.includes(value)) fault(`must be one of ${values.join(', ')}`, '', { enum: values });
  };
}

function readFlag(value: unknown, fault: AddFault): void {
  if (typeof value !== 'boolean') fault('must be true or false');
}

function readUrl(value: unknown, fault: AddFault): void {
  const url = typeof value === 'string' && value.length <= urlLengthMax ? URL.parse(value) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    fault(`must be an http or https address of at most ${urlLengthMax} characters`);
  }
}
