import { DomainError } from '../../../../entities/ground/errors.ts';
import { decodeFrame, encodeFrame, splitParts } from '../../../../lib/frame.ts';
import { type Box, type BoxLimits, runInBox } from './run-in-box.ts';

export interface WorkspaceFile {
  /** Relative to `/workspace`, with `/` between its parts. */
  readonly path: string;
  readonly bytes: Buffer;
}

export interface Program {
  readonly kind: 'python' | 'shell';
  readonly source: string;
  readonly files: readonly WorkspaceFile[];
  /** Variables of Python, as the box wrote them after an earlier program. Only the box reads them. */
  readonly variables: Buffer;
  /** Variables of the shell after an earlier program. */
  readonly environment: Readonly<Record<string, string>>;
  /** The folder of the shell after an earlier program. */
  readonly folder: string;
}

export interface ProgramLimits extends BoxLimits {
  /** Bytes of the files that one program may write or change, together. */
  readonly filesMaxBytes: number;
  /** Files that one program may write or change. */
  readonly filesMax: number;
  readonly fileMaxBytes: number;
  readonly stateMaxBytes: number;
}

export interface ProgramOutcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  /** Files that the program wrote or changed. */
  readonly files: readonly WorkspaceFile[];
  /** Paths of given files that are gone. */
  readonly removed: readonly string[];
  /** Sentences about what was not kept. */
  readonly notes: readonly string[];
  readonly variables: Buffer;
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
}

/** Room for what was printed and the names of files, beside the bytes of files and variables. */
const headerMaxBytes = 2_000_000;
const pathLengthMax = 400;

/**
 * Runs one program in a box of its own.
 *
 * @throws DomainError when it exceeds its time, memory or output; the signal's reason.
 */
export async function runProgram(
  box: Box,
  program: Program,
  limits: ProgramLimits,
  signal: AbortSignal,
): Promise<ProgramOutcome> {
  const { files, variables, ...rest } = program;
  const header = {
    ...rest,
    files: files.map(({ path, bytes }) => ({ path, sizeBytes: bytes.length })),
    variablesBytes: variables.length,
    limits,
  };
  const input = encodeFrame(header, [...files.map(({ bytes }) => bytes), variables]);
  const outputMaxBytes = headerMaxBytes + limits.filesMaxBytes + limits.stateMaxBytes;
  const output = await runInBox(box, input, { ...limits, outputMaxBytes }, signal);
  try {
    return readOutcome(output, limits);
  } catch {
    throw new DomainError('INVALID_VALUE', 'The program ended without an answer: it may have taken too much memory');
  }
}

/** The box has run foreign code, so its answer is checked like foreign data. */
function readOutcome(output: Buffer, { filesMax, stateMaxBytes }: ProgramLimits): ProgramOutcome {
  const { header, body } = decodeFrame(output);
  const describedFiles = toList(header.files).map((file) => file as { readonly path: unknown; readonly sizeBytes: unknown });
  const variablesBytes = Number(header.variablesBytes ?? 0);
  if (describedFiles.length > filesMax || variablesBytes > stateMaxBytes) throw new Error('more than it may answer');
  const parts = splitParts(body, [...describedFiles.map(({ sizeBytes }) => Number(sizeBytes)), variablesBytes]);
  const files = describedFiles.map(({ path }, index) => ({ path: readPath(path), bytes: parts[index] ?? Buffer.alloc(0) }));
  const environment = Object.entries(header.environment ?? {}).filter(([, value]) => typeof value === 'string');
  return {
    stdout: String(header.stdout),
    stderr: String(header.stderr),
    exitCode: Number(header.exitCode),
    files,
    removed: toList(header.removed).map(String),
    notes: toList(header.notes).map((note) => String(note).slice(0, 2_000)),
    variables: parts.at(-1) ?? Buffer.alloc(0),
    environment: Object.fromEntries(environment) as Record<string, string>,
    folder: typeof header.folder === 'string' ? header.folder : '/workspace',
  };
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function readPath(value: unknown): string {
  const isPlain = typeof value === 'string' && value.length <= pathLengthMax && !value.startsWith('/');
  if (!isPlain || value.split('/').some((part) => part === '' || part === '.' || part === '..'))
    throw new Error('an unsafe path');
  return value;
}
