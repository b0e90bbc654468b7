import { useId } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useText } from '../../text/text.ts';
import { TextInput } from '../../ui/form/field.tsx';
import { Toolbar } from '../../ui/page.tsx';
import styles from './usage.module.css';
import { buildAddress, ranges, type UsageView } from './view.ts';

/** Which days are counted. */
export function Range({ view: { days, from, to } }: { readonly view: UsageView }) {
  const { t } = useText();
  const search = useSearch();
  const [, go] = useLocation();
  const fromId = useId();
  const toId = useId();
  const choose = (changes: { readonly from: string; readonly to: string }) =>
    go(buildAddress(search, { days: null, ...changes }), { replace: true });
  return (
    <Toolbar>
      <nav className={styles.choice} aria-label={t('Time')}>
        {ranges.map((range) => (
          <Link
            key={range}
            href={buildAddress(search, { days: String(range), from: null, to: null })}
            aria-current={days === range ? 'true' : undefined}
          >
            {t('{count} days', { count: range })}
          </Link>
        ))}
      </nav>
      <span className={styles.day}>
        <label htmlFor={fromId}>{t('From')}</label>
        <TextInput
          id={fromId}
          type="date"
          value={from}
          max={to}
          onChange={({ target }) => target.value !== '' && choose({ from: target.value, to })}
        />
      </span>
      <span className={styles.day}>
        <label htmlFor={toId}>{t('Until')}</label>
        <TextInput
          id={toId}
          type="date"
          value={to}
          min={from}
          onChange={({ target }) => target.value !== '' && choose({ from, to: target.value })}
        />
      </span>
    </Toolbar>
  );
}
