import { DomainError, type ErrorCode, type Fault } from '../entities/errors.ts';

/** Limits the length of the reply, whatever the body contains. */
const faultsMax = 20;

/** Collects what is wrong with an input, so that one reply can name every fault. */
export class Faults {
  readonly #found: Fault[] = [];
  /** Told only beside other faults. */
  readonly #beside: Fault[] = [];
  /** The member that is being read, for `addHere`: a reader of the input pushes a member before it reads it and pops it afterwards. */
  readonly path: (string | number)[] = [];

  get found(): readonly Fault[] {
    return this.#found;
  }

  get isFull(): boolean {
    return this.#found.length >= faultsMax;
  }

  /** @param param  the member as the caller wrote it: `options.temperature[1]`. */
  add(param: string, message: string, code: ErrorCode = 'INVALID_VALUE'): void {
    if (!this.isFull) this.#found.push({ code, message, param });
  }

  /** Adds a fault at `path`. @param message  called only when the fault is kept; '' is the whole body. */
  addHere(code: ErrorCode, message: (path: string) => string): undefined {
    if (this.isFull) return;
    const path = pathText(this.path);
    this.add(path, message(path === '' ? 'The body' : path), code);
  }

  /**
   * Adds a fault at `path` that a later check tells better. It is told only where other faults keep that check from being made.
   *
   * @param message  as for `addHere`.
   */
  addHereBesideOthers(code: ErrorCode, message: (path: string) => string): void {
    const path = pathText(this.path);
    if (this.#beside.length < faultsMax) this.#beside.push({ code, message: message(path), param: path });
  }

  requireLength(param: string, text: string, max: number): void {
    if (text.length > max) this.add(param, `${param} must have at most ${max} characters`);
  }

  /** Refuses blank text, and text that is too long. */
  requireName(param: string, text: string, max: number): void {
    if (text.trim() === '') this.add(param, `${param} must not be blank`);
    else this.requireLength(param, text, max);
  }

  requireCount(param: string, items: readonly unknown[], max: number): void {
    if (items.length > max) this.add(param, `${param} must have at most ${max} items`);
  }

  /** @throws DomainError the first fault, with all of them in its detail; nothing when there are none. */
  throwIfAny(): void {
    const [first] = this.#found;
    if (first === undefined) return;
    const faults = [...this.#found, ...this.#beside].slice(0, faultsMax);
    throw new DomainError(first.code, first.message, { param: first.param, faults });
  }
}

/** `messages[2].content` */
function pathText(path: readonly (string | number)[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += text === '' ? part : `.${part}`;
  }
  return text;
}
