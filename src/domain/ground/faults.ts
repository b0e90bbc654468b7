import { type Allowed, allowedRange, DomainError, type ErrorCode, type Fault } from '../../entities/ground/errors.ts';

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

  /**
   * @param param  the member as the caller wrote it: `options.temperature[1]`.
   * @param allowed  what the member must fit. `requireLength` and the checks beside it fill it in.
   */
  add(param: string, message: string, code: ErrorCode = 'INVALID_VALUE', allowedValues?: Allowed): void {
    if (!this.isFull) this.#found.push(createFault(code, message, param, allowedValues));
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
    if (text.length > max) this.#refuse(param, `must have at most ${max} characters`, { maxLength: max });
  }

  /** Refuses blank text, and text that is too long. */
  requireName(param: string, text: string, max: number): void {
    if (text.trim() === '') this.#refuse(param, 'must not be blank', { minLength: 1, maxLength: max });
    else this.requireLength(param, text, max);
  }

  requireCount(param: string, items: readonly unknown[], max: number): void {
    if (items.length > max) this.#refuse(param, `must have at most ${max} items`, { maxItems: max });
  }

  /** @param noun  what it must be: `a whole number`. Without it only the range is named. */
  requireRange(param: string, value: number, { min, max, isWhole = false }: Range, noun?: string): void {
    if (value >= min && value <= max && (!isWhole || Number.isInteger(value))) return;
    this.#refuse(param, `must be ${noun === undefined ? '' : `${noun} `}from ${min} to ${max}`, allowedRange(min, max, isWhole));
  }

  /** @returns the value, as one of those that are allowed; undefined with a fault. */
  requireOneOf<const Value extends string>(param: string, value: unknown, values: readonly Value[]): Value | undefined {
    const match = values.find((one) => one === value);
    if (match === undefined) this.#refuse(param, `must be one of ${values.join(', ')}`, { enum: values });
    return match;
  }

  #refuse(param: string, rule: string, allowedValues: Allowed): void {
    this.add(param, `${param} ${rule}`, 'INVALID_VALUE', allowedValues);
  }

  /** @throws DomainError the first fault, with all of them in its detail; nothing when there are none. */
  throwIfAny(): void {
    const [first] = this.#found;
    if (first === undefined) return;
    const faults = [...this.#found, ...this.#beside].slice(0, faultsMax);
    throw new DomainError(first.code, first.message, { param: first.param, faults });
  }
}

/** The bounds of a number, both included. */
export interface Range {
  readonly min: number;
  readonly max: number;
  readonly isWhole?: boolean;
}

function createFault(code: ErrorCode, message: string, param: string, allowedValues: Allowed | undefined): Fault {
  return allowedValues === undefined ? { code, message, param } : { code, message, param, allowed: allowedValues };
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
