import { ErrorNote } from '../../../ui/feedback.tsx';
import type { RunStore } from '../run/run-store.ts';
import type { RunView } from '../run/run-view.ts';

/** Says that the events of a run cannot be followed, and follows them again when asked to. */
export function RunProblem({ store, view }: { readonly store: RunStore | undefined; readonly view: RunView | undefined }) {
  if (store === undefined || view?.error === undefined || view.ended !== undefined) return null;
  return <ErrorNote error={view.error} onRetry={() => store.retry()} />;
}
