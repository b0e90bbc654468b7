import { usePage } from '../../../../graphql/hooks.ts';
import { ErrorNote, Skeleton } from '../../../../ui/feedback.tsx';
import styles from '../editor.module.css';
import type { SectionProps } from '../section.ts';
import { AgentToolsDocument } from './documents.ts';
import { OwnTools } from './OwnTools.tsx';
import { StandingTools } from './StandingTools.tsx';

/** The tools of the service that the agent may use, and those of its own. */
export function Tools({ agent, form, reload: reloadAgent }: SectionProps) {
  const { data, error, isLoading, reload: reloadParts } = usePage(AgentToolsDocument, { id: agent.id });
  const reload = () => {
    reloadParts();
    // The editor counts them.
    reloadAgent();
  };
  return (
    <div className={styles.fields}>
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={6} /> : null}
      {data === undefined ? null : (
        <>
          <StandingTools form={form} services={data.tools} agentId={agent.id} />
          <OwnTools
            agentId={agent.id}
            tools={data.agent?.tools ?? []}
            secrets={data.agent?.secrets ?? []}
            isReadOnly={form.isReadOnly}
            onChanged={reload}
          />
        </>
      )}
    </div>
  );
}
