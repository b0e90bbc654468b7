import { createContextCache } from '@pothos/core';
import type { GraphContext } from './context.ts';

/** Root fields of one query that are resolved at a time: more than the pages of a front end have, so that these begin at once. */
const atOnceMax = 6;

/** The fields of one operation: what one of them does before it waits for the database holds up everybody, so fifty do not begin together. */
class FieldTurns {
  readonly #waiting: (() => void)[] = [];
  #underWay = 0;

  run(context: GraphContext, work: () => unknown): unknown {
    if (this.#underWay >= atOnceMax) return this.#wait(context, work);
    this.#underWay += 1;
    return this.#perform(work);
  }

  async #wait({ signal }: GraphContext, work: () => unknown): Promise<unknown> {
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.#perform(() => {
      // Nobody reads the reply any more.
      signal.throwIfAborted();
      return work();
    });
  }

  #perform(work: () => unknown): unknown {
    let result: unknown;
    try {
      result = work();
    } catch (error) {
      this.#end();
      throw error;
    }
    if (result instanceof Promise) return result.finally(() => this.#end());
    this.#end();
    return result;
  }

  #end(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#underWay -= 1;
    else next();
  }
}

const turnsOf = createContextCache((_context: GraphContext) => new FieldTurns());

/** Resolves a root field of a query when few others of its operation are under way. */
export function inFieldTurn(context: GraphContext, work: () => unknown): unknown {
  return turnsOf(context).run(context, work);
}
