import { crawlBounds } from '../../../../entities/knowledge/data-source.ts';
import type { SourceKind } from '../kind.ts';
import {
  type AddFault,
  addressMember,
  choicesMember,
  createListReader,
  flagMember,
  nameReader,
  numberMember,
  type TextsMember,
} from '../members.ts';
import { createWebConnector } from './web.ts';

const globsMax = 100;
const wildcardsMax = 20;

export const webKind: SourceKind = {
  type: 'WEB_URL',
  noun: 'WebUrl',
  description: 'A web site.',
  content: 'A web site, read from one address on.',
  choiceDescription: 'A web site.',
  members: {
    url: addressMember({
      input: 'Where reading begins: an http or https address.',
      setting: 'Where reading begins.',
      isRequired: true,
      isEssential: true,
    }),
    includeFiles: flagMember({
      input: 'Whether files are taken as well as pages.',
      setting: 'Whether files are taken as well as pages.',
      isRequired: true,
    }),
    includedFileTypes: choicesMember(
      {
        name: 'WebUrlFileType',
        description: 'Files that a web source may take besides pages.',
        values: {
          TEXT: 'Plain text.',
          CSV: 'Tables with separators.',
          PDF: 'PDF documents.',
          MARKDOWN: 'Markdown.',
          DOC: 'Documents of word processors.',
          XLS: 'Spreadsheets.',
        },
      },
      {
        input: 'Which files, where files are taken.',
        setting: 'Which files, where files are taken.',
        isRequired: true,
      },
    ),
    includeUrlGlobs: globs(
      'Patterns on whole addresses, of which one must fit: `https://example.com/docs/**`. At most 100. Default: the site of `url`.',
      'Patterns on whole addresses, of which one must fit; at most 100. Empty: the site of `url`.',
    ),
    excludeUrlGlobs: globs(
      'Patterns of addresses left out; they win. At most 100.',
      'Patterns of addresses left out; at most 100.',
    ),
    maxPages: numberMember(crawlBounds.maxPages, { input: 'Most pages fetched', setting: 'Most pages fetched.' }),
    maxMemory: numberMember(crawlBounds.maxMemory, {
      graphName: 'maxMemoryMb',
      input: 'Most memory for what is being read, in MB',
      setting: 'Most memory for what is being read, in MB.',
    }),
    timeout: numberMember(crawlBounds.timeout, {
      graphName: 'timeoutSeconds',
      input: 'Most time for one reading of the site, in seconds',
      setting: 'Most time for one reading of the site, in seconds.',
    }),
  },
  isPeriodRequired: true,
  sourceName({ url }) {
    const { host, pathname } = new URL(String(url));
    return `${host}${pathname === '/' ? '' : pathname}`;
  },
  open: createWebConnector,
  route: {
    path: 'web-url',
    summary: 'Add web URL source',
    description: 'A web site, read from one address on.',
    isInContract: true,
    example: {
      url: 'https://example.com/docs',
      dataRefreshPeriod: 'WEEKLY',
      includeFiles: true,
      includedFileTypes: ['PDF', 'MARKDOWN'],
      includeUrlGlobs: ['https://example.com/docs/**'],
      excludeUrlGlobs: ['**/old/**'],
      maxPages: 200,
      maxMemory: 1_024,
      timeout: 3_600,
    },
  },
};

function globs(input: string, setting: string): TextsMember {
  return { form: 'texts', read: createListReader(readGlob, globsMax), input, setting, default: [] };
}

/** A pattern for whole addresses: `*` within a segment, `**` across segments, `?`, `[…]`, `{a,b}`. */
function readGlob(value: unknown, fault: AddFault): void {
  nameReader(value, fault);
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
