import { Link } from 'wouter';
import { useText } from '../../text/text.ts';
import { Table } from '../../ui/page.tsx';
import { Avatar, Time } from '../../ui/small.tsx';
import type { SourceListQuery } from './documents.ts';
import { kinds } from './kinds.ts';
import styles from './knowledge.module.css';
import { StateBadge } from './StateBadge.tsx';
import { useWords } from './words.ts';

type Source = SourceListQuery['dataSources']['nodes'][number];

export function SourceTable({ sources }: { readonly sources: readonly Source[] }) {
  const { t } = useText();
  return (
    <Table label={t('Sources')}>
      <thead>
        <tr>
          <th scope="col">{t('Name')}</th>
          <th scope="col">{t('State')}</th>
          <th scope="col" className={styles.number}>
            {t('Documents')}
          </th>
          <th scope="col">{t('Agents')}</th>
          <th scope="col">{t('Owner')}</th>
          <th scope="col">{t('Last read')}</th>
        </tr>
      </thead>
      <tbody>
        {sources.map((source) => (
          <SourceRow key={source.id} source={source} />
        ))}
      </tbody>
    </Table>
  );
}

function SourceRow({ source }: { readonly source: Source }) {
  const { t, number } = useText();
  const { nameKind, periods } = useWords();
  const { id, name, type, refreshPeriod, statistics, agents, usageCount, owner, lastIndexedAt } = source;
  const agentNodes = agents.nodes;
  const Icon = kinds[type].icon;
  return (
    <tr>
      <th scope="row">
        <div className={styles.name}>
          <span className={styles.kind}>
            <Icon size={18} aria-hidden />
          </span>
          <div>
            <Link href={`/knowledge/${id}`}>{name}</Link>
            <small>{refreshPeriod === 'NEVER' ? nameKind(type) : `${nameKind(type)} · ${periods[refreshPeriod]}`}</small>
          </div>
        </div>
      </th>
      <td>
        <StateBadge source={source} />
      </td>
      <td className={styles.number}>
        {number(statistics.totalCount)}
        {statistics.failedCount > 0 ? (
          <small className={styles.failed}>{t('{count} failed', { count: statistics.failedCount })}</small>
        ) : null}
      </td>
      <td>
        {usageCount === 0 ? (
          <span className={styles.quiet}>{t('None')}</span>
        ) : (
          <span className={styles.agents} title={agentNodes.map((agent) => agent.name).join(', ')}>
            {agentNodes.map((agent) => (
              <Avatar key={agent.id} name={agent.name} pictureUrl={agent.pictureUrl} size={20} />
            ))}
            <span>{agentNodes.length === 1 && usageCount === 1 ? agentNodes[0]?.name : number(usageCount)}</span>
          </span>
        )}
      </td>
      <td>{owner?.name ?? <span className={styles.quiet}>{t('Gone')}</span>}</td>
      <td className={styles.nowrap}>
        {lastIndexedAt === null ? <span className={styles.quiet}>{t('Not yet')}</span> : <Time at={lastIndexedAt} />}
      </td>
    </tr>
  );
}
