import { useSession } from '../../../../parts/session/session.tsx';
import { useText } from '../../../../text/text.ts';
import { Note } from '../../../../ui/feedback.tsx';
import { Card, Facts } from '../../../../ui/page.tsx';
import { Time } from '../../../../ui/small.tsx';
import styles from '../source.module.css';
import type { Source } from '../source.ts';
import type { SourcePermissionsQuery } from './documents.ts';
import { UnidentifiedPeople } from './UnidentifiedPeople.tsx';

type Report = NonNullable<NonNullable<SourcePermissionsQuery['dataSource']>['permissions']>;

/** What is known of who may open the documents of a source, and what is missing. */
export function PermissionFacts({
  report,
  source: { id, permissionReading: reading },
}: {
  readonly report: Report;
  readonly source: Pick<Source, 'id' | 'permissionReading'>;
}) {
  const { t, number } = useText();
  const { isAdmin } = useSession();
  const { knownCount, unknownCount, reasons, missingRights, unreadableGroups, unidentifiedCount, errorMessage, fullAt } = report;
  const isPushed = reading?.latenessMs === 0;
  return (
    <>
      {errorMessage === null ? null : <Note tone="warn">{t('The last reading failed: {reason}', { reason: errorMessage })}</Note>}
      <Card>
        <Facts
          items={[
            [t('Documents with known permissions'), number(knownCount)],
            [
              t('Documents without'),
              unknownCount === 0 ? t('None') : t('{count}, found by nobody', { count: number(unknownCount) }),
            ],
            [
              t('Groups whose members cannot be read'),
              unreadableGroups.length === 0 ? t('None') : number(unreadableGroups.length),
            ],
            [
              t('People without an identity there'),
              unidentifiedCount === 0
                ? t('None')
                : t('{count}: they find what is open to everybody', { count: number(unidentifiedCount) }),
            ],
            ...(isPushed
              ? []
              : ([
                  [t('Permissions last read'), reading?.readAt == null ? t('Not yet') : <Time key="read" at={reading.readAt} />],
                  [t('All of them last read'), fullAt === null ? t('Not yet') : <Time key="full" at={fullAt} />],
                ] as const)),
            [t('A change there counts here'), <Lateness key="late" reading={reading} />],
          ]}
        />
      </Card>
      <Missing title={t('Rights that the account lacks')} rows={missingRights.map((right) => ({ key: right, name: right }))} />
      <Missing
        title={t('Groups whose members cannot be read')}
        rows={unreadableGroups.map(({ key, name, message }) => ({ key, name: name ?? key, message }))}
      />
      <Reasons reasons={reasons} />
      {isAdmin && unidentifiedCount > 0 ? <UnidentifiedPeople sourceId={id} /> : null}
    </>
  );
}

function Lateness({ reading }: { readonly reading: Source['permissionReading'] }) {
  const { t } = useText();
  const latenessMs = reading?.latenessMs ?? 0;
  if (latenessMs === 0) return t('At once');
  return t('After {count, plural, one {# minute} other {# minutes}} at most', { count: Math.ceil(latenessMs / 60_000) });
}

function Reasons({ reasons }: { readonly reasons: Report['reasons'] }) {
  const { t, number } = useText();
  const words: Readonly<Record<string, string>> = {
    INEXPRESSIBLE: t('The source has a rule that Parley does not have'),
    UNREADABLE: t('The account may not read who may open them'),
    INCOMPLETE: t('The source said only a part of who may open them'),
    UNREPORTED: t('The source said nothing about them'),
  };
  return (
    <Missing
      title={t('Why it is not known who may open them')}
      rows={reasons.map(({ code, message, count }) => ({
        key: `${code} ${message}`,
        name: `${number(count)} · ${words[code] ?? code}`,
        message,
      }))}
    />
  );
}

function Missing({
  title,
  rows,
}: {
  readonly title: string;
  readonly rows: readonly { readonly key: string; readonly name: string; readonly message?: string }[];
}) {
  if (rows.length === 0) return null;
  return (
    <div className={styles.missing}>
      <h3>{title}</h3>
      <ul className={styles.list} aria-label={title}>
        {rows.map(({ key, name, message }) => (
          <li key={key}>
            {name}
            {message === undefined ? null : <div className={styles.quiet}>{message}</div>}
          </li>
        ))}
      </ul>
    </div>
  );
}
