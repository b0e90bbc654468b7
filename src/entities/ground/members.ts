/** The members of listed things that are needed: others may be left out of the result and need not be read. Undefined: all members. */
export type Members<T> = ReadonlySet<string & keyof T> | undefined;

export function reads<T>(members: Members<T>, ...names: readonly (string & keyof T)[]): boolean {
  return members === undefined || names.some((name) => members.has(name));
}
