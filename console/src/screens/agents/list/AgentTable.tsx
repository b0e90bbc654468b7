import { Link } from 'wouter';
import { useText } from '../../../text/text.ts';
import { Table } from '../../../ui/page.tsx';
import { Avatar, Time } from '../../../ui/small.tsx';
import { visibilityName } from '../words.ts';
import { AgentMenu } from './AgentMenu.tsx';
import type { AgentCardFragment, AgentFiguresFragment } from './documents.ts';
import styles from './list.module.css';

/** Agents as rows, with what the last 30 days took. */
export function AgentTable({
  agents,
  currency,
}: {
  readonly agents: readonly (AgentCardFragment & Partial<AgentFiguresFragment>)[];
  readonly currency: string;
}) {
  const { t, number } = useText();
  return (
    <Table label={t('Agents')}>
      <thead>
        <tr>
          <th scope="col">{t('Name')}</th>
          <th scope="col">{t('Who may use it')}</th>
          <th scope="col">{t('Model')}</th>
          <th scope="col" className={styles.number}>
            {t('Runs, 30 days')}
          </th>
          <th scope="col" className={styles.number}>
            {t('Failed')}
          </th>
          <th scope="col" className={styles.number}>
            {t('Cost')}
          </th>
          <th scope="col" className={styles.number}>
            {t('Liked')}
          </th>
          <th scope="col">{t('Changed')}</th>
          <th scope="col">
            <span className="visually-hidden">{t('Acts')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {agents.map((agent) => {
          const figures = agent.runFigures;
          const rated = agent.feedback === undefined ? 0 : agent.feedback.up + agent.feedback.down;
          return (
            <tr key={agent.id}>
              <th scope="row">
                <span className={styles.rowName}>
                  <Avatar name={agent.name} pictureUrl={agent.pictureUrl} />
                  <span>
                    <Link href={`/agents/${agent.id}`}>{agent.name}</Link>
                    <small>{agent.owner?.name ?? t('A former member')}</small>
                  </span>
                </span>
              </th>
              <td>{visibilityName(t, agent.visibility)}</td>
              <td className={styles.model}>{agent.model?.id ?? t('Not available')}</td>
              <td className={styles.number}>{figures == null ? '–' : number(figures.runCount)}</td>
              <td className={styles.number}>{figures == null ? '–' : number(figures.failedCount)}</td>
              <td className={styles.number}>
                {figures?.cost == null ? '–' : number(figures.cost, { style: 'currency', currency })}
              </td>
              <td className={styles.number}>
                {rated === 0 ? '–' : number((agent.feedback?.up ?? 0) / rated, { style: 'percent' })}
              </td>
              <td>
                <Time at={agent.updatedAt} />
              </td>
              <td>
                <AgentMenu agent={agent} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </Table>
  );
}
