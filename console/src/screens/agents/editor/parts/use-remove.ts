import { run } from '../../../../graphql/client.ts';
import type { Document } from '../../../../graphql/document.ts';
import { useText } from '../../../../text/text.ts';
import { useConfirm } from '../../../../ui/overlay/confirm.tsx';
import { useErrorToast } from '../../../../ui/overlay/toasts.tsx';

/** Deletes a part of an agent by its id, once the reader has said so. */
export function useRemove<Result>(mutation: Document<Result, { id: string }>, onRemoved: () => void) {
  const { t } = useText();
  const confirm = useConfirm();
  const sayError = useErrorToast();
  return async (id: string, name: string, consequence: string) => {
    const isConfirmed = await confirm({
      title: t('Delete {name}?', { name }),
      body: consequence,
      action: t('Delete'),
      isDanger: true,
    });
    if (!isConfirmed) return;
    try {
      await run(mutation, { id });
      onRemoved();
    } catch (cause) {
      sayError(cause);
    }
  };
}
