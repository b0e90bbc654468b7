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
  /** The site itself redirects its start to this address: its origin counts like that of the source, and its folder is what the source covers. */
  moveTo(address: string): void;
  /** The same for what was learned before, in another process or an earlier part of the run. */
  restore(facts: Pick<ScopeFacts, 'origins' | 'folder'>): void;
  readonly origins: readonly string[];
  /** Pages, and the types of files that were chosen. */
  readonly wanted: ReadonlySet<DocumentKind>;
  /** Changes with the configuration and the origins. */
  readonly key: string;
  /** What makes the same scope in another process. */
  readonly facts: ScopeFacts;
}

export interface ScopeFacts {
  readonly configuration: ScopeConfiguration;
  /** Besides that of the source. */
  readonly origins: readonly string[];
  /** What the source covers, as a path that ends with a slash. */
  readonly folder: string;
}

/**
 * Without include patterns: the origin of `url` and what is below its path, up to the last slash. Where the site redirects `url` to an address outside
 * of that folder, or `url` names no folder (`/docs`, and not `/docs/`), the folder is that of the address where this ends. Include patterns that lie below `url` choose
 * among those; when all patterns lie elsewhere, they add to them. Exclude patterns win.
 *
 * @throws SourceError CONFIGURATION for a pattern that cannot be read.
 */
export function createScope(configuration: ScopeConfiguration): Scope {
  const { url, includeUrlGlobs, excludeUrlGlobs, includeFiles, includedFileTypes } = configuration;
  const wantedKinds: ReadonlySet<DocumentKind> = new Set(['PAGE', ...(includeFiles ? includedFileTypes : [])]);
  const start = new URL(url);
  const startFolder = toFolder(start);
  let folder = startFolder;
  const origins = new Set([start.origin]);
  const isIncluded = readGlobs('includeUrlGlobs', includeUrlGlobs);
  const isExcluded = readGlobs('excludeUrlGlobs', excludeUrlGlobs);
  const narrows = () =>
    includeUrlGlobs.some((glob) => [...origins].some((origin) => globPrefix(glob).startsWith(origin + folder)));
  let isNarrowed = narrows();
  const isBelow = (address: string) => {
    const { origin, pathname } = new URL(address);
    return origins.has(origin) && pathname.startsWith(folder);
  };
  const decide = (address: string): ScopePlace => {
    if (isExcluded(address)) return 'EXCLUDED';
    return isIncluded(address) || (!isNarrowed && isBelow(address)) ? 'INCLUDED' : 'OUTSIDE';
  };
  const placesByAddress = new BoundedMap<string, ScopePlace>(rememberedMax);
  const findPlace = (address: string): ScopePlace => {
    const knownPlace = placesByAddress.get(address);
    if (knownPlace !== undefined) return knownPlace;
    const place = decide(address);
    placesByAddress.set(address, place);
    return place;
  };
  const restore: Scope['restore'] = (facts) => {
    for (const origin of facts.origins) origins.add(origin);
    ({ folder } = facts);
    isNarrowed = narrows();
    placesByAddress.deleteWhere(() => true);
  };
  return {
    placeOf: findPlace,
    includes: (address) => findPlace(address) === 'INCLUDED',
    moveTo(address) {
      const end = new URL(address);
      const isWithin = start.pathname.endsWith('/') && end.pathname.startsWith(startFolder);
      restore({ origins: [end.origin], folder: isWithin ? startFolder : toFolder(end) });
    },
    restore,
    get facts() {
      return {
        configuration: { url, includeUrlGlobs, excludeUrlGlobs, includeFiles, includedFileTypes },
        origins: [...origins].slice(1),
        folder,
      };
    },
    wanted: wantedKinds,
    get origins() {
      return [...origins];
    },
    get key() {
      const [, ...others] = origins;
      const facts = [
        1,
        url,
        includeUrlGlobs,
        excludeUrlGlobs,
        [...wantedKinds],
        ...(others.length === 0 ? [] : [others]),
        ...(folder === startFolder ? [] : [folder]),
      ];
      return createHash('sha256').update(JSON.stringify(facts)).digest('base64url').slice(0, 11);
    },
  };
}

function toFolder({ pathname }: URL): string {
  return pathname.slice(0, pathname.lastIndexOf('/') + 1);
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
