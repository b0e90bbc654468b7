import type { ClaimedQuestion, FinishedQuestion } from '../../../storage/conversations/evaluation/experiments.ts';

/** Answers and requests for questions wait so long for others, so that one statement serves them all. */
const gatherMs = 3;

export interface ExchangeTerms {
  /** Writes answers and claims up to `count` questions, in one statement. */
  readonly send: (answers: readonly FinishedQuestion[], count: number) => Promise<readonly ClaimedQuestion[]>;
  /** Whether questions are being asked: their answers may be waited for. */
  readonly isAsking: () => boolean;
}

/**
 * Hands the questions of one experiment out and takes the answers. Those that come within a few milliseconds share a statement; one statement is under way at
 * a time. A question is claimed only for somebody who asks it at once, so that a process that is killed leaves no claimed question that it has not begun.
 */
export class QuestionExchange {
  readonly #terms: ExchangeTerms;
  #answers: FinishedQuestion[] = [];
  #requests: PromiseWithResolvers<ClaimedQuestion | undefined>[] = [];
  #sending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isScheduled = false;
  /** Why the last statement failed: nothing more is claimed. */
  #failure: { readonly reason: unknown } | undefined;

  constructor(terms: ExchangeTerms) {
    this.#terms = terms;
  }

  /** @returns undefined when none is left. @throws what the database says, also of an earlier statement. */
  next(): Promise<ClaimedQuestion | undefined> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.reason);
    const request = Promise.withResolvers<ClaimedQuestion | undefined>();
    this.#requests.push(request);
    this.#schedule();
    return request.promise;
  }

  /** The answer is written soon, at the latest by `close`. */
  finish(answer: FinishedQuestion): void {
    this.#answers.push(answer);
    this.#schedule();
  }

  /** Writes what is left. @throws what the database says. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#sending;
    if (this.#answers.length > 0) await this.#terms.send(this.#answers.splice(0), 0);
  }

  /** After the current turn: whoever gives an answer asks for the next question in the same turn. */
  #schedule(): void {
    if (this.#isScheduled || this.#sending !== undefined) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (!this.#terms.isAsking()) this.#send();
      else this.#timer ??= setTimeout(() => this.#send(), gatherMs);
    });
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#sending !== undefined || this.#answers.length + this.#requests.length === 0) return;
    this.#sending = this.#exchange().finally(() => {
      this.#sending = undefined;
      if (this.#failure === undefined && this.#answers.length + this.#requests.length > 0) this.#schedule();
    });
  }

  async #exchange(): Promise<void> {
    const answers = this.#answers.splice(0);
    const requests = this.#requests.splice(0);
    try {
      const claimed = await this.#terms.send(answers, requests.length);
      for (const [index, request] of requests.entries()) request.resolve(claimed[index]);
    } catch (error) {
      // Written with the next answer, or by `close`, which throws when it cannot.
      this.#answers.unshift(...answers);
      this.#failure = { reason: error };
      for (const request of [...requests, ...this.#requests.splice(0)]) request.reject(error);
    }
  }
}
