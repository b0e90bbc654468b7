import { Link } from 'wouter';
import { useText } from '../../../text/text.ts';
import { ErrorNote, Note } from '../../../ui/feedback.tsx';
import type { RunStore } from '../run/run-store.ts';
import type { RunView } from '../run/run-view.ts';

/** Says that the events of a run cannot be followed, and follows them again when asked to. */
export function RunProblem({ store, view }: { readonly store: RunStore | undefined; readonly view: RunView | undefined }) {
  if (store === undefined || view?.error === undefined || view.ended !== undefined) return null;
  return <ErrorNote error={view.error} onRetry={() => store.retry()} />;
}

const connections = '/account/connections';

/** Says that an answer was made without the tools of an MCP server, and leads to the connections when the reader has to sign in there. */
export function MissingTools({ view }: { readonly view: RunView | undefined }) {
  const { t } = useText();
  const warnings = view?.ended?.warnings.filter(({ code }) => code === 'mcp_unavailable') ?? [];
  if (warnings.length === 0) return null;
  const needsSignIn = warnings.some(({ message }) => message.includes(connections));
  return (
    <Note tone="warn">
      {needsSignIn
        ? t('An MCP server wants you to sign in before its tools can be used.')
        : t('The tools of an MCP server could not be used for this answer.')}{' '}
      {needsSignIn ? <Link href={connections}>{t('Your connections')}</Link> : null}
    </Note>
  );
}
