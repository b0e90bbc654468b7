import { useEffect } from 'react';
import type { MorePages } from '../../../graphql/hooks.ts';
import type { AuditRowFragment } from './documents.ts';

/** An entry, or several of one person who only looked: what was looked at fills no page. */
export interface AuditGroup {
  readonly id: string;
  /** Newest first. */
  readonly entries: readonly AuditRowFragment[];
}

/** Puts entries together that follow each other and say that one person, or one key, read something. */
export function foldReads(entries: readonly AuditRowFragment[]): readonly AuditGroup[] {
  const groups: { readonly id: string; readonly entries: AuditRowFragment[] }[] = [];
  for (const entry of entries) {
    const last = groups.at(-1);
    const before = last?.entries.at(-1);
    if (last !== undefined && before !== undefined && isRead(entry) && isRead(before) && getReader(entry) === getReader(before))
      last.entries.push(entry);
    else groups.push({ id: entry.id, entries: [entry] });
  }
  return groups;
}

const isRead = ({ kind, outcome }: AuditRowFragment) => kind === 'READ' && outcome === 'SUCCEEDED';
const getReader = ({ actorUserId, key }: AuditRowFragment) => `${actorUserId} ${key?.id ?? ''}`;

const groupsMin = 15;
const entriesMax = 500;

/** Loads further pages while reads leave little else to be seen. */
export function useFilledPage(pages: MorePages<AuditRowFragment>, groupCount: number): void {
  const { nodes, hasMore, isLoadingMore, error, loadMore } = pages;
  const isShort = nodes.length > 0 && groupCount < groupsMin && nodes.length < entriesMax && error === undefined;
  useEffect(() => {
    if (isShort && hasMore && !isLoadingMore) loadMore();
  }, [isShort, hasMore, isLoadingMore, loadMore]);
}
