import { createRequire } from 'node:module';
import { dirname, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DomainError } from '../../../entities/ground/errors.ts';
import { decodeFrame, encodeFrame } from '../../../lib/frame.ts';
import { type BoxLimits, runInBox } from '../code/box/run-in-box.ts';
import type { WorkbookAnswer, WorkbookRequest } from './request.ts';

export interface WorkbookLimits extends BoxLimits {
  readonly fileMaxBytes: number;
}

const answerMaxBytes = 8_000_000;
const entry = fileURLToPath(new URL('./process/child.ts', import.meta.url));

/**
 * Works on a workbook in a process of its own, which may open its own code only and has an empty environment and no network: foreign bytes are
 * never parsed in this process.
 *
 * @throws DomainError for what the model can correct, and when time or memory run out; the signal's reason.
 *
 * Cost: 0.2 s and about 100 MB for one call.
 */
export async function workOnWorkbook(
  request: WorkbookRequest,
  bytes: Buffer,
  limits: WorkbookLimits,
  signal: AbortSignal,
): Promise<{ readonly answer: WorkbookAnswer; readonly bytes: Buffer }> {
  const outputMaxBytes = limits.fileMaxBytes + answerMaxBytes;
  const box = { command: process.execPath, args: processArgs(), isOneProcess: true } as const;
  const output = await runInBox(box, encodeFrame(request, [bytes]), { ...limits, outputMaxBytes }, signal);
  let decodedFrame: ReturnType<typeof decodeFrame>;
  try {
    decodedFrame = decodeFrame(output);
  } catch {
    throw new DomainError('INVALID_VALUE', 'The workbook cannot be worked with: it may take too much memory');
  }
  const answer = decodedFrame.header as WorkbookAnswer;
  if (typeof answer.error === 'string') throw new DomainError('INVALID_VALUE', answer.error);
  return { answer, bytes: decodedFrame.body };
}

function processArgs(): readonly string[] {
  const resolvedPath = createRequire(import.meta.url).resolve('csv-parse');
  const packages = resolvedPath.slice(0, resolvedPath.lastIndexOf(`${sep}node_modules${sep}`));
  const own = fileURLToPath(new URL('../../../..', import.meta.url)).replace(/[\\/]$/, '');
  const readable = [...new Set([packages, own])].flatMap((root) => [`${root}/node_modules/*`, `${root}/package.json`]);
  const lib = fileURLToPath(new URL('../../../lib/*', import.meta.url));
  const paths = [`${dirname(dirname(entry))}/*`, lib, ...readable];
  return [
    '--permission',
    ...paths.map((path) => `--allow-fs-read=${path}`),
    ...['--disallow-code-generation-from-strings', '--no-warnings', '--max-old-space-size=256', entry],
  ];
}
