import { ParleyError } from '@parley/client';
import { run } from '../../graphql/client.ts';
import type { Text } from '../../text/text.ts';
import { SharedChatDocument, type SharedChatMessageFragment, type SharedChatViewFragment } from './documents.ts';

/** A shared chat as the page shows it, with as many messages as were loaded. */
export interface SharedView extends Omit<SharedChatViewFragment, 'messages'> {
  readonly messages: readonly SharedChatMessageFragment[];
  /** Where the next page begins; null at the end. */
  readonly next: string | number | null;
}

/** Whether this browser has a session. */
export async function isSignedIn(): Promise<boolean> {
  const reply = await fetch('/sign-in/session', { cache: 'no-store' });
  return ((await reply.json()) as { readonly isSignedIn?: boolean }).isSignedIn === true;
}

/** Reads by the session. @returns null for a link that opens nothing */
export async function readAsPerson(secret: string, after: string | null): Promise<SharedView | null> {
  const { sharedChat } = await run(SharedChatDocument, { secret, after });
  return sharedChat === null ? null : toView(sharedChat);
}

export function toView({ messages, ...chat }: SharedChatViewFragment): SharedView {
  const { endCursor, hasNextPage } = messages.pageInfo;
  return { ...chat, messages: messages.nodes, next: hasNextPage ? endCursor : null };
}

/** Reads what is shared with anyone, without a session. @returns null for a link that opens nothing @throws ParleyError with words for the visitor */
export async function readAsVisitor(t: Text['t'], secret: string, after: number | null): Promise<SharedView | null> {
  const headers = { 'content-type': 'application/json', 'graphql-require-preflight': 'true' };
  const body = JSON.stringify({ secret, ...(after === null ? {} : { after }) });
  const reply = await fetch('/shared/open', { method: 'POST', headers, body }).catch(() => {
    throw new ParleyError(t('The service does not answer. Try again.'));
  });
  if (reply.status === 404) return null;
  const { nextAfter, ...view } = await reply.json();
  if (!reply.ok) {
    const message = reply.status === 429 ? t('Too many requests came from your network. Wait a minute.') : undefined;
    throw new ParleyError(message ?? t('The service answered with status {status}.', { status: reply.status }), {
      status: reply.status,
    });
  }
  return { ...view, isOwn: false, canGoOn: false, chat: null, next: nextAfter };
}
