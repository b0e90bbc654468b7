import { Bot, Library, MessageSquare, Plus } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { usePage } from '../graphql/hooks.ts';
import { type Session, useSession } from '../parts/session/session.tsx';
import { useText } from '../text/text.ts';
import { ErrorNote } from '../ui/feedback.tsx';
import { isOfInputMethod } from '../ui/form/keys.ts';
import { useDelayed } from '../ui/use-delayed.ts';
import { PaletteSearchDocument, type PaletteSearchQuery, type SearchKind } from './documents.ts';
import styles from './Palette.module.css';
import { places } from './places.ts';

interface Entry {
  readonly id: string;
  readonly title: string;
  readonly note?: string | undefined;
  readonly icon: ReactNode;
  readonly href: string;
}

/** Whether the palette is open; Ctrl K and ⌘ K open and close it. */
export function usePalette() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      event.preventDefault();
      setOpen((open) => !open);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return { isOpen, open: () => setOpen(true), close: () => setOpen(false) };
}

/** Goes anywhere, and searches agents, chats, messages and sources, from the keyboard. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const { t } = useText();
  const session = useSession();
  const [, go] = useLocation();
  const dialog = useRef<HTMLDialogElement>(null);
  const listId = useId();
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(0);
  const query = useDelayed(typed.trim());
  const { data, error } = usePage(PaletteSearchDocument, { query }, { pause: query === '' });
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // Before it goes: only closing returns the focus.
    return () => element?.close();
  }, []);
  const own = listEntries(session, t).filter(({ title }) => title.toLowerCase().includes(typed.trim().toLowerCase()));
  const entries = [...own, ...(query === '' || typed.trim() === '' ? [] : listResults(data))];
  const current = entries[Math.min(chosen, entries.length - 1)];
  const open = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    onClose();
    go(entry.href);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isOfInputMethod(event)) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setChosen((Math.min(chosen, entries.length - 1) + step + entries.length) % Math.max(entries.length, 1));
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      open(current);
    }
  };
  return (
    <dialog
      ref={dialog}
      className={styles.palette}
      aria-label={t('Search and go')}
      onClose={onClose}
      onMouseDown={(event) => event.target === dialog.current && onClose()}
    >
      <input
        type="text"
        role="combobox"
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={current === undefined ? undefined : `${listId}-${current.id}`}
        aria-label={t('Search agents, chats, messages and knowledge, or go to a place')}
        placeholder={t('Search, or go to a place')}
        maxLength={200}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ErrorNote error={error} />
      <div role="listbox" id={listId} aria-label={t('Results')} className={styles.list}>
        {entries.map((entry) => (
          <EntryOption
            key={entry.id}
            id={`${listId}-${entry.id}`}
            entry={entry}
            isCurrent={entry === current}
            onPoint={() => setChosen(entries.indexOf(entry))}
            onOpen={() => open(entry)}
          />
        ))}
      </div>
      {entries.length === 0 ? <p className={styles.nothing}>{t('Nothing found')}</p> : null}
    </dialog>
  );
}

function EntryOption({
  id,
  entry,
  isCurrent,
  onPoint,
  onOpen,
}: {
  readonly id: string;
  readonly entry: Entry;
  readonly isCurrent: boolean;
  readonly onPoint: () => void;
  readonly onOpen: () => void;
}) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the text field
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isCurrent}
      className={styles.entry}
      ref={(node) => {
        if (isCurrent) node?.scrollIntoView({ block: 'nearest' });
      }}
      onMouseMove={onPoint}
      onClick={onOpen}
    >
      {entry.icon}
      <span className={styles.title}>{entry.title}</span>
      {entry.note === undefined ? null : <span className={styles.note}>{entry.note}</span>}
    </div>
  );
}

function listEntries(session: Session, t: (message: string) => string): readonly Entry[] {
  const plus = <Plus size={17} aria-hidden />;
  const acts: readonly (Entry | undefined)[] = [
    { id: 'new-chat', title: t('New chat'), icon: plus, href: '/' },
    session.may('AGENTS_WRITE') ? { id: 'new-agent', title: t('New agent'), icon: plus, href: '/agents?new' } : undefined,
    session.may('DATA_SOURCES_WRITE')
      ? { id: 'add-knowledge', title: t('Add knowledge'), icon: plus, href: '/knowledge?new' }
      : undefined,
    session.may('API_KEYS_WRITE') && session.viewer.role !== 'AUDITOR'
      ? { id: 'new-key', title: t('New key'), icon: plus, href: '/account/keys?new' }
      : undefined,
    session.may('ADMIN_WRITE') ? { id: 'invite', title: t('Invite'), icon: plus, href: '/people?new' } : undefined,
  ];
  const goes = places
    .filter(({ isFor }) => isFor?.(session) ?? true)
    .map((place) => ({
      id: `place${place.href.replaceAll('/', '-')}`,
      title: t(place.label),
      icon: <place.icon size={17} aria-hidden />,
      href: place.href,
    }));
  const more = [
    { id: 'account', title: t('Your account'), href: '/account' },
    { id: 'projects', title: t('Projects'), href: '/projects' },
    { id: 'library', title: t('All chats'), href: '/library' },
    { id: 'archive', title: t('Archive'), href: '/library/archive' },
    { id: 'bin', title: t('Bin'), href: '/library/bin' },
    { id: 'keys', title: t('Your keys'), href: '/account/keys' },
    { id: 'memories', title: t('Memories'), href: '/account/memories' },
    { id: 'shares', title: t('Shared chats'), href: '/account/shares' },
    { id: 'prompts', title: t('Prompts'), href: '/account/prompts' },
    { id: 'imports', title: t('Import chats'), href: '/account/imports' },
    { id: 'connections', title: t('Your connections'), href: '/account/connections' },
    { id: 'grants', title: t('Granted to agents'), href: '/account/connections' },
    { id: 'schedules', title: t('Your schedules'), href: '/account/schedules' },
    ...(session.may('ADMIN_READ') ? listAdministration(t) : []),
    ...(session.isOperator ? [{ id: 'installation', title: t('Installation'), href: '/administration/installation' }] : []),
  ].map((entry) => ({ ...entry, icon: <Plus size={17} aria-hidden visibility="hidden" /> }));
  return [...acts.filter((entry) => entry !== undefined), ...goes, ...more];
}

function listAdministration(t: (message: string) => string) {
  return [
    { id: 'audit', title: t('Audit log'), href: '/administration/audit' },
    { id: 'data', title: t('Data'), href: '/administration/data' },
    { id: 'budgets', title: t('Budgets'), href: '/administration/budgets' },
    { id: 'guard', title: t('Guard'), href: '/administration/guard' },
    { id: 'documents', title: t('Saved documents'), href: '/administration/documents' },
    { id: 'mcp-clients', title: t('MCP clients'), href: '/administration/mcp-clients' },
    { id: 'webhooks', title: t('Webhooks'), href: '/administration/webhooks' },
  ];
}

const kindIcons: Readonly<Record<SearchKind, typeof Bot>> = {
  AGENT: Bot,
  CHAT: MessageSquare,
  MESSAGE: MessageSquare,
  SOURCE: Library,
};

function listResults(data: PaletteSearchQuery | undefined): readonly Entry[] {
  return (data?.search ?? []).flatMap(({ kind, title, snippet, node }) => {
    // Deleted meanwhile.
    if (node === null) return [];
    const Icon = kindIcons[kind];
    const name = title ?? snippet ?? '';
    return [{ id: node.id, title: name, note: snippet ?? undefined, icon: <Icon size={17} aria-hidden />, href: getHref(node) }];
  });
}

function getHref(node: NonNullable<PaletteSearchQuery['search'][number]['node']>): string {
  if (node.__typename === 'Agent') return `/agents/${node.id}`;
  if (node.__typename === 'DataSource') return `/knowledge/${node.id}`;
  if (node.__typename === 'Message') return node.chat === null ? '/' : `/chats/${node.chat.id}?message=${node.id}`;
  return `/chats/${node.id}`;
}
