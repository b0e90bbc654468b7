import type { OutputFile } from '../../../entities/conversations/runs/tool.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { freeFilename } from '../../files/filename.ts';
import type { RunFile } from '../run-files.ts';
import type { ToolRun } from '../tool-kind.ts';
import type { ProgramOutcome, WorkspaceFile } from './box/program.ts';
import type { CodeState, StateFile } from './states.ts';

export interface WorkspaceLimits {
  readonly filesMaxBytes: number;
  readonly fileMaxBytes: number;
  readonly stateMaxBytes: number;
}

/** `/workspace` as a program finds it. */
export interface Workspace {
  readonly files: readonly WorkspaceFile[];
  /** The chat file of each path that has one. */
  readonly ids: ReadonlyMap<string, string>;
  readonly notes: readonly string[];
}

/** Files kept for the next program that are in no chat; their number is bounded as their bytes are. */
const keptFilesMax = 200;

/**
 * Lays out `/workspace`: what earlier programs left, and the files of the chat under their names. A chat file that a person deleted is gone here
 * too. The newest files come first when not all fit.
 *
 * @param call  this call: files that it saved before its process died are not among its input.
 */
export async function openWorkspace(
  run: ToolRun,
  before: CodeState | undefined,
  call: string,
  { filesMaxBytes, fileMaxBytes }: WorkspaceLimits,
  signal: AbortSignal,
): Promise<Workspace> {
  const listedFiles = (await run.files.list(signal)).filter(({ madeBy }) => madeBy !== call);
  const byId = new Map(listedFiles.map((file) => [file.id, file]));
  const hiddenIds = new Set(before?.hidden);
  const takenPaths = new Set<string>();
  const wantedFiles: { readonly path: string; readonly file: RunFile }[] = [];
  const files: WorkspaceFile[] = [];
  for (const { path, fileId, bytes } of before?.files ?? []) {
    const file = fileId === null ? undefined : byId.get(fileId);
    if (fileId !== null && file === undefined) continue;
    takenPaths.add(path);
    if (file === undefined) files.push({ path, bytes });
    else wantedFiles.push({ path, file });
    if (fileId !== null) byId.delete(fileId);
  }
  for (const file of byId.values()) {
    if (hiddenIds.has(file.id)) continue;
    const path = freeFilename(file.filename, takenPaths);
    takenPaths.add(path);
    wantedFiles.push({ path, file });
  }
  const ids = new Map<string, string>();
  const leftPaths: string[] = [];
  let sizeBytes = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
  for (const { path, file } of wantedFiles.toReversed()) {
    if (file.sizeBytes > fileMaxBytes || sizeBytes + file.sizeBytes > filesMaxBytes) {
      leftPaths.push(path);
      continue;
    }
    sizeBytes += file.sizeBytes;
    files.push({ path, bytes: await run.files.read(file, fileMaxBytes, signal) });
    ids.set(path, file.id);
  }
  const notes =
    leftPaths.length === 0 ? [] : [`Not in /workspace, which holds ${filesMaxBytes} bytes at most: ${joinNames(leftPaths)}.`];
  return { files, ids, notes };
}

export interface Closing {
  readonly saved: readonly OutputFile[];
  readonly kept: readonly StateFile[];
  readonly hidden: readonly string[];
  readonly notes: readonly string[];
}

/**
 * Saves what a program wrote or changed as files of the chat, each once for the call. A changed file becomes a new file; the one before stays in
 * the chat. Names that begin with a dot are kept for the next program only.
 */
export async function closeWorkspace(
  run: ToolRun,
  workspace: Workspace,
  { files: outcomeFiles, removed: removedPaths }: ProgramOutcome,
  before: CodeState | undefined,
  call: string,
  { stateMaxBytes }: WorkspaceLimits,
  signal: AbortSignal,
): Promise<Closing> {
  const notes: string[] = [];
  const savedFiles: OutputFile[] = [];
  const keptFiles = new Map<string, StateFile>();
  const hiddenIds = new Set(before?.hidden);
  const knownFiles = new Map(workspace.files.map((file) => [file.path, file]));
  for (const path of removedPaths) knownFiles.delete(path);
  for (const [path, { bytes }] of knownFiles) {
    const fileId = workspace.ids.get(path) ?? null;
    keptFiles.set(path, { path, fileId, bytes: fileId === null ? bytes : Buffer.alloc(0) });
  }
  const names = new Set<string>();
  for (const { path, bytes } of outcomeFiles) {
    keptFiles.delete(path);
    const isHidden = path.split('/').some((part) => part.startsWith('.'));
    const file = isHidden ? undefined : await save(path, bytes);
    if (file !== undefined) savedFiles.push(file);
    // The files of a stateless run are known by their names.
    const fileId = file === undefined ? null : (file.fileId ?? file.filename);
    keptFiles.set(path, { path, fileId, bytes: fileId === null ? bytes : Buffer.alloc(0) });
  }
  for (const [path, id] of workspace.ids) if (keptFiles.get(path)?.fileId !== id) hiddenIds.add(id);
  return { saved: savedFiles, kept: bounded(), hidden: [...hiddenIds].slice(-1_000), notes };

  async function save(path: string, bytes: Buffer): Promise<OutputFile | undefined> {
    const filename = freeFilename(path, names);
    names.add(filename);
    try {
      return await run.files.save({ filename, mimeType: detectMimeType(filename, bytes), bytes }, call, signal);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      notes.push(`${JSON.stringify(path)} is no file of the chat: ${error.message}.`);
      return undefined;
    }
  }

  function bounded(): readonly StateFile[] {
    let sizeBytes = 0;
    let count = 0;
    const lostPaths: string[] = [];
    const within = [...keptFiles.values()].filter(({ path, fileId, bytes }) => {
      if (fileId !== null) return true;
      if (sizeBytes + bytes.length > stateMaxBytes || count >= keptFilesMax) {
        lostPaths.push(path);
        return false;
      }
      sizeBytes += bytes.length;
      count += 1;
      return true;
    });
    if (lostPaths.length > 0) notes.push(`Not kept for the next call: ${joinNames(lostPaths)}.`);
    return within;
  }
}

function joinNames(paths: readonly string[]): string {
  const shownPaths = paths.slice(0, 20).map((path) => JSON.stringify(path));
  return `${shownPaths.join(', ')}${paths.length > shownPaths.length ? ` and ${paths.length - shownPaths.length} more` : ''}`;
}

const byEnding: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  gif: 'image/gif',
  htm: 'text/html',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  md: 'text/markdown',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  tsv: 'text/tab-separated-values',
  txt: 'text/plain',
  webp: 'image/webp',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml',
  zip: 'application/zip',
};
/** Pictures begin with these bytes (Latin-1). Other bytes are no picture, whatever the name says. */
const signs: Readonly<Record<string, (start: string) => boolean>> = {
  'image/png': (start) => start.startsWith('\x89PNG'),
  'image/jpeg': (start) => start.startsWith('\xff\xd8\xff'),
  'image/gif': (start) => start.startsWith('GIF8'),
  'image/webp': (start) => start.startsWith('RIFF') && start.startsWith('WEBP', 8),
  'image/svg+xml': (start) => /<svg[\s>]/.test(start),
};
const signBytes = 1_024;

/** The type of a file that a program wrote: by its name, and for pictures by their bytes too. */
function detectMimeType(filename: string, bytes: Buffer): string {
  const ending = /\.([a-z0-9]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? '';
  const type = Object.hasOwn(byEnding, ending) ? byEnding[ending] : undefined;
  const sign = type === undefined ? undefined : signs[type];
  const isRight = sign?.(bytes.subarray(0, signBytes).toString('latin1')) ?? true;
  return type !== undefined && isRight ? type : 'application/octet-stream';
}
