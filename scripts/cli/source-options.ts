import { basename, matchesGlob } from 'node:path';
import { crawlBounds as bounds, refreshPeriods, webUrlFileTypes } from '../../src/entities/knowledge/data-source.ts';
import type { CommandContext, CommandOption } from './commands/command.ts';
import { misused } from './failure.ts';

type Bound = keyof typeof bounds;
const boundMeanings: Readonly<Record<Bound, string>> = {
  maxPages: 'Most pages of a site',
  maxMemory: 'Most memory for reading a site, in MB',
  timeout: 'Most time for reading a site, in seconds',
};
const boundNames = Object.keys(boundMeanings) as Bound[];
const fileTypes = webUrlFileTypes.map((type) => type.toLowerCase());

/** What `sources add` takes for files and addresses. Patterns that hold commas in braces are not cut at them. */
export const sourceOptions: readonly CommandOption[] = [
  {
    name: 'include',
    value: 'pattern,…',
    isList: true,
    meaning: 'Only files of a folder whose name or path fits (*.md), only addresses that fit (https://example.com/docs/**).',
  },
  { name: 'exclude', value: 'pattern,…', isList: true, meaning: 'Not what fits one of these; they win.' },
  {
    name: 'files',
    value: `all|none|${fileTypes.join(',')}`,
    isList: true,
    meaning: 'Files of a site beside its pages. Default: none, or all for an address that ends like a file (.pdf).',
  },
  ...boundNames.map((name) => ({
    name,
    value: 'number',
    meaning: `${boundMeanings[name]}: ${bounds[name].min} to ${bounds[name].max}. Default ${bounds[name].default}.`,
  })),
  { name: 'refresh', value: refreshPeriods.join('|'), meaning: 'How often a site is read again. Default NEVER.' },
];

/** Options that say nothing about files of a folder. */
const forAddresses: readonly string[] = ['files', ...boundNames, 'refresh'];

const looksLikeFile = /\.(?:pdf|docx?|odt|xlsx?|xlsb|ods|csv|tsv|tab|txt|text|log|rst|adoc|mdx?|markdown|mkd)$/i;

export interface SourceChoice {
  /** Whether a file of a folder is taken; its path is relative to the folder. */
  takes(path: string): boolean;
  /** The body of the request that adds an address. */
  webUrl(url: string): Readonly<Record<string, unknown>>;
}

/** @throws Failure for values that are not allowed, and for options that would have no effect. */
export function readSourceChoice(
  options: CommandContext['options'],
  given: { readonly hasAddresses: boolean; readonly hasFolders: boolean },
): SourceChoice {
  const surplus = forAddresses.filter((name) => options.has(name));
  if (!given.hasAddresses && surplus.length > 0)
    throw misused(`--${surplus.join(', --')} is about addresses, and none is given.`);
  const include = patternsOf(options.get('include'));
  const exclude = patternsOf(options.get('exclude'));
  if (!given.hasAddresses && !given.hasFolders && include.length + exclude.length > 0)
    throw misused('--include and --exclude are about folders and addresses, and only files are given.');
  const numbers = boundNames.flatMap((name) => {
    const text = options.get(name);
    return text === undefined ? [] : [[name, boundOf(name, text)] as const];
  });
  const chosen = fileTypesOf(options.get('files'));
  const dataRefreshPeriod = refreshOf(options.get('refresh'));
  return {
    takes: (path) =>
      (include.length === 0 || include.some((pattern) => fits(path, pattern))) && !exclude.some((pattern) => fits(path, pattern)),
    webUrl(url) {
      const includedFileTypes = chosen ?? (looksLikeFile.test(new URL(url).pathname) ? webUrlFileTypes : []);
      return {
        ...{ url, dataRefreshPeriod, includedFileTypes, includeFiles: includedFileTypes.length > 0 },
        ...Object.fromEntries(numbers),
        ...(include.length === 0 ? {} : { includeUrlGlobs: include }),
        ...(exclude.length === 0 ? {} : { excludeUrlGlobs: exclude }),
      };
    },
  };
}

/** A pattern without a slash is about the name of the file alone. */
function fits(path: string, pattern: string): boolean {
  return matchesGlob(pattern.includes('/') ? path : basename(path), pattern);
}

function patternsOf(text: string | undefined): readonly string[] {
  return (text?.match(/(?:\{[^}]*\}|[^,])+/g) ?? []).map((pattern) => pattern.trim()).filter((pattern) => pattern !== '');
}

function boundOf(name: Bound, text: string): number {
  const { min, max } = bounds[name];
  const number = Number(text);
  if (!Number.isInteger(number) || number < min || number > max)
    throw misused(`--${name} must be a whole number from ${min} to ${max}, not "${text}".`);
  return number;
}

function fileTypesOf(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined;
  if (text === 'all') return webUrlFileTypes;
  if (text === 'none') return [];
  return text.split(',').map((part) => {
    const type = webUrlFileTypes.find((one) => one === part.trim().toUpperCase());
    if (type === undefined) throw misused(`--files must be all, none, or some of ${fileTypes.join(', ')}, not "${part.trim()}".`);
    return type;
  });
}

function refreshOf(text: string | undefined): string {
  const period = refreshPeriods.find((one) => one === (text ?? 'NEVER').toUpperCase());
  if (period === undefined) throw misused(`--refresh must be one of ${refreshPeriods.join(', ')}, not "${text}".`);
  return period;
}
