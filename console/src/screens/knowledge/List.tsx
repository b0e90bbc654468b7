import { BookPlus, Library, Plus } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useList, useLive } from '../../graphql/hooks.ts';
import { Readings } from '../../graphql/readings.ts';
import { useSession } from '../../parts/session/session.tsx';
import { useText } from '../../text/text.ts';
import { EmptyState, ErrorNote, ShowMore, Skeleton } from '../../ui/feedback.tsx';
import { Button } from '../../ui/form/button.tsx';
import { SearchInput, Select } from '../../ui/form/field.tsx';
import { Page, Toolbar } from '../../ui/page.tsx';
import { useDelayed } from '../../ui/use-delayed.ts';
import { AddDialog } from './add/AddDialog.tsx';
import { DropArea } from './add/DropArea.tsx';
import type { NamedFile } from './add/dropped.ts';
import { UploadStrip } from './add/UploadStrip.tsx';
import {
  type DataSourceState,
  type DataSourceType,
  type SourceEntryFragment,
  SourceListChangesDocument,
  SourceListDocument,
} from './documents.ts';
import { kinds } from './kinds.ts';
import styles from './knowledge.module.css';
import { SourceTable } from './SourceTable.tsx';
import { useStateNews } from './source/use-state-news.ts';
import { KnowledgeTabs } from './Tabs.tsx';
import { useWords } from './words.ts';

/** All knowledge that the reader may see, and the ways to add some. */
export function SourceListScreen() {
  const { t } = useText();
  const { may } = useSession();
  const mayAdd = may('DATA_SOURCES_WRITE');
  const [, go] = useLocation();
  const address = new URLSearchParams(useSearch());
  const [files, setFiles] = useState<readonly NamedFile[]>([]);
  const [isEmpty, setEmpty] = useState(false);
  const isAdding = mayAdd && (address.has('new') || files.length > 0);
  const close = () => {
    setFiles([]);
    if (address.has('new')) go('/knowledge', { replace: true });
  };
  return (
    <DropArea isDisabled={!mayAdd || isAdding} onFiles={setFiles}>
      <Page
        title={t('Knowledge')}
        lead={t('What agents answer from: files, web sites, and what you have in other services.')}
        actions={
          mayAdd && !isEmpty ? (
            <Button variant="primary" icon={<Plus size={17} aria-hidden />} onClick={() => go('/knowledge?new')}>
              {t('Add knowledge')}
            </Button>
          ) : undefined
        }
      >
        <KnowledgeTabs current="/knowledge" />
        <UploadStrip />
        <Sources mayAdd={mayAdd} onEmpty={setEmpty} />
      </Page>
      {isAdding ? <AddDialog files={files} agentId={address.get('agent') ?? undefined} onClose={close} /> : null}
    </DropArea>
  );
}

type Order = 'CREATED_AT' | 'LAST_INDEXED_AT' | 'USAGE_COUNT';

function Sources({ mayAdd, onEmpty }: { readonly mayAdd: boolean; readonly onEmpty: (isEmpty: boolean) => void }) {
  const { t } = useText();
  const [, go] = useLocation();
  const { nameKind } = useWords();
  const [typed, setTyped] = useState('');
  const [type, setType] = useState<DataSourceType | ''>('');
  const [state, setState] = useState<DataSourceState | ''>('');
  const [orderBy, setOrderBy] = useState<Order>('CREATED_AT');
  const search = useDelayed(typed.trim());
  const variables = {
    search: search === '' ? null : search,
    type: type === '' ? null : type,
    state: state === '' ? null : state,
    orderBy,
  };
  const { data, error, isLoading, reload, pages } = useList(SourceListDocument, variables, (data) => data.dataSources);
  const sources = useLiveSources(pages.nodes, reload);
  useStateNews(sources);
  const isNarrowed = search !== '' || type !== '' || state !== '';
  const isEmpty = data !== undefined && sources.length === 0 && !isNarrowed;
  useEffect(() => onEmpty(isEmpty), [isEmpty, onEmpty]);
  if (isEmpty) return <NoSources mayAdd={mayAdd} onAdd={() => go('/knowledge?new')} />;
  return (
    <>
      <Toolbar>
        <SearchInput label={t('Search by name')} value={typed} onChange={setTyped} />
        <Select aria-label={t('Kind')} value={type} onChange={({ target }) => setType(target.value as DataSourceType | '')}>
          <option value="">{t('All kinds')}</option>
          {(Object.keys(kinds) as DataSourceType[]).map((kind) => (
            <option key={kind} value={kind}>
              {nameKind(kind)}
            </option>
          ))}
        </Select>
        <Select aria-label={t('State')} value={state} onChange={({ target }) => setState(target.value as DataSourceState | '')}>
          <option value="">{t('All states')}</option>
          <option value="READY">{t('Ready')}</option>
          <option value="READING">{t('Being read')}</option>
          <option value="FAILING">{t('With failures')}</option>
        </Select>
        <Select aria-label={t('Order')} value={orderBy} onChange={({ target }) => setOrderBy(target.value as Order)}>
          <option value="CREATED_AT">{t('Newest first')}</option>
          <option value="LAST_INDEXED_AT">{t('Read last first')}</option>
          <option value="USAGE_COUNT">{t('Most used first')}</option>
        </Select>
      </Toolbar>
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={6} /> : null}
      {sources.length > 0 ? <SourceTable sources={sources} /> : null}
      {data !== undefined && sources.length === 0 ? <p className={styles.quiet}>{t('No matching sources.')}</p> : null}
      <ShowMore pages={pages} />
    </>
  );
}

function NoSources({ mayAdd, onAdd }: { readonly mayAdd: boolean; readonly onAdd: () => void }) {
  const { t } = useText();
  return (
    <EmptyState
      icon={<Library size={26} aria-hidden />}
      title={t('Agents answer from what you give them')}
      action={
        mayAdd ? (
          <Button variant="primary" icon={<BookPlus size={17} aria-hidden />} onClick={onAdd}>
            {t('Add knowledge')}
          </Button>
        ) : undefined
      }
    >
      {mayAdd
        ? t('Drop files or a folder here, or give the address of a web site. Answers then cite the passage they come from.')
        : t('Nothing is shared with you yet. Ask an administrator of your organization.')}
    </EmptyState>
  );
}

/** The sources of the pages, each as it was told last. New and deleted ones have the list loaded again. */
function useLiveSources<Source extends SourceEntryFragment>(nodes: readonly Source[], reload: () => void): readonly Source[] {
  const [readings] = useState(() => new Readings());
  const [told, setTold] = useState<ReadonlyMap<string, SourceEntryFragment>>(new Map());
  const [changes, setChanges] = useState(0);
  useEffect(() => {
    if (changes === 0) return;
    const timer = setTimeout(reload, 300);
    return () => clearTimeout(timer);
  }, [changes, reload]);
  useLive(
    SourceListChangesDocument,
    {},
    ({ dataSourcesChanged: { kind, id, node } }) => {
      if (kind === 'UPDATED' && node !== null && nodes.some((item) => item.id === id)) {
        readings.note(id);
        setTold((before) => new Map(before).set(id, node));
      } else setChanges((count) => count + 1);
    },
    { onBegin: () => setChanges((count) => count + 1) },
  );
  return useMemo(
    () =>
      nodes.map((source) => {
        const update = told.get(source.id);
        return update !== undefined && readings.find(source).isOvertaken(source.id) ? { ...source, ...update } : source;
      }),
    [nodes, told, readings],
  );
}
