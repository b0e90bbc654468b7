import { readString } from '../../../../lib/json/json.ts';
import type { SyncedSource } from '../connector.ts';
import { SourceError } from '../error.ts';

/** The part of the wiki that a source reads. */
export type WikiScope =
  | { readonly kind: 'page' | 'folder'; readonly id: string }
  | { readonly kind: 'space'; readonly id: string }
  | { readonly kind: 'allSpaces' };

export interface WikiConfig {
  readonly scope: WikiScope;
  readonly hasChildPages: boolean;
  readonly hasAttachments: boolean;
  readonly hasDriveFiles: boolean;
  readonly hasArchived: boolean;
  /** The id of the connection that reads linked files of a drive. */
  readonly driveAccount: string | undefined;
}

/** @throws SourceError CONFIGURATION, UNSUPPORTED. */
export function readWikiConfig({ data }: Pick<SyncedSource, 'data'>): WikiConfig {
  return {
    scope: readScope(data),
    hasChildPages: data.indexChildPages === true,
    hasAttachments: data.indexAttachments === true,
    hasDriveFiles: data.indexDriveFiles === true,
    hasArchived: data.archive === true,
    driveAccount: filled(data.selectedDriveAccount),
  };
}

/** Kinds of content that Confluence gives no text of, or that are no pages. */
const unread: ReadonlySet<string> = new Set(['whiteboard', 'database', 'embed', 'blogpost']);

/** All spaces go before a page, and a page before the space that it lies in: pickers send both. */
function readScope(data: SyncedSource['data']): WikiScope {
  const pageId = filled(data.pageId);
  const spaceId = filled(data.spaceId);
  const contentType = filled(data.contentType)?.toLowerCase();
  if (data.allSpaces === true) return { kind: 'allSpaces' };
  if (contentType !== undefined && unread.has(contentType)) {
    throw new SourceError(
      'UNSUPPORTED',
      `Confluence content of the type ${contentType} is not read: choose a page, a folder or a space.`,
    );
  }
  if (contentType === 'space') {
    const id = spaceId ?? pageId;
    if (id !== undefined) return { kind: 'space', id };
  }
  if (pageId !== undefined) return { kind: contentType === 'folder' ? 'folder' : 'page', id: pageId };
  if (spaceId !== undefined) return { kind: 'space', id: spaceId };
  throw new SourceError(
    'CONFIGURATION',
    'The source names no page and no space: add it again with pageId, with spaceId, or with allSpaces.',
  );
}

function filled(value: unknown): string | undefined {
  const text = readString(value)?.trim();
  return text === '' ? undefined : text;
}
