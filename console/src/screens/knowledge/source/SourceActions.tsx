import { MoreHorizontal, Pause, RefreshCw } from 'lucide-react';
import { useLocation } from 'wouter';
import { run } from '../../../graphql/client.ts';
import { useMutate } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../ui/form/button.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { Menu } from '../../../ui/overlay/menu.tsx';
import { useErrorToast, useToast } from '../../../ui/overlay/toasts.tsx';
import { DeleteSourceDocument, RefreshSourceDocument, StopSourceDocument } from '../documents.ts';
import type { Source } from './source.ts';

/** What can be done with a source: read it again now, stop that, delete it. */
export function SourceActions({ source: { id, name, type, activeRun, usageCount } }: { readonly source: Source }) {
  const { t } = useText();
  const say = useToast();
  const refresh = useMutate(RefreshSourceDocument);
  const stop = useMutate(StopSourceDocument);
  const remove = useRemoval({ id, name, usageCount });
  const error = refresh.error ?? stop.error;
  const isReading = activeRun !== null;
  const start = async (isForced: boolean) => {
    const result = await refresh.run({ id, isForced });
    if (result !== undefined) say(type === 'FILE_UPLOAD' || type === 'API' ? t('It is indexed again') : t('It is read again'));
  };
  return (
    <>
      {isReading ? (
        <Button icon={<Pause size={16} aria-hidden />} isBusy={stop.isBusy} onClick={() => void stop.run({ id })}>
          {t('Stop')}
        </Button>
      ) : (
        <Button icon={<RefreshCw size={16} aria-hidden />} isBusy={refresh.isBusy} onClick={() => void start(false)}>
          {t('Read again')}
        </Button>
      )}
      <Menu
        label={t('More')}
        items={[
          { label: t('Read everything again'), icon: <RefreshCw size={16} aria-hidden />, onSelect: () => void start(true) },
          'separator',
          { label: t('Delete'), isDanger: true, onSelect: () => void remove() },
        ]}
      >
        <IconButton label={t('More')}>
          <MoreHorizontal size={18} aria-hidden />
        </IconButton>
      </Menu>
      <ErrorNote error={error} />
    </>
  );
}

/** Asks, deletes the source, and leads to the list. */
export function useRemoval({ id, name, usageCount }: Pick<Source, 'id' | 'name' | 'usageCount'>): () => Promise<void> {
  const { t } = useText();
  const confirm = useConfirm();
  const say = useToast();
  const sayError = useErrorToast();
  const [, go] = useLocation();
  return async () => {
    const isWanted = await confirm({
      title: t('Delete "{name}"?', { name }),
      body:
        usageCount === 0
          ? t('Everything that was read of it is deleted. This cannot be undone.')
          : t(
              '{count, plural, one {# agent answers} other {# agents answer}} from it. Everything that was read of it is deleted. This cannot be undone.',
              {
                count: usageCount,
              },
            ),
      action: t('Delete'),
      isDanger: true,
    });
    if (!isWanted) return;
    try {
      await run(DeleteSourceDocument, { id });
      say(t('"{name}" is deleted', { name }));
      go('/knowledge');
    } catch (cause) {
      sayError(cause);
    }
  };
}
