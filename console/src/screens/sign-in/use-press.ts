import { useState } from 'react';
import { readableError } from '../../graphql/client.ts';
import { useFaultWords } from '../../ui/form/faults/words.ts';

/** The work of a button: it waits, and a refusal is told. One button of the page is pressed at a time. */
export interface Press {
  readonly press: (work: () => Promise<void>) => Promise<void>;
  readonly isBusy: boolean;
  /** Why the last work failed; empty when it did not. */
  readonly problem: string;
}

export function usePress(): Press {
  const { describeError } = useFaultWords();
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const press = async (work: () => Promise<void>) => {
    setProblem('');
    setBusy(true);
    try {
      await work();
    } catch (error) {
      setProblem(describeError(readableError(error)).join(' '));
    } finally {
      setBusy(false);
    }
  };
  return { press, isBusy, problem };
}
