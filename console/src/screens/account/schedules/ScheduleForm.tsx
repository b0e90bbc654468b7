import { useState } from 'react';
import { useMutate, usePage } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { SelectField, TextAreaField, TextField } from '../../../ui/form/fields.tsx';
import { FormDialog } from '../../../ui/overlay/form-dialog.tsx';
import { CreateScheduleDocument, ScheduleAgentsDocument } from './documents.ts';

/** Makes a schedule: who is asked what, and when. */
export function ScheduleForm({ onClose, onMade }: { readonly onClose: () => void; readonly onMade: () => void }) {
  const { t } = useText();
  const [name, setName] = useState('');
  const [prompt, setPrompt] = useState('');
  const [chosen, setChosen] = useState<string>();
  const [time, setTime] = useState('09:00');
  const [days, setDays] = useState('MON-FRI');
  const [ownCron, setOwnCron] = useState('0 9 * * MON-FRI');
  const agents = usePage(ScheduleAgentsDocument, {});
  const { run, isBusy, error } = useMutate(CreateScheduleDocument);
  const agentId = chosen ?? agents.data?.viewer.agents?.nodes[0]?.id;
  const [hour = '9', minute = '0'] = time.split(':');
  const cron = days === 'own' ? ownCron.trim() : `${Number(minute)} ${Number(hour)} * * ${days}`;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const save = async () => {
    if (agentId === undefined) return;
    if ((await run({ input: { name: name.trim(), prompt: prompt.trim(), agentId, cron, timeZone } })) === undefined) return;
    onMade();
    onClose();
  };
  return (
    <FormDialog
      title={t('New schedule')}
      onClose={onClose}
      onSubmit={() => void save()}
      action={t('Make the schedule')}
      isDirty={prompt !== ''}
      isBusy={isBusy}
      isBlocked={name.trim() === '' || prompt.trim() === '' || agentId === undefined}
    >
      <TextField label={t('Name')} error={findFault(error, 'name')} maxLength={100} value={name} onChange={setName} />
      <SelectField
        label={t('Agent')}
        error={findFault(error, 'agentId')}
        value={agentId ?? ''}
        onChange={setChosen}
        options={(agents.data?.viewer.agents?.nodes ?? []).map((agent) => ({ value: agent.id, label: agent.name }))}
      />
      <TextAreaField label={t('What it is asked')} error={findFault(error, 'prompt')} value={prompt} onChange={setPrompt} />
      <DaysField value={days} onChange={setDays} />
      {days === 'own' ? (
        <TextField
          label={t('Cron expression')}
          hint={t('Minute, hour, day of the month, month, weekday; in the time zone {zone}.', { zone: timeZone })}
          error={findFault(error, 'cron')}
          value={ownCron}
          onChange={setOwnCron}
        />
      ) : (
        <TextField
          label={t('Time of day')}
          hint={t('In the time zone {zone}.', { zone: timeZone })}
          error={findFault(error, 'cron')}
          type="time"
          value={time}
          onChange={setTime}
        />
      )}
      <ErrorNote error={agents.error ?? errorBeside(error, ['name', 'agentId', 'prompt', 'cron'])} />
    </FormDialog>
  );
}

function DaysField({ value, onChange }: { readonly value: string; readonly onChange: (days: string) => void }) {
  const { t } = useText();
  return (
    <SelectField
      label={t('Days')}
      value={value}
      onChange={onChange}
      options={[
        { value: '*', label: t('Every day') },
        { value: 'MON-FRI', label: t('Monday to Friday') },
        { value: 'MON', label: t('Mondays') },
        { value: 'FRI', label: t('Fridays') },
        { value: 'own', label: t('By a cron expression') },
      ]}
    />
  );
}
