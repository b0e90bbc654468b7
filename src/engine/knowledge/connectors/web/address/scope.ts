import { createHash } from 'node:crypto';
import { BoundedMap } from '../../../../../lib/bounded-map.ts';
import { SourceError } from '../../error.ts';
import type { WebConfiguration } from '../configuration.ts';
import { type DocumentKind, isUnwantedByName } from '../page/kind.ts';
import { globPrefix, globTest } from './glob.ts';

const rememberedMax = 20_000;

type ScopeConfiguration = Pick<
  WebConfiguration,
  'url' | 'includeUrlGlobs' | 'excludeUrlGlobs' | 'includeFiles' | 'includedFileTypes'
>;

/** Which addresses a source covers. */
export interface Scope {
  includes(address: string): boolean;
  /** Counts another origin like that of the source: where the site itself moved to. */
  addOrigin(origin: string): void;
  readonly origins: readonly string[];
  /** Pages, and the types of files that were chosen. */
  readonly wanted: ReadonlySet<DocumentKind>;
  /** Changes with the configuration. */
  readonly key: string;
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
  const decide = (address: string) =>
    !isUnwantedByName(address, wanted) && !isExcluded(address) && (isIncluded(address) || (!narrows && isBelow(address)));
  const remembered = new BoundedMap<string, boolean>(rememberedMax);
  return {
    includes(address) {
      const known = remembered.get(address);
      if (known !== undefined) return known;
      const answer = decide(address);
      remembered.set(address, answer);
      return answer;
    },
    addOrigin(origin) {
      origins.add(origin);
      remembered.deleteWhere((answer) => !answer);
    },
    wanted,
    get origins() {
      return [...origins];
    },
    key: createHash('sha256')
      .update(JSON.stringify([1, url, includeUrlGlobs, excludeUrlGlobs, [...wanted]]))
      .digest('base64url')
      .slice(0, 11),
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
