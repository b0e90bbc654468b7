/** A check that would take more work than one may. The message ends a sentence: "the answer …". */
export class CheckLimitError extends Error {
  override readonly name = 'CheckLimitError';
}

/** Steps of one check: a schema held against a value, or a character looked at. */
const stepsMax = 3_000_000;
/** Values nested in values, and schemas applied within schemas, on the way to one place. */
export const depthMax = 400;

/** What one check may still do. */
export interface Budget {
  /** @throws CheckLimitError when it is used up. */
  spend(steps: number): void;
  /** The same text for equal values, whatever the order of their members. */
  canonical(value: unknown): string;
}

export function createBudget(): Budget {
  let remainingSteps = stepsMax;
  const spend = (steps: number) => {
    remainingSteps -= steps;
    if (remainingSteps < 0) throw new CheckLimitError('takes too much work to be checked against its schema');
  };
  const write = (value: unknown, depth: number): string => {
    spend(1);
    if (depth > depthMax) throw new CheckLimitError(`is nested too deep to be checked: ${depthMax} levels at most`);
    if (typeof value !== 'object' || value === null) {
      const text = JSON.stringify(value) ?? 'null';
      spend(text.length);
      return text;
    }
    if (Array.isArray(value)) return `[${value.map((item) => write(item, depth + 1)).join(',')}]`;
    const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
    return `{${members.map(([name, member]) => `${write(name, depth)}:${write(member, depth + 1)}`).join(',')}}`;
  };
  return { spend, canonical: (value) => write(value, 0) };
}
