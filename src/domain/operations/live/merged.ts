/**
 * Yields what several generators yield, as it comes, until all are over. An error of one ends all. A generator that waits when the reader leaves ends by
 * the signal that it was made with.
 */
export async function* merged<T>(sources: readonly AsyncGenerator<T, void, void>[]): AsyncGenerator<T, void, void> {
  const waiting = new Map(sources.map((source) => [source, next(source)]));
  try {
    while (waiting.size > 0) {
      const { source, result } = await Promise.race(waiting.values());
      if (result.done === true) waiting.delete(source);
      else {
        waiting.set(source, next(source));
        yield result.value;
      }
    }
  } finally {
    // Nobody reads what still comes, nor an error that comes with it.
    for (const [source, pending] of waiting) {
      pending.catch(() => undefined);
      source.return().catch(() => undefined);
    }
  }
}

interface Next<T> {
  readonly source: AsyncGenerator<T, void, void>;
  readonly result: IteratorResult<T, void>;
}

async function next<T>(source: AsyncGenerator<T, void, void>): Promise<Next<T>> {
  return { source, result: await source.next() };
}
