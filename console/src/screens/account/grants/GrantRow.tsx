import { Link } from 'wouter';
import { useMutate } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { useToast } from '../../../ui/overlay/toasts.tsx';
import { Time } from '../../../ui/small.tsx';
import { type GrantedThingRowFragment, type GrantRowFragment, PutGrantsDocument, RevokeGrantsDocument } from './documents.ts';
import own from './grants.module.css';

/** An agent in the list: each thing that it may open with its own button that ends it, and one that ends all of them. */
export function GrantRow({
  grant: { id, agent, connections, memories, agents, things },
  onChanged,
}: {
  readonly grant: GrantRowFragment;
  readonly onChanged: () => void;
}) {
  const { t } = useText();
  const { may, viewer } = useSession();
  const confirm = useConfirm();
  const say = useToast();
  const put = useMutate(PutGrantsDocument);
  const revoke = useMutate(RevokeGrantsDocument);
  const canChange = may('CHATS_WRITE') && viewer.role !== 'AUDITOR';
  const name = agent?.name ?? t('An agent that you cannot use any more');
  const onRevokeAll = async () => {
    const isConfirmed = await confirm({
      title: t('Revoke what you grant to {name}?', { name }),
      body: t('It opens nothing of yours any more in what you ask it from now on.'),
      action: t('Revoke'),
      isDanger: true,
    });
    if (!isConfirmed || (await revoke.run({ agentId: id })) === undefined) return;
    say(t('Nothing is granted to {name} any more.', { name }));
    onChanged();
  };
  const onRevokeOne = async ({ connectionId, agentId, memories: ofMemories }: GrantedThingRowFragment, what: string) => {
    const input = {
      connections: connections.filter((one) => one !== connectionId),
      memories: ofMemories === null ? memories : ('NONE' as const),
      agents: agents.filter((one) => one !== agentId),
    };
    if ((await put.run({ agentId: id, input })) === undefined) return;
    say(t('{what} is not granted to {name} any more.', { what, name }));
    onChanged();
  };
  return (
    <li>
      <div className={styles.grow}>
        {agent === null ? name : <Link href={`/agents/${agent.id}`}>{name}</Link>}
        <ul className={own.things}>
          {things.map((thing) => (
            <Thing
              key={thing.connectionId ?? thing.agentId ?? 'memories'}
              thing={thing}
              ofAgent={name}
              onRevoke={canChange ? (what) => void onRevokeOne(thing, what) : undefined}
              isBusy={put.isBusy}
            />
          ))}
        </ul>
        <ErrorNote error={put.error ?? revoke.error} />
      </div>
      {canChange && things.length > 1 ? (
        <Button
          size="small"
          isBusy={revoke.isBusy}
          aria-label={t('Revoke all of {name}', { name })}
          onClick={() => void onRevokeAll()}
        >
          {t('Revoke all')}
        </Button>
      ) : null}
    </li>
  );
}

function Thing({
  thing: { grantedAt, connectionId, connection, memories, agentId, agent },
  ofAgent,
  onRevoke,
  isBusy,
}: {
  readonly thing: GrantedThingRowFragment;
  readonly ofAgent: string;
  /** Absent for who may not change it. */
  readonly onRevoke: ((what: string) => void) | undefined;
  readonly isBusy: boolean;
}) {
  const { t } = useText();
  const memoryWords = { NONE: '', READ: t('recalls them'), WRITE: t('recalls, keeps and forgets them') };
  const gone = t('one that is gone');
  const whatIsGranted = () => {
    if (connectionId !== null) return t('Connection: {name}', { name: connection?.accountName ?? gone });
    if (agentId !== null) return t('Agent that it asks: {name}', { name: agent?.name ?? gone });
    return t('Memories: {what}', { what: memoryWords[memories ?? 'NONE'] });
  };
  const what = whatIsGranted();
  return (
    <li>
      <span>{what}</span>
      <span className={styles.quiet}>
        {t('granted')} <Time at={grantedAt} />
      </span>
      {onRevoke === undefined ? null : (
        <Button
          size="small"
          variant="quiet"
          isBusy={isBusy}
          aria-label={t('Revoke “{what}” of {name}', { what, name: ofAgent })}
          onClick={() => onRevoke(what)}
        >
          {t('Revoke')}
        </Button>
      )}
    </li>
  );
}
