import { CalendarClock, Plus } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useList, useMutate } from '../../../graphql/hooks.ts';
import { PeoplePage } from '../../../parts/people/PeoplePage.tsx';
import styles from '../../../parts/people/people.module.css';
import { usePolling } from '../../../parts/people/polling.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { Badge, EmptyState, ErrorNote, Note, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { Switch } from '../../../ui/form/field.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { Card } from '../../../ui/page.tsx';
import { Time } from '../../../ui/small.tsx';
import {
  DeleteScheduleDocument,
  RunScheduleDocument,
  type ScheduleRowFragment,
  SchedulesDocument,
  SwitchScheduleDocument,
} from './documents.ts';
import { ScheduleForm } from './ScheduleForm.tsx';

/** Agents that are asked at set times. */
export function Schedules({ isOfAll }: { readonly isOfAll: boolean }) {
  const { t } = useText();
  const { may, viewer } = useSession();
  const [isMaking, setMaking] = useState(false);
  const variables = { ofOrganization: isOfAll };
  const { error, isLoading, reload, pages, isEmpty } = useList(SchedulesDocument, variables, (data) => data.schedules);
  const isWorking = pages.nodes.some(({ runs }) => runs.nodes.some(({ status }) => status === 'PENDING' || status === 'RUNNING'));
  usePolling(isWorking, reload);
  const make =
    !isOfAll && may('CHATS_WRITE') && viewer.role !== 'AUDITOR' ? (
      <Button variant="primary" icon={<Plus size={17} aria-hidden />} onClick={() => setMaking(true)}>
        {t('New schedule')}
      </Button>
    ) : undefined;
  return (
    <PeoplePage title={t('Schedules')} lead={t('Agents that are asked at set times.')} actions={isEmpty ? undefined : make}>
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={6} /> : null}
      {isEmpty ? (
        <EmptyState icon={<CalendarClock size={26} aria-hidden />} title={t('No schedules yet')} action={make}>
          {t('A schedule asks an agent the same question each day or each Monday, and the answer is in a chat of yours.')}
        </EmptyState>
      ) : null}
      {pages.nodes.map((schedule) => (
        <ScheduleCard key={schedule.id} schedule={schedule} onChanged={reload} />
      ))}
      <ShowMore pages={pages} />
      {isMaking ? <ScheduleForm onClose={() => setMaking(false)} onMade={reload} /> : null}
    </PeoplePage>
  );
}

function ScheduleCard({ schedule, onChanged }: { readonly schedule: ScheduleRowFragment; readonly onChanged: () => void }) {
  const { t, date } = useText();
  const { viewer } = useSession();
  const confirm = useConfirm();
  const onOff = useMutate(SwitchScheduleDocument);
  const now = useMutate(RunScheduleDocument);
  const remove = useMutate(DeleteScheduleDocument);
  const { id, name, cron, timeZone, isEnabled, nextRunAt, pausedReason, user, userId, agent, runs } = schedule;
  const isOwn = userId === viewer.user.id && viewer.role !== 'AUDITOR';
  const after = (result: unknown) => result !== undefined && onChanged();
  const onDelete = async () => {
    const isConfirmed = await confirm({
      title: t('Delete the schedule {name}?', { name }),
      body: t('Its chats stay.'),
      action: t('Delete'),
      isDanger: true,
    });
    if (isConfirmed) after(await remove.run({ id }));
  };
  return (
    <Card>
      <div className={styles.spread}>
        <div className={styles.grow}>
          <strong>{name}</strong>
          <p className={styles.quiet}>
            {agent?.name ?? t('The agent is gone')} · <code>{cron}</code> {timeZone}
            {isOwn ? '' : ` · ${user?.name ?? t('Somebody who left')}`}
          </p>
          <p className={styles.quiet}>{nextRunAt === null ? t('Paused') : t('Next: {date}', { date: date(nextRunAt) })}</p>
        </div>
        {isOwn ? (
          <Switch
            label={t('On')}
            isOn={isEnabled}
            disabled={onOff.isBusy}
            onChange={(isOn) => void onOff.run({ id, isEnabled: isOn }).then(after)}
          />
        ) : null}
      </div>
      {pausedReason === null ? null : <Note tone="warn">{pausedReason}</Note>}
      {runs.nodes.length === 0 ? null : <LastRuns runs={runs.nodes} />}
      <ErrorNote error={onOff.error ?? now.error ?? remove.error} />
      {isOwn ? (
        <div className={styles.chips}>
          <Button size="small" isBusy={now.isBusy} onClick={() => void now.run({ id }).then(after)}>
            {t('Run now')}
          </Button>
          <Button size="small" variant="danger" isBusy={remove.isBusy} onClick={() => void onDelete()}>
            {t('Delete')}
          </Button>
        </div>
      ) : null}
    </Card>
  );
}

function LastRuns({ runs }: { readonly runs: ScheduleRowFragment['runs']['nodes'] }) {
  const { t } = useText();
  const words = {
    CANCELLED: t('Cancelled'),
    COMPLETED: t('Answered'),
    FAILED: t('Failed'),
    INCOMPLETE: t('Cut short'),
    PENDING: t('Waiting'),
    RUNNING: t('At work'),
    SKIPPED: t('Skipped'),
  };
  return (
    <ul className={styles.rows} aria-label={t('Last runs')}>
      {runs.map(({ id, dueAt, status, error, chat }) => (
        <li key={id}>
          <span className={styles.grow}>
            <Badge tone={status === 'COMPLETED' ? 'good' : status === 'FAILED' ? 'bad' : 'neutral'}>{words[status]}</Badge>{' '}
            <span className={styles.quiet}>
              <Time at={dueAt} />
              {error === null ? '' : ` · ${error}`}
            </span>
          </span>
          {chat === null ? null : <Link href={`/chats/${chat.id}`}>{t('To the chat')}</Link>}
        </li>
      ))}
    </ul>
  );
}
