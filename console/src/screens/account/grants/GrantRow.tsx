import { Link } from 'wouter';
import { useMutate, usePage } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { useToast } from '../../../ui/overlay/toasts.tsx';
import { GrantedThingsDocument, type GrantRowFragment, RevokeGrantsDocument } from './documents.ts';

/** An agent in the list: what it may open, and a button that ends all of it. */
export function GrantRow({
  grant: { id, agent, connections, memories, agents },
  onChanged,
}: {
  readonly grant: GrantRowFragment;
  readonly onChanged: () => void;
}) {
  const { t } = useText();
  const { may, viewer } = useSession();
  const confirm = useConfirm();
  const say = useToast();
  const { run: revoke, isBusy, error } = useMutate(RevokeGrantsDocument);
  const pause = connections.length === 0 && agents.length === 0;
  const things = usePage(GrantedThingsDocument, { connections, agents }, { pause });
  const name = agent?.name ?? t('An agent that you cannot use any more');
  const memoryWords = { NONE: undefined, READ: t('recalls them'), WRITE: t('recalls, keeps and forgets them') };
  const connectionNames = things.data?.connections.map((one) =>
    one !== null && 'accountName' in one ? one.accountName : t('one that is gone'),
  );
  const agentNames = things.data?.agents.map((one) => (one !== null && 'name' in one ? one.name : t('one that is gone')));
  const lines = [
    { label: t('Connections'), value: connections.length === 0 ? undefined : connectionNames?.join(', ') },
    { label: t('Memories'), value: memoryWords[memories] },
    { label: t('Agents that it asks'), value: agents.length === 0 ? undefined : agentNames?.join(', ') },
  ].filter(({ value }) => value !== undefined);
  const onRevoke = async () => {
    const isConfirmed = await confirm({
      title: t('Revoke what you grant to {name}?', { name }),
      body: t('It opens nothing of yours any more in what you ask it from now on.'),
      action: t('Revoke'),
      isDanger: true,
    });
    if (!isConfirmed || (await revoke({ agentId: id })) === undefined) return;
    say(t('Nothing is granted to {name} any more.', { name }));
    onChanged();
  };
  return (
    <li>
      <div className={styles.grow}>
        {agent === null ? name : <Link href={`/agents/${agent.id}`}>{name}</Link>}
        {lines.map(({ label, value }) => (
          <span key={label} className={styles.block}>
            {label}: {value}
          </span>
        ))}
        <ErrorNote error={error ?? things.error} />
      </div>
      {may('CHATS_WRITE') && viewer.role !== 'AUDITOR' ? (
        <Button size="small" isBusy={isBusy} aria-label={t('Revoke {name}', { name })} onClick={() => void onRevoke()}>
          {t('Revoke')}
        </Button>
      ) : null}
    </li>
  );
}
