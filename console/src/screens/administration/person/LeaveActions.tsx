import { useState } from 'react';
import { useMutate } from '../../../graphql/hooks.ts';
import { ExportState } from '../../../parts/people/ExportState.tsx';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote, Note } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { Card, Section } from '../../../ui/page.tsx';
import {
  ErasePersonDocument,
  ExportPersonDocument,
  HandOverDocument,
  type HandOverMutation,
  type PersonErasureFragment,
  type PersonExportFragment,
} from './documents.ts';
import { ErasureState } from './ErasureState.tsx';
import { PersonChoice } from './PersonChoice.tsx';

interface LeaveProps {
  readonly person: { readonly id: string; readonly name: string };
  readonly isOwn: boolean;
  readonly exported: PersonExportFragment | undefined;
  readonly erasure: PersonErasureFragment | undefined;
  readonly onChanged: () => void;
}

/** What becomes of what a person has: handing over, export, erasure. */
export function LeaveActions({ person, isOwn, exported, erasure, onChanged }: LeaveProps) {
  const { t } = useText();
  const { may } = useSession();
  if (!may('ADMIN_WRITE')) return erasure === undefined ? null : <ErasureState erasure={erasure} />;
  return (
    <Section title={t('What the person has')} lead={t('When somebody leaves: hand over, keep a copy, erase.')}>
      <HandOver person={person} />
      <Export person={person} exported={exported} onChanged={onChanged} />
      {isOwn ? null : <Erase person={person} erasure={erasure} onChanged={onChanged} />}
    </Section>
  );
}

function HandOver({ person }: { readonly person: LeaveProps['person'] }) {
  const { t } = useText();
  const [toUserId, setToUserId] = useState<string>();
  const [done, setDone] = useState<HandOverMutation['transferOwnership']>();
  const { run, isBusy, error } = useMutate(HandOverDocument);
  const onHandOver = async () => {
    if (toUserId === undefined) return;
    setDone((await run({ userId: person.id, toUserId }))?.transferOwnership);
  };
  return (
    <Card>
      <h3>{t('Hand over')}</h3>
      <p className={styles.quiet}>
        {t(
          'Agents, knowledge, groups and schedules of {name} belong to another member then. Chats, memories, keys and connections stay with their person.',
          {
            name: person.name,
          },
        )}
      </p>
      <div className={styles.inline}>
        <PersonChoice label={t('New owner')} without={person.id} value={toUserId} onChange={setToUserId} />
        <Button isBusy={isBusy} disabled={toUserId === undefined} onClick={() => void onHandOver()}>
          {t('Hand over everything')}
        </Button>
      </div>
      <ErrorNote error={error} />
      {done === undefined ? null : (
        <Note tone={done.kept.length > 0 || done.isMoreLeft ? 'warn' : 'good'}>
          <p>
            {t(
              'Handed over: {agents, plural, one {# agent} other {# agents}}, {sources, plural, one {# knowledge source} other {# knowledge sources}}, {groups, plural, one {# group} other {# groups}}, {schedules, plural, one {# schedule} other {# schedules}}.',
              { agents: done.agents, sources: done.dataSources, groups: done.groups, schedules: done.schedules },
            )}
          </p>
          {done.kept.map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
          {done.isMoreLeft ? <p>{t('More is left: hand over again.')}</p> : null}
        </Note>
      )}
    </Card>
  );
}

function Export({ person, exported, onChanged }: Pick<LeaveProps, 'person' | 'exported' | 'onChanged'>) {
  const { t } = useText();
  const { viewer } = useSession();
  const { run, isBusy, error } = useMutate(ExportPersonDocument);
  const isWorking = exported?.status === 'PENDING' || exported?.status === 'RUNNING';
  const onExport = async () => {
    if ((await run({ input: { userId: person.id, orgId: viewer.organization.id } })) !== undefined) onChanged();
  };
  return (
    <Card>
      <h3>{t('Export')}</h3>
      <p className={styles.quiet}>
        {t('A ZIP with chats, files, memories and everything else that {name} has here.', { name: person.name })}
      </p>
      {exported === undefined ? null : <ExportState state={exported} />}
      {isWorking ? null : (
        <div>
          <Button isBusy={isBusy} onClick={() => void onExport()}>
            {exported === undefined ? t('Export the data') : t('Export again')}
          </Button>
        </div>
      )}
      <ErrorNote error={error} />
    </Card>
  );
}

function Erase({ person, erasure, onChanged }: Pick<LeaveProps, 'person' | 'erasure' | 'onChanged'>) {
  const { t } = useText();
  const { viewer } = useSession();
  const confirm = useConfirm();
  const [toUserId, setToUserId] = useState<string>();
  const { run, isBusy, error } = useMutate(ErasePersonDocument);
  const onErase = async () => {
    const isConfirmed = await confirm({
      title: t('Erase {name} for good?', { name: person.name }),
      body: t(
        'Membership, keys and sessions end at once. Chats, files, memories and everything else that is the person’s alone are deleted, and cannot be brought back.',
      ),
      action: t('Erase for good'),
      isDanger: true,
    });
    if (!isConfirmed) return;
    const transfer = toUserId === undefined ? {} : { transferToUserId: toUserId };
    if ((await run({ input: { userId: person.id, orgId: viewer.organization.id, ...transfer } })) !== undefined) onChanged();
  };
  return (
    <Card>
      <h3>{t('Erase')}</h3>
      {erasure === undefined ? (
        <>
          <p className={styles.quiet}>
            {t(
              'Everything of the person is deleted for good. What others use too goes to another member; a report says what became of what.',
            )}
          </p>
          <div className={styles.inline}>
            <PersonChoice
              label={t('Who gets what others use')}
              without={person.id}
              value={toUserId}
              onChange={setToUserId}
              empty={t('You')}
            />
            <Button variant="danger" isBusy={isBusy} onClick={() => void onErase()}>
              {t('Erase the person')}
            </Button>
          </div>
        </>
      ) : (
        <ErasureState erasure={erasure} />
      )}
      <ErrorNote error={error} />
    </Card>
  );
}
