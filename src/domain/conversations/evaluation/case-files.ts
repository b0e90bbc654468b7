import type { CaseFormat, Dataset, DatasetCase } from '../../../entities/conversations/evaluation/dataset.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { parseJson } from '../../../lib/json/json.ts';
import { readCsv, writeCsvLine } from '../../../lib/text/csv.ts';
import { cutText } from '../../../lib/text/text.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../../ground/faults.ts';
import { type CaseMember, type CaseValues, caseMembers, readCase } from './case-input.ts';
import { changeCases, toNewCase, tooManyCases } from './cases.ts';
import { datasetBounds, getDataset, noteCases, requireRevision } from './datasets.ts';

export interface CaseImport {
  readonly format: CaseFormat;
  readonly content: string;
  /** Takes the cases out that are there. */
  readonly replaces?: boolean | null | undefined;
}

export interface CaseExport {
  readonly filename: string;
  readonly contentType: string;
  content(): Promise<string>;
}

/**
 * Adds the cases of a file: all of them, or none where a line has a fault.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN; INVALID_VALUE naming lines and members; CONFLICT for more than 10,000 cases.
 */
export async function importCases(
  deps: Deps,
  caller: Caller,
  datasetId: string,
  { format, content, replaces }: CaseImport,
): Promise<Dataset> {
  const dataset = await getDataset(deps, caller, datasetId);
  const values = readCaseFile(format, content);
  const added = values.map((value) => toNewCase(deps, value));
  return changeCases(deps, caller, dataset, { added, ...(replaces === true ? { removed: 'all' } : {}) });
}

/** The cases of a revision as a file, which `importCases` reads. @throws DomainError NOT_FOUND, FORBIDDEN, INVALID_VALUE. */
export async function exportCases(
  deps: Deps,
  caller: Caller,
  datasetId: string,
  format: CaseFormat,
  revision?: number | null,
): Promise<CaseExport> {
  const dataset = await getDataset(deps, caller, datasetId);
  const query = { datasetId, revision: requireRevision(dataset, revision) };
  return {
    filename: `${dataset.name.replace(/[^\p{L}\p{N} ._-]/gu, '_')}.${format.toLowerCase()}`,
    contentType: format === 'CSV' ? 'text/csv; charset=utf-8' : 'application/jsonl; charset=utf-8',
    async content() {
      const lines = format === 'CSV' ? [caseMembers.join(',')] : [];
      for await (const cases of deps.storage.conversations.datasets.readCases(query)) {
        noteCases(deps, caller, cases);
        lines.push(...cases.map((one) => (format === 'CSV' ? csvLine(one) : JSON.stringify(toMembers(one)))));
      }
      return lines.map((line) => `${line}\n`).join('');
    },
  };
}

/** Reads a file of cases. @throws DomainError INVALID_VALUE naming lines and members; CONFLICT for more than 10,000 cases. */
export function readCaseFile(format: CaseFormat, content: string): readonly CaseValues[] {
  const text = content.replace(/^\uFEFF/, '');
  const rows = format === 'CSV' ? readCsvRows(text) : readJsonRows(text);
  if (rows.length > datasetBounds.casesMax) throw tooManyCases(rows.length);
  const faults = new Faults();
  if (rows.length === 0) faults.add('content', 'content has no case', 'EMPTY_ARRAY');
  const values: CaseValues[] = [];
  for (const { line, value, fault } of rows) {
    if (faults.isFull) break;
    if (fault !== undefined) faults.add(`line ${line}`, `line ${line} ${fault}`);
    else values.push(readCase(value, `line ${line}`, faults));
  }
  try {
    faults.throwIfAny();
  } catch (error) {
    throw error instanceof DomainError ? inContent(error) : error;
  }
  return values;
}

/** The lines stand in the messages: the member of the request is the content. */
function inContent({ code, message, detail }: DomainError): DomainError {
  const faults = detail.faults?.map((fault) => ({ ...fault, param: 'content' }));
  return new DomainError(code, message, { param: 'content', ...(faults === undefined ? {} : { faults }) });
}

interface CaseRow {
  /** From 1. */
  readonly line: number;
  readonly value?: unknown;
  readonly fault?: string;
}

function readJsonRows(text: string): readonly CaseRow[] {
  return text.split('\n').flatMap((source, index): readonly CaseRow[] => {
    if (source.trim() === '') return [];
    const value = parseJson(source);
    return [value === undefined ? { line: index + 1, fault: 'is not JSON' } : { line: index + 1, value }];
  });
}

function readCsvRows(text: string): readonly CaseRow[] {
  const rows = readCsv(text);
  if (rows === undefined)
    throw new DomainError('INVALID_VALUE', 'content is no CSV: a quotation mark is not closed', { param: 'content' });
  const [head, ...body] = rows;
  const names = (head?.cells ?? []).map((name) => name.trim());
  const twice = names.find((name, index) => name !== '' && names.indexOf(name) < index);
  if (twice !== undefined) {
    const message = `content names the column ${cutText(twice, 100)} twice`;
    throw new DomainError('INVALID_VALUE', message, { param: 'content' });
  }
  return body.map(({ line, cells }) => {
    if (cells.length > names.length)
      return { line, fault: `has ${cells.length} cells, and the first line names ${names.length}` };
    const members = cells.flatMap((cell, index) => {
      const name = names[index] ?? '';
      return cell === '' ? [] : [[name, readCell(name, cell)] as const];
    });
    return { line, value: Object.fromEntries(members) };
  });
}

const listMembers: readonly string[] = [
  'mustContain',
  'mustNotContain',
  'mustCite',
  'mustNotCall',
  'tags',
] satisfies CaseMember[];
const jsonMembers: readonly string[] = [
  'messages',
  'userInputs',
  'files',
  'mustCall',
  'recordedCalls',
  'mustRefuse',
  'weight',
  'isDraft',
] satisfies CaseMember[];

/** A cell of lists holds JSON, or one text a line; one of other members JSON. */
function readCell(name: string, cell: string): unknown {
  if (jsonMembers.includes(name))
    return parseJson(cell.toLowerCase() === 'true' ? 'true' : cell.toLowerCase() === 'false' ? 'false' : cell) ?? cell;
  if (!listMembers.includes(name)) return cell;
  const value = cell.trimStart().startsWith('[') ? parseJson(cell) : undefined;
  return (
    value ??
    cell
      .split('\n')
      .map((text) => text.trim())
      .filter((text) => text !== '')
  );
}

/** The members of a case that ask something, as a line of a file has them. */
export function toMembers({ content, tags, weight, isDraft }: DatasetCase): Readonly<Partial<Record<CaseMember, unknown>>> {
  const all: Readonly<Record<CaseMember, unknown>> = {
    ...content,
    tags,
    weight: weight === 1 ? null : weight,
    isDraft: isDraft ? true : null,
  };
  return Object.fromEntries(caseMembers.flatMap((name) => (isBlank(all[name]) ? [] : [[name, all[name]]])));
}

function isBlank(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function csvLine(one: DatasetCase): string {
  const members = toMembers(one);
  return writeCsvLine(caseMembers.map((name) => members[name]));
}
