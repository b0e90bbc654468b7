import { useCallback, useEffect, useState } from 'react';
import { type Text, useText } from '../../text/text.ts';
import styles from './about.module.css';

const refreshMs = 10_000;
const timeoutMs = 5_000;

/** What `/readyz` answers. */
interface Readiness {
  readonly status?: string;
  readonly reason?: string;
  readonly degraded?: string;
}

interface State {
  readonly name: 'unknown' | 'ready' | 'slow' | 'down';
  readonly words: string;
}

/** Whether the service is ready, asked again every ten seconds while the page is looked at. */
export function Status() {
  const { t } = useText();
  const [state, setState] = useState<State>({ name: 'unknown', words: t('Asking whether the service is ready …') });
  const look = useCallback(async () => {
    // A text that stays the same is not read out again: React leaves it as it is.
    if (!document.hidden) setState(await readState(t));
  }, [t]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const keepLooking = async () => {
      await look();
      timer = setTimeout(keepLooking, refreshMs);
    };
    void keepLooking();
    document.addEventListener('visibilitychange', look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [look]);
  return (
    <p className={styles.status} id="status" role="status" data-state={state.name}>
      <span className={styles.dot} aria-hidden />
      <span>{state.words}</span>
    </p>
  );
}

async function readState(t: Text['t']): Promise<State> {
  try {
    const reply = await fetch('/readyz', { cache: 'no-store', signal: AbortSignal.timeout(timeoutMs) });
    const { status, reason, degraded }: Readiness = await reply.json();
    if (status === 'stopping') return { name: 'down', words: t('The service is stopping.') };
    if (!reply.ok) return { name: 'down', words: `${t('The service is not available.')} ${reasonWords(t, reason)}`.trim() };
    if (degraded === undefined) return { name: 'ready', words: t('The service is ready.') };
    return { name: 'slow', words: t('The service is ready, but works more slowly than usual.') };
  } catch {
    return { name: 'down', words: t('The service does not answer.') };
  }
}

/** Why `/readyz` says that the service is not available. */
function reasonWords(t: Text['t'], reason = ''): string {
  const words: Readonly<Record<string, string>> = {
    database: t('Its database does not answer.'),
    storage_full: t('Its storage is full.'),
    signals: t('It does not hear of the changes of other instances.'),
  };
  return words[reason] ?? '';
}
