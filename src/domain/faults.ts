import { DomainError, type ErrorCode, type Fault } from '../entities/errors.ts';

/** More faults than this help nobody, and a hostile body must not make a long reply. */
const faultsMax = 20;

/** Gathers what is wrong with an input, so that one reply can name every fault. */
export class Faults {
  readonly #faults: Fault[] = [];

  /** @param param  the member as the caller wrote it: `options.temperature[1]`. */
  add(param: string, message: string, code: ErrorCode = 'INVALID_VALUE'): void {
    if (this.#faults.length < faultsMax) this.#faults.push({ code, message, param });
  }

  requireLength(param: string, text: string, max: number): void {
    if (text.length > max) this.add(param, `${param} must have at most ${max} characters`);
  }

  /** Refuses text that shows nothing, or too much. */
  requireName(param: string, text: string, max: number): void {
    if (text.trim() === '') this.add(param, `${param} must not be blank`);
    else this.requireLength(param, text, max);
  }

  requireCount(param: string, items: readonly unknown[], max: number): void {
    if (items.length > max) this.add(param, `${param} must have at most ${max} items`);
  }

  /** @throws DomainError the first fault, with all of them in its detail; nothing when there are none. */
  throwIfAny(): void {
    const [first] = this.#faults;
    if (first !== undefined) throw new DomainError(first.code, first.message, { param: first.param, faults: this.#faults });
  }
}
