import { useMutate } from '../../graphql/hooks.ts';
import { useSession } from '../../parts/session/session.tsx';
import { useText } from '../../text/text.ts';
import { ErrorNote } from '../../ui/feedback.tsx';
import { Button } from '../../ui/form/button.tsx';
import { useConfirm } from '../../ui/overlay/confirm.tsx';
import { CancelRunDocument, type RunRowFragment } from './documents.ts';

type StoppableRun = Pick<RunRowFragment, 'id' | 'status' | 'incompleteReason' | 'isStored' | 'userId'>;

/** Whether the reader may stop a run, and it can be stopped. Administrators stop those of everybody. One that is not stored ends with the request that asked for it. */
export function useMayStop(): (run: StoppableRun) => boolean {
  const { may, viewer, isAdmin } = useSession();
  return ({ status, incompleteReason, isStored, userId }) =>
    (status === 'IN_PROGRESS' || incompleteReason === 'PAUSED') &&
    isStored &&
    may('CHATS_WRITE') &&
    (isAdmin || userId === viewer.user.id);
}

/** Stops a run after asking. */
export function StopButton({
  run,
  onStopped,
  size = 'small',
}: {
  readonly run: StoppableRun;
  readonly onStopped: () => void;
  readonly size?: 'small' | 'normal';
}) {
  const { t } = useText();
  const confirm = useConfirm();
  const cancel = useMutate(CancelRunDocument);
  const stop = async () => {
    const isWanted = await confirm({
      title: t('Stop this run?'),
      body: t('It ends at once. What it has said so far stays, and what it has cost is counted.'),
      action: t('Stop the run'),
      isDanger: true,
    });
    if (isWanted && (await cancel.run({ id: run.id })) !== undefined) onStopped();
  };
  return (
    <>
      <Button size={size} variant="danger" isBusy={cancel.isBusy} onClick={() => void stop()}>
        {t('Stop')}
      </Button>
      <ErrorNote error={cancel.error} />
    </>
  );
}
