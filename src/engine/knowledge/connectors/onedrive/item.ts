import { isObject, membersOf, readString } from '../../../../lib/json/json.ts';
import type { ListedItem } from '../connector.ts';
import type { DriveEntry } from '../drives/drive.ts';
import { unfitReason } from '../drives/fit.ts';
import { SourceError } from '../error.ts';

/** A drive item, as Microsoft Graph describes it. */
export interface DriveItem {
  readonly id: string;
  readonly name: string;
  readonly parentId: string | undefined;
  /** The drive that it lies in. */
  readonly driveId: string | undefined;
  readonly isRoot: boolean;
  readonly isFolder: boolean;
  /** A notebook, or another thing that is a folder of parts and opens as one. */
  readonly isPackage: boolean;
  readonly isDeleted: boolean;
  readonly isMalware: boolean;
  readonly mimeType: string;
  readonly sizeBytes: number | null;
  readonly url: string | null;
  readonly changeKey: string | null;
  /** What it stands for in another drive. */
  readonly remote: { readonly id: string; readonly driveId: string } | undefined;
  /** Names and ids of the folders above it: `/drives/x/root:/Reports`. */
  readonly path: string | undefined;
}

/** @throws SourceError BAD_REPLY for something without an id. */
export function readItem(value: unknown): DriveItem {
  const members = membersOf(value);
  const { id, size, file, folder, package: pack, deleted, root, malware } = members;
  if (typeof id !== 'string' || id === '') throw new SourceError('BAD_REPLY', 'OneDrive answered with an item that has no id.');
  const parent = membersOf(members.parentReference);
  const remote = membersOf(members.remoteItem);
  const remoteId = readString(remote.id);
  const remoteDrive = readString(membersOf(remote.parentReference).driveId);
  const { quickXorHash } = membersOf(membersOf(file).hashes);
  return {
    id,
    name: readString(members.name) ?? id,
    parentId: readString(parent.id),
    driveId: readString(parent.driveId),
    isRoot: isObject(root),
    isFolder: isObject(folder) || isObject(root),
    isPackage: isObject(pack),
    isDeleted: isObject(deleted),
    isMalware: isObject(malware),
    mimeType: readString(membersOf(file).mimeType) ?? 'application/octet-stream',
    sizeBytes: typeof size === 'number' ? size : null,
    url: readString(members.webUrl) ?? null,
    // The key of the content; the others where a drive has none.
    changeKey: readString(members.cTag) ?? readString(quickXorHash) ?? readString(members.eTag) ?? null,
    remote: remoteId === undefined || remoteDrive === undefined ? undefined : { id: remoteId, driveId: remoteDrive },
    path: readString(parent.path),
  };
}

/**
 * @param drive  the drive that was asked; undefined: the one that the source names.
 * @param bytesMax  larger files are not read.
 */
export function toEntry(item: DriveItem, drive: string | undefined, bytesMax: number): DriveEntry {
  const { id, name, parentId, isDeleted, isFolder, isPackage, remote } = item;
  return {
    ...{ id, name, drive, isGone: isDeleted, isHome: item.isRoot && drive === undefined },
    parents: parentId === undefined ? [] : [parentId],
    kind: remote !== undefined ? 'shortcut' : isFolder && !isPackage ? 'folder' : 'file',
    target: remote === undefined ? undefined : { id: remote.id, drive: remote.driveId },
    listed: (parentUniqueId) => listedItem(item, drive, parentUniqueId, bytesMax),
  };
}

function listedItem(item: DriveItem, drive: string | undefined, parentUniqueId: string | null, bytesMax: number): ListedItem {
  const { id, name, url, changeKey, mimeType, sizeBytes } = item;
  const skipNotice = skipReason(item, bytesMax);
  return {
    ...{ uniqueId: id, parentUniqueId, name, url, changeKey, filename: name, mimeType, sizeBytes },
    ...(drive === undefined ? {} : { metadata: { driveId: drive } }),
    ...(skipNotice === undefined ? {} : { skipped: skipNotice }),
  };
}

function skipReason({ isPackage, isMalware, name, mimeType, sizeBytes }: DriveItem, bytesMax: number): ListedItem['skipped'] {
  if (isPackage)
    return { code: 'UNSUPPORTED', message: 'The item is a notebook or a package, which OneDrive does not give as a file.' };
  if (isMalware) return { code: 'FORBIDDEN', message: 'OneDrive holds the file for harmful and does not let it be downloaded.' };
  return unfitReason({ filename: name, mimeType, sizeBytes }, bytesMax);
}
