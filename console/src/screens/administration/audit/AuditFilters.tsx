import styles from '../../../parts/people/people.module.css';
import { useText } from '../../../text/text.ts';
import { Button } from '../../../ui/form/button.tsx';
import { SelectField, TextField } from '../../../ui/form/fields.tsx';
import { PersonChoice } from '../person/PersonChoice.tsx';
import type { AuditLogQueryVariables } from './documents.ts';
import { offeredActions, operationWords } from './sentences.ts';

type AuditFilter = NonNullable<AuditLogQueryVariables['filter']>;

export interface AuditWishes {
  readonly kind: '' | 'CHANGE' | 'READ' | 'REFUSAL';
  readonly action: string;
  readonly actorUserId: string | undefined;
  /** Days as a date field has them: 2026-11-26. */
  readonly from: string;
  readonly to: string;
}

export const noWishes: AuditWishes = { kind: '', action: '', actorUserId: undefined, from: '', to: '' };

const kinds = ['', 'CHANGE', 'READ', 'REFUSAL'] as const;
const dayMs = 86_400_000;

/** Days are those of the reader; the last one counts whole. */
export function toFilter({ kind, action, actorUserId, from, to }: AuditWishes): AuditFilter {
  const getStart = (day: string) => new Date(`${day}T00:00:00`);
  return {
    kind: kind === '' ? null : kind,
    action: action === '' ? null : action,
    actorUserId: actorUserId ?? null,
    from: from === '' ? null : getStart(from).toISOString(),
    to: to === '' ? null : new Date(getStart(to).getTime() + dayMs).toISOString(),
  };
}

/** What of the log is shown. */
export function AuditFilters({
  wishes,
  onChange,
}: {
  readonly wishes: AuditWishes;
  readonly onChange: (wishes: AuditWishes) => void;
}) {
  const { t } = useText();
  const set = (part: Partial<AuditWishes>) => onChange({ ...wishes, ...part });
  const kindWords = { '': t('Everything'), CHANGE: t('Changes'), READ: t('Reads'), REFUSAL: t('Refusals') };
  return (
    <div className={styles.filters}>
      <SelectField
        label={t('What happened')}
        value={wishes.kind}
        onChange={(kind) => set({ kind })}
        options={kinds.map((kind) => ({ value: kind, label: kindWords[kind] }))}
      />
      <SelectField
        label={t('Operation')}
        value={wishes.action}
        onChange={(action) => set({ action })}
        options={[
          { value: '', label: t('All operations') },
          ...offeredActions.map((action) => ({ value: action, label: operationWords(t, action) })),
        ]}
      />
      <PersonChoice
        label={t('By')}
        value={wishes.actorUserId}
        onChange={(actorUserId) => set({ actorUserId })}
        empty={t('Everybody')}
      />
      <TextField label={t('From')} type="date" value={wishes.from} onChange={(from) => set({ from })} />
      <TextField label={t('To')} type="date" value={wishes.to} onChange={(to) => set({ to })} />
      {wishes === noWishes ? null : <Button onClick={() => onChange(noWishes)}>{t('No filter')}</Button>}
    </div>
  );
}
