import { ErrorNote, Skeleton } from '../../../../ui/feedback.tsx';
import styles from '../editor.module.css';
import { useParts } from '../parts/use-parts.ts';
import type { SectionProps } from '../section.ts';
import { AgentToolsDocument, type OwnToolFragment } from './documents.ts';
import { OwnTools } from './OwnTools.tsx';
import { StandingTools } from './StandingTools.tsx';

/** The tools of the service that the agent may use, and those of its own. */
export function Tools(props: SectionProps) {
  const { agent, form } = props;
  const parts = useParts(AgentToolsDocument, props, {
    pick: (result) => result.agent?.tools ?? [],
    list: 'tools',
    partName: ({ name }: OwnToolFragment) => name,
  });
  const { data, error, isLoading, reload } = parts;
  return (
    <div className={styles.fields}>
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={6} /> : null}
      {data === undefined ? null : (
        <>
          <StandingTools form={form} services={data.tools} agentId={agent.id} />
          <OwnTools agentId={agent.id} parts={parts} secrets={data.agent?.secrets ?? []} isReadOnly={form.isReadOnly} />
        </>
      )}
    </div>
  );
}
