import { createContext, type ReactNode, useCallback, useContext, useState } from 'react';
import { readableError } from '../../graphql/client.ts';
import { Note, type Tone } from '../feedback.tsx';
import { useFaultWords } from '../form/faults/words.ts';
import styles from './toasts.module.css';

interface Toast {
  readonly id: number;
  readonly tone: Tone;
  readonly text: string;
}

const shownMs = 6_000;
const ToastContext = createContext<(text: string, tone?: Tone) => void>(() => undefined);

/** Says in a corner, for some seconds, what was done. Failures stand beside what caused them instead. */
export const useToast = () => useContext(ToastContext);

/** The same for why something was refused that no place of the page asked for. */
export function useErrorToast(): (cause: unknown) => void {
  const say = useToast();
  const { describeError } = useFaultWords();
  return (cause) => say(describeError(readableError(cause)).join(' '), 'bad');
}

/** Does what a click asks for, and says in a corner why it was refused. */
export function useAttempt(): (work: () => Promise<void>) => Promise<void> {
  const sayError = useErrorToast();
  return async (work) => {
    try {
      await work();
    } catch (cause) {
      sayError(cause);
    }
  };
}

export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const say = useCallback((text: string, tone: Tone = 'good') => {
    const id = performance.now();
    setToasts((current) => [...current.slice(-3), { id, tone, text }]);
    setTimeout(() => setToasts((current) => current.filter((toast) => toast.id !== id)), shownMs);
  }, []);
  return (
    <ToastContext value={say}>
      {children}
      <div className={styles.toasts} aria-live="polite">
        {toasts.map(({ id, tone, text }) => (
          <div key={id} className={styles.toast}>
            <Note tone={tone}>{text}</Note>
          </div>
        ))}
      </div>
    </ToastContext>
  );
}
