import styles from '../../../parts/people/people.module.css';
import { useText } from '../../../text/text.ts';
import { Badge, Note } from '../../../ui/feedback.tsx';
import { Table } from '../../../ui/page.tsx';
import { Progress } from '../../../ui/progress.tsx';
import type { PersonErasureFragment } from './documents.ts';
import { tableWord } from './tables.ts';

/** How far an erasure is, and what became of each kind of things. */
export function ErasureState({ erasure }: { readonly erasure: Omit<PersonErasureFragment, 'userId' | ' $fragmentName'> }) {
  const { t, number } = useText();
  const { status, report, transferTo } = erasure;
  const acts = {
    ERASED: t('Erased'),
    TRANSFERRED: transferTo === null ? t('Handed over') : t('Handed over to {name}', { name: transferTo.name }),
    PSEUDONYMISED: t('Kept without the person'),
    STAYS: t('Stays'),
  };
  return (
    <div className={styles.stack}>
      <ErasureNote status={status} />
      {report.length === 0 ? null : (
        <Table label={t('Report of the erasure')}>
          <thead>
            <tr>
              <th scope="col">{t('What')}</th>
              <th scope="col" className={styles.number}>
                {t('Count')}
              </th>
              <th scope="col">{t('What became of it')}</th>
            </tr>
          </thead>
          <tbody>
            {report.map(({ table, action, count, reason }) => (
              <tr key={`${table} ${action}`}>
                <th scope="row">{tableWord(t, table)}</th>
                <td className={styles.number}>{number(count)}</td>
                <td>
                  <Badge tone={action === 'ERASED' ? 'good' : action === 'STAYS' ? 'warn' : 'neutral'}>{acts[action]}</Badge>
                  {reason === null ? null : <div className={styles.quiet}>{reason}</div>}
                </td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </div>
  );
}

function ErasureNote({ status }: { readonly status: PersonErasureFragment['status'] }) {
  const { t } = useText();
  if (status === 'DONE') return <Note tone="good">{t('Everything is erased that may be.')}</Note>;
  if (status === 'STOPPED')
    return <Note tone="warn">{t('A legal hold stopped the erasure. End the hold and erase again.')}</Note>;
  return (
    <>
      <p role="status">{t('The erasure goes on by itself. Some steps take minutes.')}</p>
      <Progress percent={undefined} label={t('Erasing')} />
    </>
  );
}
