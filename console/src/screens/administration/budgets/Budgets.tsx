import { Plus, Wallet } from 'lucide-react';
import { useState } from 'react';
import { useList, useMutate } from '../../../graphql/hooks.ts';
import { BudgetBar } from '../../../parts/budgets/BudgetBar.tsx';
import budgetStyles from '../../../parts/budgets/budgets.module.css';
import {
  type BudgetRowFragment,
  BudgetsDocument,
  DeleteBudgetDocument,
  SetTimeZoneDocument,
} from '../../../parts/budgets/documents.ts';
import { PeoplePage } from '../../../parts/people/PeoplePage.tsx';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { EmptyState, ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { findFault } from '../../../ui/form/faults/find.ts';
import { Field, TextInput } from '../../../ui/form/field.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { useToast } from '../../../ui/overlay/toasts.tsx';
import { Card, Section } from '../../../ui/page.tsx';
import { BudgetForm } from './BudgetForm.tsx';
import { subjectWords } from './words.ts';

/** What the organization, and groups, people, keys and agents of it, may use in a day or a month. */
export function Budgets() {
  const { t } = useText();
  const { may } = useSession();
  const [edited, setEdited] = useState<BudgetRowFragment | 'new'>();
  const { data, error, isLoading, reload, pages, isEmpty } = useList(BudgetsDocument, {}, (data) => data.budgets);
  const currency = data?.viewer.costCurrency ?? 'USD';
  const make = may('ADMIN_WRITE') ? (
    <Button variant="primary" icon={<Plus size={17} aria-hidden />} onClick={() => setEdited('new')}>
      {t('New budget')}
    </Button>
  ) : undefined;
  return (
    <PeoplePage
      title={t('Budgets')}
      lead={t('What may be used in a day or a month, in money or in tokens.')}
      actions={isEmpty ? undefined : make}
    >
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={6} /> : null}
      {isEmpty ? (
        <EmptyState icon={<Wallet size={26} aria-hidden />} title={t('No budgets yet')} action={make}>
          {t('A budget refuses calls before they cost more than the organization, a group, a person, a key or an agent may use.')}
        </EmptyState>
      ) : null}
      {pages.nodes.map((budget) => (
        <BudgetCard key={budget.id} budget={budget} currency={currency} onChange={() => setEdited(budget)} onDeleted={reload} />
      ))}
      <ShowMore pages={pages} />
      {data === undefined ? null : <TimeZone current={data.viewer.organization.timeZone} onChanged={reload} />}
      {edited === undefined ? null : (
        <BudgetForm
          budget={edited === 'new' ? undefined : edited}
          currency={currency}
          onClose={() => setEdited(undefined)}
          onSaved={() => {
            setEdited(undefined);
            reload();
          }}
        />
      )}
    </PeoplePage>
  );
}

function BudgetCard({
  budget,
  currency,
  onChange,
  onDeleted,
}: {
  readonly budget: BudgetRowFragment;
  readonly currency: string;
  readonly onChange: () => void;
  readonly onDeleted: () => void;
}) {
  const { t } = useText();
  const { may } = useSession();
  const confirm = useConfirm();
  const remove = useMutate(DeleteBudgetDocument);
  const { id, subject, group, user, key, agent } = budget;
  const thing = (group ?? user ?? key ?? agent)?.name;
  const kind = subjectWords(t)[subject];
  const name = thing === undefined ? kind : `${kind} ${thing}`;
  const onDelete = async () => {
    const isConfirmed = await confirm({
      title: t('Delete the budget?'),
      body: t('Calls of {name} are no longer bounded by it.', { name }),
      action: t('Delete'),
      isDanger: true,
    });
    if (isConfirmed && (await remove.run({ id })) !== undefined) onDeleted();
  };
  return (
    <Card>
      <BudgetBar name={name} budget={budget} currency={currency} />
      {may('ADMIN_WRITE') ? (
        <div className={budgetStyles.acts}>
          <Button onClick={onChange}>{t('Change')}</Button>
          <Button onClick={() => void onDelete()} isBusy={remove.isBusy}>
            {t('Delete')}
          </Button>
        </div>
      ) : null}
      <ErrorNote error={remove.error} />
    </Card>
  );
}

/** By whose clock days and months begin. */
function TimeZone({ current, onChanged }: { readonly current: string; readonly onChanged: () => void }) {
  const { t } = useText();
  const { may } = useSession();
  const say = useToast();
  const [timeZone, setTimeZone] = useState(current);
  const { run: set, isBusy, error } = useMutate(SetTimeZoneDocument);
  const save = async () => {
    if ((await set({ input: { timeZone: timeZone.trim() } })) === undefined) return;
    say(t('The time zone is changed.'));
    onChanged();
  };
  return (
    <Section title={t('Time zone')}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Field
          label={t('Days and months begin by the clock of')}
          hint={t('Budgets and usage by day follow it from now on. Days that were counted stay as they are.')}
          error={findFault(error, 'timeZone')}
        >
          {(control) => (
            <>
              <TextInput
                {...control}
                list="time-zones"
                value={timeZone}
                disabled={!may('ADMIN_WRITE')}
                onChange={({ target }) => setTimeZone(target.value)}
              />
              <datalist id="time-zones">
                {Intl.supportedValuesOf('timeZone').map((each) => (
                  <option key={each} value={each} />
                ))}
              </datalist>
            </>
          )}
        </Field>
        {may('ADMIN_WRITE') ? (
          <div>
            <Button type="submit" isBusy={isBusy} disabled={timeZone.trim() === current || timeZone.trim() === ''}>
              {t('Save')}
            </Button>
          </div>
        ) : null}
      </form>
    </Section>
  );
}
