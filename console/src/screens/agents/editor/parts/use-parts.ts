import type { ParleyError } from '@parley/client';
import { useEffect, useRef, useState } from 'react';
import { run } from '../../../../graphql/client.ts';
import type { Document } from '../../../../graphql/document.ts';
import { usePage } from '../../../../graphql/hooks.ts';
import { changeDraft, findAuthors, requireRevision } from '../../../../parts/drafts/change.ts';
import { isSame } from '../../../../parts/drafts/merge.ts';
import { useText } from '../../../../text/text.ts';
import { useConfirm } from '../../../../ui/overlay/confirm.tsx';
import { useErrorToast, useToast } from '../../../../ui/overlay/toasts.tsx';
import type { SectionProps } from '../section.ts';
import type { PartReading } from './use-part-form.ts';

interface Part {
  readonly id: string;
}

/** Changes the part with `expectedDraft: revision`. */
type Send<Item> = (reading: { readonly revision: number; readonly item: Item }) => Promise<unknown>;

export interface Parts<Result, Item extends Part> {
  readonly data: Result | undefined;
  readonly error: ParleyError | undefined;
  readonly isLoading: boolean;
  readonly items: readonly Item[];
  /** What the reader sees of a part: where a form of it begins. */
  readonly see: (item: Item | undefined) => PartReading<Item>;
  /** A part of the draft as it is now. */
  readonly read: (id: string | undefined) => Promise<PartReading<Item>>;
  readonly member: (item: Item) => string;
  readonly reload: () => void;
  /** Changes a part by one click, unless somebody made it something else than the reader sees. @returns whether it was done. */
  readonly act: (item: Item, send: Send<Item>) => Promise<boolean>;
  /** Deletes a part, once the reader has said so. */
  readonly remove: (item: Item, consequence: string, send: Send<Item>) => Promise<void>;
}

interface Options<Result, Item> {
  readonly pick: (result: Result) => readonly Item[];
  /** The list of the parts in the draft, and the name that a part has there. */
  readonly list: 'tools' | 'skills' | 'flows' | 'userInputs' | 'secrets';
  readonly partName: (item: Item) => string;
  /** What the reader knows the part by. Default: its name in the draft. */
  readonly title?: (item: Item) => string;
}

/** The parts of an agent that a section shows and changes. They are read again when somebody changes the draft. */
export function useParts<
  Result extends { readonly agent: { readonly draft: { readonly revision: number } | null } | null },
  Item extends Part,
>(
  document: Document<Result, { id: string }>,
  { agent, reload: reloadAgent }: Pick<SectionProps, 'agent' | 'reload'>,
  { pick, list, partName, title = partName }: Options<Result, Item>,
): Parts<Result, Item> {
  const { t } = useText();
  const confirm = useConfirm();
  const toast = useToast();
  const sayError = useErrorToast();
  const { data, error, isLoading, reload: reloadParts } = usePage(document, { id: agent.id });
  const agentRevision = agent.draft?.revision;
  const lastRevision = useRef(agentRevision);
  useEffect(() => {
    if (lastRevision.current === agentRevision) return;
    lastRevision.current = agentRevision;
    reloadParts();
  }, [agentRevision, reloadParts]);
  const [isBusy, setBusy] = useState(false);
  const reload = () => {
    reloadParts();
    // The editor counts them.
    reloadAgent();
  };
  const items = data === undefined ? [] : pick(data);
  const seenRevision = data?.agent?.draft?.revision ?? agentRevision ?? 1;
  const member = (item: Item) => `${list}.${partName(item)}`;
  const read = async (id: string | undefined): Promise<PartReading<Item>> => {
    const result = await run(document, { id: agent.id });
    return { revision: requireRevision(result.agent), item: pick(result).find((item) => item.id === id) };
  };
  const sayConflict = async (item: Item) => {
    const who = await findAuthors(agent.id, seenRevision, [member(item)]);
    const named = { name: who.join(', '), part: title(item) };
    toast(
      who.length === 0
        ? t('Somebody else changed “{part}” meanwhile: nothing was done. Look at it as it is now.', named)
        : t('{name} changed “{part}” meanwhile: nothing was done. Look at it as it is now.', named),
      'warn',
    );
  };
  const act = async (item: Item, send: Send<Item>) => {
    if (isBusy) return false;
    setBusy(true);
    try {
      return await changeDraft(
        () => read(item.id),
        async ({ revision, item: now }) => {
          if (now === undefined || !isSame(now, item)) {
            await sayConflict(item);
            return false;
          }
          await send({ revision, item: now });
          return true;
        },
      );
    } catch (cause) {
      sayError(cause);
      return false;
    } finally {
      setBusy(false);
      reload();
    }
  };
  const remove = async (item: Item, consequence: string, send: Send<Item>) => {
    const isConfirmed = await confirm({
      title: t('Delete {name}?', { name: title(item) }),
      body: consequence,
      action: t('Delete'),
      isDanger: true,
    });
    if (isConfirmed) await act(item, send);
  };
  return {
    ...{ data, error, isLoading, items, read, member, reload, act, remove },
    see: (item) => ({ revision: seenRevision, item }),
  };
}
