import { useCallback, useEffect, useRef, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { findClaim } from '../../../parts/markdown/reading/sentences.ts';
import type { OpenSources } from '../chat-context.ts';
import type { Chat_MessageFragment } from '../documents.ts';

type Messages = readonly Chat_MessageFragment[];

/**
 * The sources that are open. The address says which, as `?answer=<id>&source=<number>`: who comes back from a document, or loads the page again, finds
 * them open.
 */
export function useSources(messages: Messages) {
  const [path, go] = useLocation();
  const search = useSearch();
  const [sources, setSources] = useState<OpenSources>();
  const wanted = useRef(readAddress(search));
  useEffect(() => {
    if (wanted.current === undefined) return;
    const found = findSources(messages, wanted.current);
    if (found === undefined) return;
    wanted.current = undefined;
    setSources(found);
  }, [messages]);
  const change = useCallback(
    (next: OpenSources | undefined) => {
      wanted.current = undefined;
      setSources(next);
      const query = new URLSearchParams(location.search);
      for (const name of ['answer', 'source']) query.delete(name);
      const answerId = next?.messageId ?? next?.runId;
      if (next !== undefined && answerId !== undefined) {
        query.set('answer', answerId);
        query.set('source', String(next.index));
      }
      go(query.size === 0 ? path : `${path}?${query}`, { replace: true });
    },
    [path, go],
  );
  return [sources, change] as const;
}

function readAddress(search: string): { readonly answerId: string; readonly index: number } | undefined {
  const query = new URLSearchParams(search);
  const answerId = query.get('answer');
  const index = Number(query.get('source'));
  return answerId === null || !Number.isInteger(index) || index < 1 ? undefined : { answerId, index };
}

function findSources(
  messages: Messages,
  { answerId, index }: { readonly answerId: string; readonly index: number },
): OpenSources | undefined {
  const [first] = messages.filter(({ id, runId }) => id === answerId || runId === answerId);
  const runId = first?.runId ?? undefined;
  const said = messages.filter(
    (each) => each.role === 'ASSISTANT' && (each.id === answerId || (runId !== undefined && each.runId === runId)),
  );
  const citations = said.flatMap((message) => message.citations);
  const messageId = said.find((message) => message.citations.length > 0)?.id;
  if (messageId === undefined) return undefined;
  const sources = { runId, messageId, citations, index };
  return { ...sources, claim: claimIn(messages, sources, index) };
}

/** The sentence of an answer that cites a source. */
export function claimIn(
  messages: Messages,
  { runId, messageId }: Pick<OpenSources, 'runId' | 'messageId'>,
  index: number,
): string {
  const isOfAnswer = (each: Chat_MessageFragment) => each.id === messageId || (runId !== undefined && each.runId === runId);
  const answer = messages.filter((each) => each.role === 'ASSISTANT' && isOfAnswer(each));
  return findClaim(answer.map(({ content }) => content).join('\n\n'), index);
}

/** Sources that were opened while their answer was being said: once it is stored, its message has their passages. */
export function withMessage(sources: OpenSources, messages: Messages): OpenSources {
  const { runId, messageId } = sources;
  const citedMessage =
    runId === undefined ? undefined : messages.find((each) => each.runId === runId && each.citations.length > 0);
  return messageId !== undefined || citedMessage === undefined ? sources : { ...sources, messageId: citedMessage.id };
}
