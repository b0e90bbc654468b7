import { ParleyError } from '@parley/client';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { readableError, run } from '../../../../graphql/client.ts';
import { useMutate } from '../../../../graphql/hooks.ts';
import {
  AgentEditorDocument,
  type AgentEditorQuery,
  DraftChangesDocument,
  type DraftChangesQuery,
  SaveAgentDocument,
} from '../documents.ts';
import {
  type AgentFields,
  changedFields,
  type Draft,
  type FieldName,
  mergeSaved,
  mergeTheirs,
  readFields,
  startDraft,
  toInput,
} from './draft.ts';
import { fieldOfPlace } from './field-labels.ts';

type EditorAgent = NonNullable<AgentEditorQuery['agent']>;

/** A field that both changed. */
export interface Conflict {
  readonly name: FieldName;
  readonly mine: unknown;
  readonly theirs: unknown;
  /** Who changed it, as far as that is known. */
  readonly who: readonly string[];
}

export interface AgentForm {
  readonly fields: AgentFields;
  readonly set: <Name extends FieldName>(name: Name, value: AgentFields[Name]) => void;
  readonly isReadOnly: boolean;
  readonly changed: readonly FieldName[];
  /** Fields that somebody else changed too. */
  readonly conflicts: readonly Conflict[];
  readonly takeTheirs: (name: FieldName) => void;
  readonly keepMine: (name: FieldName) => void;
  readonly discard: () => void;
  /** @returns the warnings of the change; undefined when it was refused or waits for a decision. */
  readonly save: () => Promise<readonly string[] | undefined>;
  readonly isSaving: boolean;
  /** Why the last save was refused. Its places begin with `input.`. */
  readonly error: ParleyError | undefined;
}

/** The form of an agent over all sections. `agent` is what the service says now; what it says anew is merged with what the reader changed. */
export function useDraft(agent: EditorAgent, isReadOnly: boolean): AgentForm {
  const [draft, setDraft] = useState(() => startDraft(readFields(agent)));
  const mutation = useMutate(SaveAgentDocument);
  const [looking, setLooking] = useState<{ readonly isBusy: boolean; readonly error?: ParleyError }>({ isBusy: false });
  /** The fields that were changed since the last save was refused. */
  const [mended, setMended] = useState<ReadonlySet<FieldName>>(new Set());
  const isSaving = mutation.isBusy || looking.isBusy;
  useEffect(() => {
    if (!isSaving) setDraft((current) => mergeTheirs(current, readFields(agent)));
  }, [agent, isSaving]);
  const changed = useMemo(() => changedFields(draft), [draft]);
  const authors = useAuthors(agent, draft.conflicts);
  const set = useCallback(<Name extends FieldName>(name: Name, value: AgentFields[Name]) => {
    setDraft((current) => ({ ...current, mine: { ...current.mine, [name]: value } }));
    setMended((current) => new Set(current).add(name));
  }, []);
  const withoutConflict = (current: Draft, name: FieldName) => current.conflicts.filter((other) => other !== name);
  const save = async () => {
    const request = draft.mine;
    setLooking({ isBusy: true });
    mutation.reset();
    setMended(new Set());
    try {
      // Whoever saves over what they have not seen is asked first.
      const { agent: now } = await run(AgentEditorDocument, { id: agent.id });
      const nextDraft = now === null ? draft : mergeTheirs(draft, readFields(now));
      setDraft(nextDraft);
      setLooking({ isBusy: false });
      if (nextDraft.conflicts.length > 0) return undefined;
      const names = changedFields(nextDraft);
      const reply = await mutation.run({
        id: agent.id,
        input: toInput(nextDraft.mine, names),
        expectedDraft: now?.draft?.revision ?? null,
      });
      if (reply === undefined) return undefined;
      setDraft((current) => mergeSaved(current, request, names, readFields(reply.updateAgent)));
      return (reply.updateAgent.warnings ?? []).map(({ message }) => message);
    } catch (cause) {
      setLooking({ isBusy: false, error: readableError(cause) });
      return undefined;
    }
  };
  return {
    fields: draft.mine,
    set,
    isReadOnly,
    changed,
    conflicts: draft.conflicts.map((name) => ({
      ...{ name, mine: draft.mine[name], theirs: draft.base[name] },
      who: authors.get(name) ?? [],
    })),
    takeTheirs: (name) =>
      setDraft((current) => ({
        ...current,
        mine: { ...current.mine, [name]: current.base[name] },
        conflicts: withoutConflict(current, name),
      })),
    keepMine: (name) => setDraft((current) => ({ ...current, conflicts: withoutConflict(current, name) })),
    discard: () => {
      mutation.reset();
      setDraft((current) => startDraft(current.base));
    },
    save,
    isSaving,
    error: withoutMended(mutation.error, mended) ?? looking.error,
  };
}

/** Who changed which members since the form was begun; asked once there is a conflict. */
function useAuthors({ id, draft }: EditorAgent, conflicts: readonly FieldName[]): ReadonlyMap<string, readonly string[]> {
  const [since] = useState(draft?.revision ?? 1);
  const [authors, setAuthors] = useState<ReadonlyMap<string, readonly string[]>>(new Map());
  const names = conflicts.join(' ');
  useEffect(() => {
    if (names === '') return;
    // Without it the note says that it was somebody.
    const keep = ({ agent }: DraftChangesQuery) => setAuthors(readAuthors(agent?.draft?.changes ?? []));
    run(DraftChangesDocument, { id, after: since }).then(keep, () => undefined);
  }, [id, since, names]);
  return authors;
}

type DraftChanges = NonNullable<NonNullable<DraftChangesQuery['agent']>['draft']>['changes'];

function readAuthors(changes: DraftChanges): ReadonlyMap<string, readonly string[]> {
  const authors = new Map<string, readonly string[]>();
  for (const { userName, members } of changes) {
    if (userName === null) continue;
    for (const member of members) authors.set(member, [...new Set([...(authors.get(member) ?? []), userName])]);
  }
  return authors;
}

/** What is still wrong: a fault goes when its field is changed. */
function withoutMended(error: ParleyError | undefined, mended: ReadonlySet<FieldName>): ParleyError | undefined {
  if (error === undefined || error.faults.length === 0) return error;
  const faults = error.faults.filter(({ path }) => {
    const name = fieldOfPlace(path);
    return name === undefined || !mended.has(name);
  });
  if (faults.length === 0) return undefined;
  return faults.length === error.faults.length ? error : new ParleyError(error.message, { ...error, faults });
}
