import { Bot, ChartColumn, Library, MessageSquare, ShieldCheck, SquareActivity, Users } from 'lucide-react';
import type { Session } from '../parts/session/session.tsx';

/** A place of the console that the navigation leads to. */
export interface Place {
  readonly href: string;
  /** English; shown in the language of the reader. */
  readonly label: string;
  readonly icon: typeof Bot;
  /** Addresses that belong to it. */
  readonly prefixes: readonly string[];
  /** Who sees it; default: everybody. */
  readonly isFor?: (session: Session) => boolean;
}

export const places: readonly Place[] = [
  { href: '/', label: 'Chats', icon: MessageSquare, prefixes: ['/chats', '/library', '/projects', '/temporary'] },
  { href: '/agents', label: 'Agents', icon: Bot, prefixes: ['/agents'], isFor: ({ may }) => may('AGENTS_READ') },
  {
    href: '/knowledge',
    label: 'Knowledge',
    icon: Library,
    prefixes: ['/knowledge', '/documents'],
    isFor: ({ may }) => may('DATA_SOURCES_READ'),
  },
  { href: '/runs', label: 'Runs', icon: SquareActivity, prefixes: ['/runs'], isFor: ({ may }) => may('CHATS_READ') },
  { href: '/usage', label: 'Usage', icon: ChartColumn, prefixes: ['/usage'], isFor: ({ may }) => may('USAGE_READ') },
  {
    href: '/people',
    label: 'People',
    icon: Users,
    prefixes: ['/people'],
    isFor: ({ may }) => may('ADMIN_READ') || may('GROUPS_READ'),
  },
  {
    href: '/administration',
    label: 'Administration',
    icon: ShieldCheck,
    prefixes: ['/administration'],
    isFor: ({ may, isOperator }) => may('ADMIN_READ') || isOperator,
  },
];

export function findPlace(path: string): Place | undefined {
  return places.find(
    ({ href, prefixes }) => path === href || prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`)),
  );
}
