/**
 * The members of listed things that somebody will read, so that nothing else is fetched for them: what is not named may be missing.
 * Undefined: every member.
 */
export type Members<T> = ReadonlySet<string & keyof T> | undefined;

export function reads<T>(members: Members<T>, ...names: readonly (string & keyof T)[]): boolean {
  return members === undefined || names.some((name) => members.has(name));
}
