import type { ErrorCode, Fault } from '../entities/errors.ts';

/** More faults than this help nobody, and a hostile body must not make a long reply. */
const faultsMax = 20;

/** What is wrong with one request, gathered while it is read. `path` is where the reader stands. */
export class Faults {
  readonly found: Fault[] = [];
  readonly path: (string | number)[] = [];

  get isFull(): boolean {
    return this.found.length >= faultsMax;
  }
}

/** Notes a fault at the place where the reader stands. The message is made only now, from the path as the caller writes it. */
export function addFault(faults: Faults, code: ErrorCode, message: (path: string) => string): undefined {
  if (faults.isFull) return undefined;
  const path = pathText(faults.path);
  faults.found.push({ code, message: message(path === '' ? 'The body' : path), param: path });
  return undefined;
}

/** `messages[2].content` */
export function pathText(path: readonly (string | number)[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += text === '' ? part : `.${part}`;
  }
  return text;
}
