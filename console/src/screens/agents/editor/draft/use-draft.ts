import { ParleyError } from '@parley/client';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { readableError, run } from '../../../../graphql/client.ts';
import { changeDraft, readAuthors, requireRevision } from '../../../../parts/drafts/change.ts';
import { changedFields, keepMine, mergeSaved, mergeTheirs, startMerge, takeTheirs } from '../../../../parts/drafts/merge.ts';
import { AgentEditorDocument, type AgentEditorQuery, SaveAgentDocument } from '../documents.ts';
import { type AgentFields, type FieldName, readFields, toInput } from './draft.ts';
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
  const [draft, setDraft] = useState(() => startMerge(readFields(agent)));
  const [saving, setSaving] = useState<{ readonly isBusy: boolean; readonly error?: ParleyError }>({ isBusy: false });
  /** The fields that were changed since the last save was refused. */
  const [mended, setMended] = useState<ReadonlySet<FieldName>>(new Set());
  const isSaving = saving.isBusy;
  useEffect(() => {
    if (!isSaving) setDraft((current) => mergeTheirs(current, readFields(agent)));
  }, [agent, isSaving]);
  const changed = useMemo(() => changedFields(draft), [draft]);
  const authors = useAuthors(agent, draft.conflicts);
  const set = useCallback(<Name extends FieldName>(name: Name, value: AgentFields[Name]) => {
    setDraft((current) => ({ ...current, mine: { ...current.mine, [name]: value } }));
    setMended((current) => new Set(current).add(name));
  }, []);
  const save = async () => {
    const request = draft.mine;
    setSaving({ isBusy: true });
    setMended(new Set());
    try {
      const warnings = await changeDraft(
        () => readAgent(agent.id),
        async ({ now, revision }) => {
          // Whoever saves over what they have not seen is asked first.
          const nextDraft = mergeTheirs(draft, readFields(now));
          setDraft(nextDraft);
          if (nextDraft.conflicts.length > 0) return undefined;
          const names = changedFields(nextDraft);
          const input = toInput(nextDraft.mine, names);
          const { updateAgent } = await run(SaveAgentDocument, { id: agent.id, input, expectedDraft: revision });
          setDraft((current) => mergeSaved(current, request, names, readFields(updateAgent)));
          return (updateAgent.warnings ?? []).map(({ message }) => message);
        },
      );
      setSaving({ isBusy: false });
      return warnings;
    } catch (cause) {
      setSaving({ isBusy: false, error: readableError(cause) });
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
    takeTheirs: (name) => setDraft((current) => takeTheirs(current, name)),
    keepMine: (name) => setDraft((current) => keepMine(current, name)),
    discard: () => {
      setSaving({ isBusy: false });
      setDraft((current) => startMerge(current.base));
    },
    save,
    isSaving,
    error: withoutMended(saving.error, mended),
  };
}

async function readAgent(id: string) {
  const { agent } = await run(AgentEditorDocument, { id });
  const revision = requireRevision(agent);
  return { now: agent as EditorAgent, revision };
}

/** Who changed which members since the form was begun; asked once there is a conflict. */
function useAuthors({ id, draft }: EditorAgent, conflicts: readonly FieldName[]): ReadonlyMap<string, readonly string[]> {
  const [since] = useState(draft?.revision ?? 1);
  const [authors, setAuthors] = useState<ReadonlyMap<string, readonly string[]>>(new Map());
  const names = conflicts.join(' ');
  useEffect(() => {
    if (names !== '') void readAuthors(id, since).then(setAuthors);
  }, [id, since, names]);
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
