import { membersOf, readString, readStrings } from '../../../../lib/json/json.ts';
import type { ListedItem } from '../connector.ts';
import type { DriveEntry } from '../drives/drive.ts';
import { unfitReason } from '../drives/fit.ts';
import { SourceError } from '../error.ts';
import { findExport, isNative, nameOfNative } from './native.ts';

/** A file, folder or shortcut, as Drive v3 describes it. */
export interface DriveFile {
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  readonly parents: readonly string[];
  /** The shared drive that it lies in. */
  readonly driveId: string | undefined;
  readonly isTrashed: boolean;
  readonly modifiedTime: string | undefined;
  readonly version: string | undefined;
  readonly md5Checksum: string | undefined;
  readonly headRevisionId: string | undefined;
  readonly sizeBytes: number | null;
  readonly url: string | null;
  readonly targetId: string | undefined;
  readonly canDownload: boolean;
}

/** The members that are asked for. */
export const fileFields =
  'id,name,mimeType,parents,driveId,trashed,modifiedTime,version,md5Checksum,headRevisionId,size,webViewLink,shortcutDetails(targetId,targetMimeType),capabilities(canDownload)';

const folderType = 'application/vnd.google-apps.folder';
const shortcutType = 'application/vnd.google-apps.shortcut';

/** @throws SourceError BAD_REPLY for something without an id. */
export function readFile(value: unknown): DriveFile {
  const fileMembers = membersOf(value);
  const id = readString(fileMembers.id);
  if (id === undefined || id === '') throw new SourceError('BAD_REPLY', 'Google Drive answered with a file that has no id.');
  const size = Number(fileMembers.size ?? Number.NaN);
  return {
    id,
    name: readString(fileMembers.name) ?? id,
    mimeType: readString(fileMembers.mimeType) ?? 'application/octet-stream',
    parents: readStrings(fileMembers.parents),
    driveId: readString(fileMembers.driveId),
    isTrashed: fileMembers.trashed === true,
    modifiedTime: readString(fileMembers.modifiedTime),
    version: readString(fileMembers.version),
    md5Checksum: readString(fileMembers.md5Checksum),
    headRevisionId: readString(fileMembers.headRevisionId),
    sizeBytes: Number.isSafeInteger(size) ? size : null,
    url: readString(fileMembers.webViewLink) ?? null,
    targetId: readString(membersOf(fileMembers.shortcutDetails).targetId),
    canDownload: membersOf(fileMembers.capabilities).canDownload !== false,
  };
}

function listedFile(file: DriveFile, parentUniqueId: string | null, bytesMax: number): ListedItem {
  const { id, name, mimeType, sizeBytes, url } = file;
  const common = { uniqueId: id, parentUniqueId, name, url, changeKey: changeKey(file) };
  const skipNotice = skipReason(file, bytesMax);
  const why = skipNotice === undefined ? {} : { skipped: skipNotice };
  const native = findExport(mimeType);
  // After it was read, an item has the type of its bytes: only the metadata say that it is exported.
  if (native !== undefined) {
    const filename = `${name}${native.ending}`;
    return { ...common, filename, mimeType: native.mimeType, sizeBytes: null, metadata: { nativeType: mimeType }, ...why };
  }
  return { ...common, filename: name, mimeType, sizeBytes, ...why };
}

/** @param bytesMax  larger files are not read. */
export function toEntry(file: DriveFile, bytesMax: number): DriveEntry {
  const { id, name, parents, driveId, mimeType, isTrashed, targetId } = file;
  return {
    ...{ id, name, parents, drive: driveId, isGone: isTrashed, isHome: false },
    kind: mimeType === folderType ? 'folder' : mimeType === shortcutType ? 'shortcut' : 'file',
    target: targetId === undefined ? undefined : { id: targetId, drive: undefined },
    listed: (parentUniqueId) => listedFile(file, parentUniqueId, bytesMax),
  };
}

/** Content has a checksum or a revision. What Google keeps in forms of its own has neither: its version grows with every change. */
function changeKey({ mimeType, md5Checksum, headRevisionId, modifiedTime = '', version = '' }: DriveFile): string | null {
  if (!isNative(mimeType)) {
    const key = md5Checksum ?? headRevisionId;
    if (key !== undefined) return key;
  }
  return modifiedTime === '' && version === '' ? null : `${modifiedTime} ${version}`;
}

function skipReason(file: DriveFile, bytesMax: number): ListedItem['skipped'] {
  const { mimeType, canDownload, name, sizeBytes } = file;
  if (isNative(mimeType) && findExport(mimeType) === undefined) {
    return { code: 'UNSUPPORTED', message: `The file is ${nameOfNative(mimeType)}, which Google does not give as text.` };
  }
  if (!canDownload) {
    return { code: 'FORBIDDEN', message: 'Its owner does not let the connected account download the file.' };
  }
  return isNative(mimeType) ? undefined : unfitReason({ filename: name, mimeType, sizeBytes }, bytesMax);
}
