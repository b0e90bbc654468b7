import type {
  CaseContent,
  CaseFile,
  CaseMessage,
  RecordedCall,
  WantedCall,
} from '../../../entities/conversations/evaluation/dataset.ts';
import { caseRoles } from '../../../entities/conversations/evaluation/dataset.ts';
import { isObject, type JsonObject, parseJson } from '../../../lib/json/json.ts';
import { storableJson, storableText } from '../../../lib/text/text.ts';
import { type JsonBounds, readJsonObject } from '../../agents/parts/json.ts';
import type { Faults } from '../../ground/faults.ts';

/** Bounds of a case. */
export const caseBounds = {
  questionMax: 20_000,
  messagesMax: 100,
  messageMax: 20_000,
  filesMax: 10,
  fileMax: 100_000,
  expectedMax: 20_000,
  factsMax: 50,
  factMax: 1_000,
  callsMax: 50,
  outputMax: 50_000,
  rubricMax: 4_000,
  tagsMax: 10,
  tagMax: 50,
  weightMax: 1_000,
  inputsMax: 100,
  bytesMax: 500_000,
} as const;
/** Of arguments and values of user inputs. */
const objectBounds: JsonBounds = { bytesMax: caseBounds.bytesMax, depthMax: 32 };

/** The members of a case as JSONL, CSV and GraphQL name them. */
export const caseMembers = [
  'question',
  'messages',
  'userInputs',
  'files',
  'expected',
  'mustContain',
  'mustNotContain',
  'mustCite',
  'mustCall',
  'mustNotCall',
  'mustRefuse',
  'rubric',
  'recordedCalls',
  'tags',
  'weight',
  'isDraft',
] as const;
export type CaseMember = (typeof caseMembers)[number];

/** A case that was read. */
export interface CaseValues {
  readonly content: CaseContent;
  readonly tags: readonly string[];
  readonly weight: number;
  readonly isDraft: boolean;
}

/**
 * Reads one case, noting every fault. Absent and null members ask nothing.
 *
 * @param path  of the case in its input: `cases[0]`, `line 3`; '' for none.
 */
export function readCase(value: unknown, path: string, faults: Faults): CaseValues {
  const reader = new CaseReader(path, faults);
  const input = isObject(value) ? value : {};
  if (!isObject(value)) reader.refuse('', 'must be an object');
  const unknownNames = Object.keys(input).filter((name) => !caseMembers.some((member) => member === name));
  for (const name of unknownNames) reader.refuse(name, `is no member of a case: it has ${caseMembers.join(', ')}`);
  const content: CaseContent = {
    question: reader.question(input.question),
    messages: reader.list('messages', input.messages, caseBounds.messagesMax, readMessage),
    userInputs: reader.plainValues('userInputs', input.userInputs),
    files: reader.list('files', input.files, caseBounds.filesMax, readFile),
    expected: reader.text('expected', input.expected, caseBounds.expectedMax),
    mustContain: reader.facts('mustContain', input.mustContain),
    mustNotContain: reader.facts('mustNotContain', input.mustNotContain),
    mustCite: reader.facts('mustCite', input.mustCite),
    mustCall: reader.list('mustCall', input.mustCall, caseBounds.callsMax, readWantedCall),
    mustNotCall: reader.facts('mustNotCall', input.mustNotCall),
    mustRefuse: reader.flag('mustRefuse', input.mustRefuse),
    rubric: reader.text('rubric', input.rubric, caseBounds.rubricMax),
    recordedCalls: reader.list('recordedCalls', input.recordedCalls, caseBounds.callsMax, readRecordedCall),
  };
  if (JSON.stringify(content).length > caseBounds.bytesMax)
    reader.refuse('', `must have at most ${caseBounds.bytesMax} characters in all`);
  return {
    content,
    tags: [...new Set(reader.facts('tags', input.tags, caseBounds.tagsMax, caseBounds.tagMax))],
    weight: reader.weight(input.weight),
    isDraft: reader.flag('isDraft', input.isDraft) ?? false,
  };
}

type ItemReader<Item> = (reader: CaseReader, name: string, value: JsonObject) => Item;

const readMessage: ItemReader<CaseMessage> = (reader, name, { role, content }) => ({
  role: reader.oneOf(`${name}.role`, role, caseRoles) ?? 'user',
  content: reader.required(`${name}.content`, content, caseBounds.messageMax),
});
const readFile: ItemReader<CaseFile> = (reader, name, { filename, text }) => ({
  filename: reader.required(`${name}.filename`, filename, caseBounds.factMax),
  text: reader.required(`${name}.text`, text, caseBounds.fileMax),
});
const readWantedCall: ItemReader<WantedCall> = (reader, name, value) => ({
  name: reader.required(`${name}.name`, value.name, caseBounds.factMax),
  arguments: reader.object(`${name}.arguments`, value.arguments),
});
const readRecordedCall: ItemReader<RecordedCall> = (reader, name, value) => ({
  name: reader.required(`${name}.name`, value.name, caseBounds.factMax),
  arguments: reader.text(`${name}.arguments`, value.arguments, caseBounds.outputMax) ?? '{}',
  output: reader.text(`${name}.output`, value.output, caseBounds.outputMax) ?? '',
  error: reader.text(`${name}.error`, value.error, caseBounds.factMax),
});

/** Reads the members of one case. */
class CaseReader {
  readonly #path: string;
  readonly #faults: Faults;

  constructor(path: string, faults: Faults) {
    this.#path = path;
    this.#faults = faults;
  }

  refuse(name: string, rule: string): void {
    const param = this.#paramOf(name);
    this.#faults.add(param, `${param} ${rule}`);
  }

  #paramOf(name: string): string {
    return [this.#path, name].filter((part) => part !== '').join('.');
  }

  question(value: unknown): string {
    const param = this.#path === '' ? 'question' : `${this.#path}.question`;
    if (value === undefined || value === null) {
      this.#faults.add(param, `${param} is required`, 'MISSING_REQUIRED_PARAMETER');
      return '';
    }
    return this.required('question', value, caseBounds.questionMax);
  }

  text(name: string, value: unknown, max: number): string | null {
    if (value === undefined || value === null) return null;
    if (typeof value === 'string' && value.length <= max) return storableText(value);
    this.refuse(name, `must be a text of at most ${max} characters`);
    return null;
  }

  required(name: string, value: unknown, max: number): string {
    if (typeof value === 'string' && value.trim() !== '' && value.length <= max) return storableText(value);
    this.refuse(name, `must be a text of 1 to ${max} characters`);
    return '';
  }

  flag(name: string, value: unknown): boolean | null {
    if (typeof value === 'boolean') return value;
    if (value !== undefined && value !== null) this.refuse(name, 'must be true or false');
    return null;
  }

  weight(value: unknown): number {
    if (value === undefined || value === null) return 1;
    if (typeof value === 'number' && value > 0 && value <= caseBounds.weightMax) return value;
    this.refuse('weight', `must be a number above 0 and up to ${caseBounds.weightMax}`);
    return 1;
  }

  oneOf<const Value extends string>(name: string, value: unknown, values: readonly Value[]): Value | undefined {
    const match = values.find((one) => one === value);
    if (match === undefined) this.refuse(name, `must be one of ${values.join(', ')}`);
    return match;
  }

  /** An object, or its JSON text. */
  object(name: string, value: unknown): JsonObject | null {
    if (value === undefined || value === null) return null;
    const parsed = typeof value === 'string' ? parseJson(value) : value;
    return storableJson(readJsonObject(this.#paramOf(name), parsed, this.#faults, objectBounds)) as JsonObject;
  }

  /** Values of user inputs by name, as chats take them. Those that are null are left out. */
  plainValues(name: string, value: unknown): JsonObject {
    const entries = Object.entries(this.object(name, value) ?? {}).filter(([, one]) => one !== null);
    if (entries.length > caseBounds.inputsMax) this.refuse(name, `must have at most ${caseBounds.inputsMax} members`);
    for (const [key, one] of entries.slice(0, caseBounds.inputsMax))
      if (!['string', 'number', 'boolean'].includes(typeof one))
        this.refuse(`${name}.${key}`, 'must be a text, a number, true or false');
    return Object.fromEntries(entries);
  }

  facts(name: string, value: unknown, most: number = caseBounds.factsMax, max: number = caseBounds.factMax): readonly string[] {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value) || value.length > most) {
      this.refuse(name, `must be a list of at most ${most} texts`);
      return [];
    }
    return value.map((text: unknown, index) => this.required(`${name}[${index}]`, text, max).trim());
  }

  list<Item>(name: string, value: unknown, most: number, read: ItemReader<Item>): readonly Item[] {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value) || value.length > most) {
      this.refuse(name, `must be a list of at most ${most} objects`);
      return [];
    }
    return value.flatMap((item: unknown, index) => {
      if (isObject(item)) return [read(this, `${name}[${index}]`, item)];
      this.refuse(`${name}[${index}]`, 'must be an object');
      return [];
    });
  }
}
