import { membersOf, readElements, readString } from '../../../../lib/json/json.ts';
import { SourceError } from '../error.ts';
import { descendantsDepth, type WikiApi, type WikiPage } from './api.ts';
import type { WikiConfig } from './config.ts';

/** A part of the wiki that is still to be listed. */
interface Area {
  /** A page itself; what is below a page or a folder; all of a space. */
  readonly kind: 'page' | 'belowPage' | 'belowFolder' | 'space';
  readonly id: string;
}

/** Where a listing is. */
export interface WikiPlace {
  /** The first one is listed now. */
  readonly pending: readonly Area[];
  /** The next part of the first one. */
  readonly next?: string;
  /** The next part of the list of spaces; '' for its first. */
  readonly moreSpaces?: string;
  /** Whether something that was to be listed went away. */
  readonly isIncomplete?: true;
}

export interface WikiPart {
  readonly pages: readonly WikiPage[];
  readonly after: WikiPlace;
}

export function readPlace(value: unknown): WikiPlace | undefined {
  const { pending, next, moreSpaces, isIncomplete } = membersOf(value);
  if (!Array.isArray(pending)) return undefined;
  const areas = readElements(pending).flatMap((one): Area[] => {
    const { kind, id } = membersOf(one);
    const isKind = kind === 'page' || kind === 'belowPage' || kind === 'belowFolder' || kind === 'space';
    return isKind && typeof id === 'string' ? [{ kind, id }] : [];
  });
  return {
    pending: areas,
    ...(readString(next) === undefined ? {} : { next: String(next) }),
    ...(readString(moreSpaces) === undefined ? {} : { moreSpaces: String(moreSpaces) }),
    ...(isIncomplete === true ? { isIncomplete } : {}),
  };
}

/** @throws SourceError NOT_FOUND where the space is not there. */
export async function firstPlace(api: WikiApi, { scope, hasChildPages }: WikiConfig): Promise<WikiPlace> {
  switch (scope.kind) {
    case 'allSpaces':
      return { pending: [], moreSpaces: '' };
    case 'space':
      return { pending: [{ kind: 'space', id: (await api.space(scope.id).catch(asMissing('space'))).id }] };
    case 'folder':
      return { pending: [{ kind: 'belowFolder', id: scope.id }] };
    case 'page':
      return {
        pending: [{ kind: 'page', id: scope.id }, ...(hasChildPages ? [{ kind: 'belowPage', id: scope.id } as const] : [])],
      };
  }
}

/**
 * The next at most 100 pages.
 *
 * @returns undefined at the end. `pages` may be empty before it.
 */
export async function nextPart(api: WikiApi, config: WikiConfig, place: WikiPlace): Promise<WikiPart | undefined> {
  const [area, ...others] = place.pending;
  const { next, ...rest } = place;
  if (area !== undefined) {
    const pagePart = await loadPages(api, config, area, next).catch((error: unknown) => {
      // Of many areas, one that went away since its list was read is left out.
      if (config.scope.kind !== 'allSpaces' && area.kind !== 'belowPage') throw asMissing(describeArea(area))(error);
      if (!isHidden(error)) throw error;
      return undefined;
    });
    if (pagePart === undefined) return { pages: [], after: { ...rest, pending: others, isIncomplete: true } };
    const pending = [...(pagePart.next === undefined ? others : [area, ...others]), ...pagePart.deeper];
    return {
      pages: pagePart.pages,
      after: { ...rest, pending, ...(pagePart.next === undefined ? {} : { next: pagePart.next }) },
    };
  }
  const { moreSpaces, ...without } = rest;
  if (moreSpaces === undefined) return undefined;
  const spaces = await api.spaces(config.hasArchived, moreSpaces === '' ? undefined : moreSpaces);
  const pending = spaces.results.map(({ id }) => ({ kind: 'space', id }) as const);
  return { pages: [], after: { ...without, pending, ...(spaces.next === undefined ? {} : { moreSpaces: spaces.next }) } };
}

interface Found {
  readonly pages: readonly WikiPage[];
  readonly next?: string | undefined;
  readonly deeper: readonly Area[];
}

async function loadPages(api: WikiApi, config: WikiConfig, { kind, id }: Area, next: string | undefined): Promise<Found> {
  const statuses = toStatuses(config);
  if (kind === 'page') return { pages: [await api.page(id)], deeper: [] };
  if (kind === 'space') {
    const { results, next: more } = await api.pagesOfSpace(id, statuses, next);
    return { pages: results, next: more, deeper: [] };
  }
  const { results, next: more } = await api.descendants(kind === 'belowPage' ? 'pages' : 'folders', id, next);
  const ids = results.filter(({ type }) => type === 'page').map((page) => page.id);
  const deeper = results.flatMap(({ id: parentId, type, depth }): Area[] => {
    if (depth === null || depth < descendantsDepth) return [];
    if (type === 'page') return [{ kind: 'belowPage', id: parentId }];
    return type === 'folder' ? [{ kind: 'belowFolder', id: parentId }] : [];
  });
  // A list of descendants has neither versions nor addresses.
  return { pages: ids.length === 0 ? [] : await api.pagesById(ids, statuses), next: more, deeper };
}

/** Whether a page belongs to the source: not one in the bin or a draft, and an archived one only where the source wants them. */
export function isWanted({ status }: WikiPage, { hasArchived }: WikiConfig): boolean {
  return status === 'current' || (status === 'archived' && hasArchived);
}

function toStatuses({ hasArchived }: WikiConfig): string {
  return hasArchived ? 'current,archived' : 'current';
}

function describeArea({ kind }: Area): string {
  return kind === 'space' ? 'space' : kind === 'belowFolder' ? 'folder' : 'page';
}

/** Whether something is not there, or not for this account. */
export function isHidden(error: unknown): boolean {
  return error instanceof SourceError && (error.code === 'NOT_FOUND' || error.code === 'FORBIDDEN');
}

function asMissing(word: string): (error: unknown) => never {
  return (error) => {
    if (!isHidden(error)) throw error;
    throw new SourceError(
      'NOT_FOUND',
      `Confluence has no ${word} with this id, or hides it from the connected account. Let that account read it, or remove this source.`,
    );
  };
}
