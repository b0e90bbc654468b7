import { useMemo } from 'react';
import { useMutate, usePage } from '../../../graphql/hooks.ts';
import {
  OrganizationGuardDocument,
  type OrganizationGuardQuery,
  SetOrganizationGuardDocument,
} from '../../../parts/guards/documents.ts';
import { GuardForm } from '../../../parts/guards/GuardForm.tsx';
import { maskedWords } from '../../../parts/guards/words.ts';
import { PeoplePage } from '../../../parts/people/PeoplePage.tsx';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote, Skeleton } from '../../../ui/feedback.tsx';
import { useToast } from '../../../ui/overlay/toasts.tsx';
import { Section, Table } from '../../../ui/page.tsx';

const countedDays = 30;
const dayMs = 86_400_000;

/** What is masked in all runs of the organization. */
export function OrganizationGuard() {
  const { t } = useText();
  const { may } = useSession();
  const say = useToast();
  // One span for as long as the screen is shown: another one would be another query.
  const span = useMemo(() => {
    const now = Date.now();
    return { since: new Date(now - (countedDays - 1) * dayMs).toISOString(), until: new Date(now).toISOString() };
  }, []);
  const { data, error, isLoading, reload } = usePage(OrganizationGuardDocument, span);
  const set = useMutate(SetOrganizationGuardDocument);
  return (
    <PeoplePage
      title={t('Guard')}
      lead={t(
        'Models get a name such as [EMAIL_1] in place of personal data and secrets, in all runs of the organization. Agents may have guards of their own beside it.',
      )}
    >
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={8} /> : null}
      {data === undefined ? null : (
        <>
          <GuardForm
            key={data.organizationGuard.updatedAt}
            guard={data.organizationGuard}
            modelIds={data.models.map(({ id }) => id)}
            isReadOnly={!may('AGENTS_WRITE')}
            isBusy={set.isBusy}
            error={set.error}
            onSave={(input) =>
              void set.run({ input }).then((reply) => {
                if (reply === undefined) return;
                say(t('The guard is saved. It holds for runs that begin.'));
                reload();
              })
            }
          />
          <Counts counts={data.guardCounts} />
        </>
      )}
    </PeoplePage>
  );
}

/** How much was masked, also by the guards of agents. */
function Counts({ counts }: { readonly counts: OrganizationGuardQuery['guardCounts'] }) {
  const { t, number } = useText();
  const words = maskedWords(t);
  return (
    <Section
      title={t('Masked in the last {count} days', { count: countedDays })}
      lead={t('A value counts once for each run, also where an agent masks it. Values themselves are kept nowhere.')}
    >
      {counts.length === 0 ? (
        <p>{t('Nothing was masked.')}</p>
      ) : (
        <Table label={t('Masked values by kind')}>
          <thead>
            <tr>
              <th scope="col">{t('Kind')}</th>
              <th scope="col">{t('Values')}</th>
            </tr>
          </thead>
          <tbody>
            {counts.map(({ kind, count }) => (
              <tr key={kind}>
                <th scope="row">{words[kind]}</th>
                <td>{number(count)}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </Section>
  );
}
