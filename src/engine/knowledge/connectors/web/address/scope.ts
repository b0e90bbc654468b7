import { createHash } from 'node:crypto';
import { BoundedMap } from '../../../../../lib/bounded-map.ts';
import { SourceError } from '../../error.ts';
import type { WebConfiguration } from '../configuration.ts';
import type { DocumentKind } from '../page/kind.ts';
import { globPrefix, globTest } from './glob.ts';

const rememberedMax = 20_000;

export type ScopeConfiguration = Pick<
  WebConfiguration,
  'url' | 'includeUrlGlobs' | 'excludeUrlGlobs' | 'includeFiles' | 'includedFileTypes'
>;

/** EXCLUDED: by an exclude pattern. OUTSIDE: neither below the address of the source nor included by a pattern. */
export type ScopePlace = 'INCLUDED' | 'EXCLUDED' | 'OUTSIDE';

/** Which addresses a source covers. */
export interface Scope {
  placeOf(address: string): ScopePlace;
  includes(address: string): boolean;
  /** Counts another origin like that of the source: where the site itself moved to. */
  addOrigin(origin: string): void;
  readonly origins: readonly string[];
  /** Pages, and the types of files that were chosen. */
  readonly wanted: ReadonlySet<DocumentKind>;
  /** Changes with the configuration and the origins. */
  readonly key: string;
  /** What makes the same scope in another process. */
  readonly facts: { readonly configuration: ScopeConfiguration; readonly origins: readonly string[] };
}

/**
 * Without include patterns: the origin of `url` and what is below its path, up to the last slash. Include patterns that lie below `url` choose
 * among those; when all patterns lie elsewhere, they add to them. Exclude patterns win.
 *
 * @throws SourceError CONFIGURATION for a pattern that cannot be read.
 */
export function createScope(configuration: ScopeConfiguration): Scope {
  const { url, includeUrlGlobs, excludeUrlGlobs, includeFiles, includedFileTypes } = configuration;
  const wanted: ReadonlySet<DocumentKind> = new Set(['PAGE', ...(includeFiles ? includedFileTypes : [])]);
  const start = new URL(url);
  const folder = start.pathname.slice(0, start.pathname.lastIndexOf('/') + 1);
  const origins = new Set([start.origin]);
  const isIncluded = readGlobs('includeUrlGlobs', includeUrlGlobs);
  const isExcluded = readGlobs('excludeUrlGlobs', excludeUrlGlobs);
  const narrows = includeUrlGlobs.some((glob) => globPrefix(glob).startsWith(start.origin + folder));
  const isBelow = (address: string) => {
    const { origin, pathname } = new URL(address);
    return origins.has(origin) && pathname.startsWith(folder);
  };
  const decide = (address: string): ScopePlace => {
    if (isExcluded(address)) return 'EXCLUDED';
    return isIncluded(address) || (!narrows && isBelow(address)) ? 'INCLUDED' : 'OUTSIDE';
  };
  const remembered = new BoundedMap<string, ScopePlace>(rememberedMax);
  const placeOf = (address: string): ScopePlace => {
    const known = remembered.get(address);
    if (known !== undefined) return known;
    const place = decide(address);
    remembered.set(address, place);
    return place;
  };
  return {
    placeOf,
    includes: (address) => placeOf(address) === 'INCLUDED',
    addOrigin(origin) {
      origins.add(origin);
      remembered.deleteWhere((place) => place === 'OUTSIDE');
    },
    get facts() {
      return {
        configuration: { url, includeUrlGlobs, excludeUrlGlobs, includeFiles, includedFileTypes },
        origins: [...origins].slice(1),
      };
    },
    wanted,
    get origins() {
      return [...origins];
    },
    get key() {
      const [, ...others] = origins;
      const facts = [1, url, includeUrlGlobs, excludeUrlGlobs, [...wanted], ...(others.length === 0 ? [] : [others])];
      return createHash('sha256').update(JSON.stringify(facts)).digest('base64url').slice(0, 11);
    },
  };
}

function readGlobs(member: string, globs: readonly string[]): (address: string) => boolean {
  try {
    return globTest(globs);
  } catch {
    throw new SourceError(
      'CONFIGURATION',
      `${member} has a pattern that cannot be read. Patterns consist of *, **, ?, [a-z] and {a,b} in whole addresses.`,
    );
  }
}
