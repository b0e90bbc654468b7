import { BookOpen, Keyboard, LogOut, Menu as MenuIcon, Moon, Search, UserRound } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Link, useLocation } from 'wouter';
import { live } from '../graphql/live/live.ts';
import { signOut, useSession } from '../parts/session/session.tsx';
import { chooseLanguage, type Language, languages, useText } from '../text/text.ts';
import { IconButton } from '../ui/form/button.tsx';
import { Announcer } from '../ui/overlay/announcer.tsx';
import { useFocusKept } from '../ui/overlay/focus.ts';
import { Menu } from '../ui/overlay/menu.tsx';
import { Avatar } from '../ui/small.tsx';
import { chooseTheme, chosenTheme, themes } from '../ui/theme.ts';
import { Notifier } from './Notifier.tsx';
import { Palette, usePalette } from './Palette.tsx';
import { findPlace, places } from './places.ts';
import styles from './Shell.module.css';
import { useShortcuts } from './use-shortcuts.ts';
import { WayBackNote } from './WayBackNote.tsx';

const Shortcuts = lazy(() => import('./Shortcuts.tsx').then(({ Shortcuts: list }) => ({ default: list })));

/** What surrounds every screen: the navigation, the search, who is signed in, and whether events arrive. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const { t } = useText();
  const palette = usePalette();
  const shortcuts = useShortcuts();
  const [isNavOpen, setNavOpen] = useState(false);
  const content = useFocusAtArrival();
  useFocusKept(content);
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#content">
        {t('Skip to the content')}
      </a>
      <header className={styles.bar}>
        <IconButton label={t('Menu')} aria-expanded={isNavOpen} onClick={() => setNavOpen(!isNavOpen)}>
          <MenuIcon size={20} aria-hidden />
        </IconButton>
        <Link href="/" className={styles.brand}>
          Parley
        </Link>
        <IconButton label={t('Search')} onClick={palette.open}>
          <Search size={18} aria-hidden />
        </IconButton>
      </header>
      <section className={styles.rail} aria-label="Parley" data-open={isNavOpen} onClickCapture={() => setNavOpen(false)}>
        <Navigation onSearch={palette.open} onShortcuts={shortcuts.open} />
      </section>
      <main ref={content} id="content" className={styles.content} tabIndex={-1}>
        <ConnectionNote />
        <WayBackNote />
        {children}
      </main>
      <Announcer />
      <Notifier />
      <Suspense fallback={null}>{shortcuts.isOpen ? <Shortcuts onClose={shortcuts.close} /> : null}</Suspense>
      {palette.isOpen ? <Palette onClose={palette.close} /> : null}
    </div>
  );
}

/** Where the focus was in a screen that is gone, it goes to the one that came: the keyboard does not begin at the top again. */
function useFocusAtArrival() {
  const content = useRef<HTMLElement>(null);
  const [path] = useLocation();
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    const focused = document.activeElement;
    // While the code of a screen is loaded, the screen before it is hidden, not gone.
    const isLost = focused === null || focused === document.body || !focused.checkVisibility();
    if (isLost) content.current?.focus({ preventScroll: true });
  }, [path]);
  return content;
}

function Navigation({ onSearch, onShortcuts }: { readonly onSearch: () => void; readonly onShortcuts: () => void }) {
  const { t } = useText();
  const session = useSession();
  const [path] = useLocation();
  const current = findPlace(path);
  const isMac = /mac|iphone|ipad/i.test(navigator.userAgent);
  return (
    <>
      <Link href="/" className={styles.brand} aria-label="Parley">
        <img src="/favicon.svg" alt="" width={24} height={24} />
        <span>Parley</span>
      </Link>
      <button
        type="button"
        className={styles.search}
        onClick={onSearch}
        title={t('Search')}
        aria-label={t('Search')}
        aria-keyshortcuts="Control+K Meta+K"
      >
        <Search size={18} aria-hidden />
        <span>{t('Search')}</span>
        <kbd>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <nav aria-label={t('Places')} className={styles.places}>
        {places
          .filter(({ isFor }) => isFor?.(session) ?? true)
          .map((place) => (
            <Link
              key={place.href}
              href={place.href}
              className={styles.place}
              title={t(place.label)}
              aria-current={place === current ? 'page' : undefined}
            >
              <place.icon size={19} aria-hidden />
              <span>{t(place.label)}</span>
            </Link>
          ))}
      </nav>
      <PersonMenu onShortcuts={onShortcuts} />
    </>
  );
}

function PersonMenu({ onShortcuts }: { readonly onShortcuts: () => void }) {
  const { t, language } = useText();
  const { viewer } = useSession();
  const [, go] = useLocation();
  const [chosen, setChosen] = useState(chosenTheme);
  const nameOfTheme = { system: t('Colors of the device'), light: t('Light colors'), dark: t('Dark colors') };
  return (
    <Menu
      label={t('You')}
      align="start"
      items={[
        { label: t('Your account'), icon: <UserRound size={16} aria-hidden />, onSelect: () => go('/account') },
        { label: t('Keyboard shortcuts'), icon: <Keyboard size={16} aria-hidden />, onSelect: onShortcuts },
        { label: t('Manual'), icon: <BookOpen size={16} aria-hidden />, onSelect: () => location.assign('/manual') },
        'separator',
        ...themes.map((theme) => ({
          label: nameOfTheme[theme],
          icon: <Moon size={16} aria-hidden />,
          isChosen: theme === chosen,
          onSelect: () => {
            chooseTheme(theme);
            setChosen(theme);
          },
        })),
        'separator',
        ...(Object.keys(languages) as Language[]).map((each) => ({
          label: languages[each],
          isChosen: each === language,
          onSelect: () => void chooseLanguage(each),
        })),
        'separator',
        { label: t('Sign out'), icon: <LogOut size={16} aria-hidden />, onSelect: () => void signOut() },
      ]}
    >
      <button type="button" className={styles.person}>
        <Avatar name={viewer.user.name} />
        <span className={styles.personName}>
          <span className="visually-hidden">{t('You')}: </span>
          {viewer.user.name} <small>{viewer.organization.name}</small>
        </span>
      </button>
    </Menu>
  );
}

/** Says that events do not arrive, and goes by itself. */
function ConnectionNote() {
  const { t } = useText();
  const state = useSyncExternalStore(live.onState, () => live.state);
  if (state !== 'broken') return null;
  return (
    <p className={styles.broken} role="status">
      {t('The connection is lost. Parley tries again by itself; nothing that was answered is lost.')}
    </p>
  );
}
