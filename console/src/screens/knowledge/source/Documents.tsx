import { FileText } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useList } from '../../../graphql/hooks.ts';
import { useReadingFailures } from '../../../parts/reading-failures.ts';
import { useText } from '../../../text/text.ts';
import { Badge, ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { SearchInput, Select } from '../../../ui/form/field.tsx';
import { Table, Toolbar } from '../../../ui/page.tsx';
import { Time } from '../../../ui/small.tsx';
import { useDelayed } from '../../../ui/use-delayed.ts';
import { type IndexStatus, type ItemEntryFragment, SourceItemsDocument } from '../documents.ts';
import knowledge from '../knowledge.module.css';
import { useWords } from '../words.ts';
import { ItemDialog } from './ItemDialog.tsx';
import styles from './source.module.css';
import type { Source } from './source.ts';
import { useChanges } from './use-changes.ts';

const groups: Readonly<Record<'ready' | 'busy' | 'failed' | 'skipped', readonly IndexStatus[]>> = {
  ready: ['INDEXED'],
  busy: ['INITIALIZED', 'QUEUED', 'FETCHING', 'PARSING', 'INDEXING'],
  failed: ['FAILED', 'CANCELLED'],
  skipped: ['SKIPPED'],
};
type Group = keyof typeof groups;

/** The documents of a source, each with the text that was read out of it. */
export function Documents({ source }: { readonly source: Source }) {
  const { t } = useText();
  const { id } = source;
  const [typed, setTyped] = useState('');
  const [group, setGroup] = useState<Group | ''>('');
  const [openId, setOpenId] = useState<string>();
  const search = useDelayed(typed.trim());
  const variables = { id, search: search === '' ? null : search, status: group === '' ? null : [...groups[group]] };
  const { data, error, isLoading, reload, pages, isEmpty } = useList(
    SourceItemsDocument,
    variables,
    (data) => data.dataSource?.items,
  );
  const changes = useChanges(source);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another count is the reason to load it again
  useEffect(() => {
    if (data !== undefined) reload();
  }, [changes]);
  const open = pages.nodes.find((item) => item.id === openId);
  return (
    <>
      <Toolbar>
        <SearchInput label={t('Search by name')} value={typed} onChange={setTyped} />
        <Select aria-label={t('State')} value={group} onChange={({ target }) => setGroup(target.value as Group | '')}>
          <option value="">{t('All states')}</option>
          <option value="ready">{t('Ready')}</option>
          <option value="busy">{t('Being read')}</option>
          <option value="failed">{t('Failed or stopped')}</option>
          <option value="skipped">{t('Left out')}</option>
        </Select>
      </Toolbar>
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={6} /> : null}
      {isEmpty ? (
        <p className={styles.quiet}>{search === '' && group === '' ? t('No documents yet') : t('No matching documents.')}</p>
      ) : null}
      {pages.nodes.length === 0 ? null : (
        <Table label={t('Documents')}>
          <thead>
            <tr>
              <th scope="col">{t('Name')}</th>
              <th scope="col">{t('State')}</th>
              <th scope="col" className={knowledge.number}>
                {t('Passages')}
              </th>
              <th scope="col" className={knowledge.number}>
                {t('Tokens')}
              </th>
              <th scope="col">{t('Last read')}</th>
            </tr>
          </thead>
          <tbody>
            {pages.nodes.map((item) => (
              <ItemRow key={item.id} item={item} onOpen={() => setOpenId(item.id)} />
            ))}
          </tbody>
        </Table>
      )}
      <ShowMore pages={pages} />
      <ItemDialog item={open} canEdit={source.canEdit} onClose={() => setOpenId(undefined)} />
    </>
  );
}

function ItemRow({ item, onOpen }: { readonly item: ItemEntryFragment; readonly onOpen: () => void }) {
  const { number } = useText();
  const { states } = useWords();
  const { label, tone } = states[item.indexStatus];
  const failure = useReadingFailures()(item);
  return (
    <tr>
      <th scope="row">
        <button type="button" className={styles.itemName} onClick={onOpen}>
          <FileText size={16} aria-hidden />
          <span>{item.name}</span>
        </button>
      </th>
      <td>
        <Badge tone={tone}>{label}</Badge>
        {failure === undefined ? null : <small className={knowledge.note}>{failure}</small>}
      </td>
      <td className={knowledge.number}>{number(item.passageCount)}</td>
      <td className={knowledge.number}>{number(item.tokenCount)}</td>
      <td className={knowledge.nowrap}>{item.indexedAt === null ? '' : <Time at={item.indexedAt} />}</td>
    </tr>
  );
}
