import { useText } from '../../../text/text.ts';
import { useFaultWords } from '../../../ui/form/faults/words.ts';
import { useToast } from '../../../ui/overlay/toasts.tsx';
import type { ChatResultFragment } from './documents.ts';

/** Says what became of several chats: how many changed, and why others did not. */
export function useResults(): (results: readonly ChatResultFragment[], done: (count: number) => string) => void {
  const { t } = useText();
  const say = useToast();
  const { describeFault } = useFaultWords();
  return (results, done) => {
    const refused = results.flatMap(({ error }) => (error === null ? [] : [describeFault(error)]));
    const count = results.length - refused.length;
    if (count > 0) say(done(count));
    if (refused.length === 0) return;
    const reasons = [...new Set(refused)].slice(0, 3).join(' ');
    say(t('{count, plural, one {# chat} other {# chats}} did not change: {reasons}', { count: refused.length, reasons }), 'bad');
  };
}
