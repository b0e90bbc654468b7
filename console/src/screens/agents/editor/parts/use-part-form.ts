import type { ParleyError } from '@parley/client';
import { useState } from 'react';
import { readableError } from '../../../../graphql/client.ts';
import { changeDraft, findAuthors } from '../../../../parts/drafts/change.ts';
import {
  changedFields,
  keepMine,
  type Merge,
  mergeTheirs,
  type NameOf,
  startMerge,
  takeTheirs,
} from '../../../../parts/drafts/merge.ts';

/** The draft as it is read for a form: its revision, and the part that the form changes. */
export interface PartReading<Item> {
  readonly revision: number;
  /** Undefined: it is not there, or not yet. */
  readonly item: Item | undefined;
}

interface Options<Values extends object, Item, Reading extends PartReading<Item>> {
  readonly agentId: string;
  /** What the person saw when the form was opened; without an item it makes a new part. */
  readonly seen: PartReading<Item>;
  readonly toValues: (item: Item | undefined) => Values;
  /** The draft as it is now. */
  readonly read: () => Promise<Reading>;
  /** Saves the values. `reading.item` is undefined for a part that is to be made. */
  readonly send: (values: Values, reading: Reading) => Promise<unknown>;
  /** The name of the part in the draft, such as `skills.Write an offer`. */
  readonly member: (item: Item) => string;
}

export interface PartForm<Values extends object> {
  readonly values: Values;
  readonly change: (members: Partial<Values>) => void;
  readonly isDirty: boolean;
  readonly isBusy: boolean;
  /** Why the last save was refused. */
  readonly error: ParleyError | undefined;
  /** Fields that somebody else changed too. */
  readonly conflicts: readonly { readonly name: NameOf<Values>; readonly mine: unknown; readonly theirs: unknown }[];
  /** Who changed the part meanwhile, as far as that is known. */
  readonly who: readonly string[];
  /** Somebody deleted the part: the next save makes it anew. */
  readonly isGone: boolean;
  readonly takeTheirs: (name: NameOf<Values>) => void;
  readonly keepMine: (name: NameOf<Values>) => void;
  /** Saves what was typed, and these members. @returns whether it is saved; else the form says why. */
  readonly save: (members?: Partial<Values>) => Promise<boolean>;
}

/** The form of a part of an agent. Before it saves, it looks at what others made of the part since it was opened, and merges both. */
export function usePartForm<Values extends object, Item, Reading extends PartReading<Item>>({
  agentId,
  seen: seenNow,
  toValues,
  read,
  send,
  member,
}: Options<Values, Item, Reading>): PartForm<Values> {
  // The list behind the form may be read again meanwhile.
  const [seen] = useState(seenNow);
  const [merge, setMerge] = useState<Merge<Values>>(() => startMerge(toValues(seen.item)));
  const [state, setState] = useState<{ readonly isBusy: boolean; readonly error?: ParleyError }>({ isBusy: false });
  const [who, setWho] = useState<readonly string[]>([]);
  const [isGone, setGone] = useState(false);

  /** What is to be saved over what is there. Undefined: the person decides first. */
  const mergeWith = async (form: Merge<Values>, { item }: Reading): Promise<Values | undefined> => {
    if (seen.item === undefined || (item === undefined && isGone)) return form.mine;
    const next = item === undefined ? form : mergeTheirs(form, toValues(item));
    setMerge(next);
    if (item !== undefined && next.conflicts.length === 0) return next.mine;
    setGone(item === undefined);
    const members = [seen.item, ...(item === undefined ? [] : [item])].map(member);
    setWho(await findAuthors(agentId, seen.revision, members));
    return undefined;
  };
  const save = async (members: Partial<Values> = {}) => {
    const form = { ...merge, mine: { ...merge.mine, ...members } };
    setMerge(form);
    setState({ isBusy: true });
    try {
      const isSaved = await changeDraft(read, async (reading) => {
        const values = await mergeWith(form, reading);
        if (values === undefined) return false;
        await send(values, reading);
        return true;
      });
      setState({ isBusy: false });
      return isSaved;
    } catch (cause) {
      setState({ isBusy: false, error: readableError(cause) });
      return false;
    }
  };
  return {
    values: merge.mine,
    change: (members) => setMerge((current) => ({ ...current, mine: { ...current.mine, ...members } })),
    isDirty: changedFields(merge).length > 0,
    isBusy: state.isBusy,
    error: state.error,
    conflicts: merge.conflicts.map((name) => ({ name, mine: merge.mine[name], theirs: merge.base[name] })),
    who,
    isGone,
    takeTheirs: (name) => setMerge((current) => takeTheirs(current, name)),
    keepMine: (name) => setMerge((current) => keepMine(current, name)),
    save,
  };
}
