import type { Members } from '../../../entities/ground/members.ts';

/** What a selection of Prisma is made for. */
export interface Selection<T> {
  /** Members of Prisma that are selected always. */
  readonly always: ReadonlySet<string>;
  /** Members of Prisma from which members of another name are made. */
  readonly madeOf: Readonly<Record<string, readonly (string & keyof T)[]>>;
}

/** The part of a Prisma `select` that the members need. Its type is that of the whole: members that are not read are absent. */
export function selected<T, Select extends object>(all: Select, members: Members<T>, { always, madeOf }: Selection<T>): Select {
  const names: ReadonlySet<string> | undefined = members;
  const isRead = (name: string) =>
    names === undefined || always.has(name) || (madeOf[name] ?? [name]).some((column) => names.has(column));
  return Object.fromEntries(Object.entries(all).filter(([name]) => isRead(name))) as Select;
}
