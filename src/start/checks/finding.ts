/** What a check found. */
export interface Finding {
  readonly check:
    | 'settings'
    | 'folder'
    | 'disk'
    | 'database'
    | 'redis'
    | 'files'
    | 'port'
    | 'models'
    | 'egress'
    | 'sign-in'
    | 'mail'
    | 'audit-sink'
    | 'search-index'
    | 'permissions';
  /** `wrong`: Parley cannot start or work like this. `warning`: it works, and somebody should look at it. */
  readonly level: 'good' | 'warning' | 'wrong';
  /** What was found, in one sentence, without secrets. */
  readonly message: string;
  /** What to do about it. */
  readonly advice?: string;
}

export function good(check: Finding['check'], message: string): Finding {
  return { check, level: 'good', message };
}

export function warning(check: Finding['check'], message: string, advice: string): Finding {
  return { check, level: 'warning', message, advice };
}

export function wrong(check: Finding['check'], message: string, advice?: string): Finding {
  return { check, level: 'wrong', message, ...(advice === undefined ? {} : { advice }) };
}

/** A finding as one text: what is wrong, and what to do. */
export function sentences({ message, advice }: Finding): string {
  return advice === undefined ? message : `${message} ${advice}`;
}

/** The code of an error, or of one that caused it. */
export function findCode(error: unknown): string | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
    if (cause instanceof AggregateError && cause.errors[0] !== undefined) return findCode(cause.errors[0]);
  }
  return undefined;
}
