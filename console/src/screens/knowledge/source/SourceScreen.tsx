import { LibraryBig } from 'lucide-react';
import { useCallback, useState } from 'react';
import { Link } from 'wouter';
import { useLive, usePage } from '../../../graphql/hooks.ts';
import { Readings } from '../../../graphql/readings.ts';
import { useText } from '../../../text/text.ts';
import { EmptyState, ErrorNote, Note } from '../../../ui/feedback.tsx';
import { ButtonLink } from '../../../ui/form/button.tsx';
import { Page, PageSkeleton } from '../../../ui/page.tsx';
import { TabLinks } from '../../../ui/tabs.tsx';
import { UploadStrip } from '../add/UploadStrip.tsx';
import { SourceChangesDocument, SourcePageDocument, type SourceStateFragment } from '../documents.ts';
import { hasPermissions } from '../kinds.ts';
import { TryQuestion } from '../search/TryQuestion.tsx';
import { Documents } from './Documents.tsx';
import { History } from './History.tsx';
import { Overview } from './Overview.tsx';
import { Permissions } from './permissions/Permissions.tsx';
import { Settings } from './Settings.tsx';
import { SourceActions } from './SourceActions.tsx';
import styles from './source.module.css';
import type { Source } from './source.ts';
import { useStateNews } from './use-state-news.ts';

/** One source: how far it is, what is in it, what went wrong, and who answers from it. */
export function SourceScreen({ id, part }: { readonly id: string; readonly part: string }) {
  const { t } = useText();
  const { data, error, reload } = usePage(SourcePageDocument, { id });
  const [readings] = useState(() => new Readings());
  const [told, setTold] = useState<SourceStateFragment>();
  const [isGone, setGone] = useState(false);
  const begin = useCallback(() => setGone(false), []);
  const page = data?.dataSource ?? undefined;
  const take = (state: SourceStateFragment) => {
    readings.note(id);
    setTold(state);
  };
  useLive(SourceChangesDocument, { id }, ({ dataSourceUpdated }) => take(dataSourceUpdated), {
    pause: page === undefined,
    onBegin: begin,
    onComplete: () => setGone(true),
  });
  const source: Source | undefined =
    page === undefined || told?.id !== id || !readings.find(page).isOvertaken(id) ? page : { ...page, ...told };
  useStateNews(source === undefined ? [] : [source]);
  if (source === undefined || isGone) {
    if (error !== undefined && error.code !== 'NOT_FOUND') {
      return (
        <Page title={t('Knowledge')}>
          <ErrorNote error={error} onRetry={reload} />
        </Page>
      );
    }
    return data === undefined && error === undefined ? <PageSkeleton /> : <NotThere />;
  }
  const base = `/knowledge/${id}`;
  const parts = [
    { href: base, label: t('Overview') },
    { href: `${base}/documents`, label: t('Documents'), count: source.statistics.totalCount },
    { href: `${base}/try`, label: t('Try a question') },
    { href: `${base}/history`, label: t('History') },
    ...(source.canEdit && hasPermissions(source.type) ? [{ href: `${base}/permissions`, label: t('Permissions') }] : []),
    ...(source.canEdit ? [{ href: `${base}/settings`, label: t('Settings') }] : []),
  ];
  const address = `${base}/${part}`;
  return (
    <Page
      title={source.name}
      lead={
        <Link href="/knowledge" className={styles.back}>
          {t('All knowledge')}
        </Link>
      }
      actions={source.canEdit ? <SourceActions source={source} /> : undefined}
    >
      <TabLinks
        label={t('Parts of the source')}
        tabs={parts}
        current={parts.some(({ href }) => href === address) ? address : base}
      />
      <UploadStrip />
      {source.warnings.map(({ code, message }) => (
        <Note key={code} tone="warn">
          {message}
        </Note>
      ))}
      <Part part={part} source={source} reload={reload} />
    </Page>
  );
}

function Part({ part, source, reload }: { readonly part: string; readonly source: Source; readonly reload: () => void }) {
  if (part === 'documents') return <Documents source={source} />;
  if (part === 'try') return <TryQuestion place={{ dataSourceIds: [source.id] }} agents={source.agents.nodes} />;
  if (part === 'history') return <History source={source} />;
  if (part === 'permissions' && source.canEdit && hasPermissions(source.type))
    return <Permissions source={source} onChanged={reload} />;
  if (part === 'settings' && source.canEdit) return <Settings source={source} onChanged={reload} />;
  return <Overview source={source} onChanged={reload} />;
}

function NotThere() {
  const { t } = useText();
  return (
    <EmptyState
      icon={<LibraryBig size={26} aria-hidden />}
      isScreen
      title={t('There is no such source')}
      action={<ButtonLink href="/knowledge">{t('All knowledge')}</ButtonLink>}
    >
      {t('It is deleted, or it belongs to somebody who does not share it with you.')}
    </EmptyState>
  );
}
