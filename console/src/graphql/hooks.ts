import type { ParleyError } from '@parley/client';
import { useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { useQuery } from 'urql';
import { readableError, run, toParleyError } from './client.ts';
import type { Document } from './document.ts';
import { live } from './live/live.ts';

export interface PageData<Result> {
  /** Undefined until the first reply. Stays while the page is loaded again. */
  readonly data: Result | undefined;
  readonly error: ParleyError | undefined;
  /** Nothing is there yet. */
  readonly isLoading: boolean;
  /** Asks the service again, past the cache. */
  readonly reload: () => void;
}

/** The data of a page by its one query: what the cache has at once, and what the service says then. */
export function usePage<Result, Variables extends object>(
  query: Document<Result, Variables>,
  variables: Variables,
  { pause = false }: { readonly pause?: boolean } = {},
): PageData<Result> {
  const [state, execute] = useQuery<Result>({ query, variables, pause, requestPolicy: 'cache-and-network' });
  const { data, error, fetching, stale } = state;
  const isOnItsWay = useRef(false);
  const isAskedAgain = useRef(false);
  const reload = useCallback(() => {
    // A query that is on its way is not sent twice, and its reply may be older than the reason to ask again.
    isAskedAgain.current = isOnItsWay.current;
    if (isOnItsWay.current) return;
    isOnItsWay.current = true;
    execute({ requestPolicy: 'network-only' });
  }, [execute]);
  useEffect(() => {
    isOnItsWay.current = fetching || stale;
    if (!isOnItsWay.current && isAskedAgain.current) reload();
  });
  const pageError = useMemo(() => (error === undefined ? undefined : toParleyError(error)), [error]);
  return { data, error: pageError, isLoading: data === undefined && fetching, reload };
}

export interface Mutate<Result, Variables> {
  /** Runs the mutation. @returns undefined when it was refused: `error` says why. */
  readonly run: (variables: Variables) => Promise<Result | undefined>;
  readonly isBusy: boolean;
  /** Of the last run. */
  readonly error: ParleyError | undefined;
  readonly reset: () => void;
}

/** A mutation with its state, for a form or a button. */
export function useMutate<Result, Variables extends object>(mutation: Document<Result, Variables>): Mutate<Result, Variables> {
  return useSend(useCallback((variables: Variables) => run(mutation, variables), [mutation]));
}

/** What sends mutations, with its state, for a form or a button. */
export function useSend<Result, Variables>(send: (variables: Variables) => Promise<Result>): Mutate<Result, Variables> {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ParleyError>();
  const perform = useCallback(
    async (variables: Variables) => {
      setBusy(true);
      setError(undefined);
      try {
        return await send(variables);
      } catch (cause) {
        setError(readableError(cause));
        return undefined;
      } finally {
        setBusy(false);
      }
    },
    [send],
  );
  const reset = useCallback(() => setError(undefined), []);
  return { run: perform, isBusy, error, reset };
}

/**
 * Follows a subscription while the component is shown. `onNext` may change between renders. `onBegin` is called each time the stream begins anew,
 * after a break too: what happened in between is not told, so a list is loaded again there.
 */
export function useLive<Result, Variables extends object>(
  subscription: Document<Result, Variables>,
  variables: Variables,
  onNext: (result: Result) => void,
  {
    pause = false,
    onBegin,
    onError,
    onComplete,
  }: {
    readonly pause?: boolean;
    readonly onBegin?: () => void;
    readonly onError?: (error: ParleyError) => void;
    /** The service ended it: what it told about is gone, or may not be seen any more. */
    readonly onComplete?: () => void;
  } = {},
): void {
  const handlers = useRef({ onNext, onBegin, onError, onComplete });
  handlers.current = { onNext, onBegin, onError, onComplete };
  const key = JSON.stringify(variables);
  useEffect(() => {
    if (pause) return;
    return live.subscribe(subscription, () => JSON.parse(key) as Variables, {
      next: (result) => handlers.current.onNext(result),
      begin: () => handlers.current.onBegin?.(),
      error: (error) => handlers.current.onError?.(error),
      complete: () => handlers.current.onComplete?.(),
    });
  }, [subscription, key, pause]);
}

/** A page that is loaded again, at most once in `pauseMs`, whenever one of its subscriptions says that something changed. */
export function useLiveReload<Result, Variables extends object>(
  subscription: Document<Result, Variables>,
  variables: Variables,
  reload: () => void,
  { pause = false, pauseMs = 500 }: { readonly pause?: boolean; readonly pauseMs?: number } = {},
): void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const isFirst = useRef(true);
  const soon = () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      reload();
    }, pauseMs);
  };
  useLive(subscription, variables, soon, {
    pause,
    // The page was loaded just now when the stream begins for the first time.
    onBegin: () => {
      if (isFirst.current) isFirst.current = false;
      else soon();
    },
  });
}

interface PageInfo {
  readonly endCursor?: string | null;
  readonly hasNextPage?: boolean;
}

export interface Connection<Node> {
  readonly nodes: readonly Node[];
  /** Another object with each reply. */
  readonly pageInfo: PageInfo;
}

export interface MorePages<Node> {
  /** The first page and those loaded after it. */
  readonly nodes: readonly Node[];
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly error: ParleyError | undefined;
  readonly loadMore: () => void;
}

interface FurtherPages<Node> {
  /** Of the first page that they come after. */
  readonly pageInfo: PageInfo | undefined;
  readonly pages: readonly Connection<Node>[];
}

/** Variables of a query that brings one page of a list. */
interface ListVariables {
  readonly after?: string | null | undefined;
}

export interface List<Result, Node> extends PageData<Result> {
  readonly pages: MorePages<Node>;
  /** It is there, and nothing is in it. */
  readonly isEmpty: boolean;
}

/** The list of a page, whose one query also brings its further pages. `pick` finds the list in a reply. */
export function useList<Result, Variables extends ListVariables, Node extends { readonly id: string }>(
  query: Document<Result, Variables>,
  variables: Variables,
  pick: (data: Result) => Connection<Node> | undefined,
): List<Result, Node> {
  const page = usePage(query, variables);
  const first = page.data === undefined ? undefined : pick(page.data);
  const pages = useMorePages(first, async (after) => pick(await run(query, { ...variables, after })));
  return { ...page, pages, isEmpty: first !== undefined && pages.nodes.length === 0 };
}

/**
 * The pages of a list behind its first one, which the query of the page brings. `load` asks for the page after a cursor. When the first page comes
 * anew, the further ones are loaded anew too: what changed may stand in them. Where it ends elsewhere than before, they wait for `loadMore`.
 */
export function useMorePages<Node extends { readonly id: string }>(
  first: Connection<Node> | undefined,
  load: (after: string) => Promise<Connection<Node> | undefined>,
): MorePages<Node> {
  const [further, setFurther] = useState<FurtherPages<Node>>({ pageInfo: undefined, pages: [] });
  const [isLoadingMore, setLoadingMore] = useState(false);
  const [error, setError] = useState<ParleyError>();
  const pages = useMemo(
    () =>
      first === undefined ? [] : [first, ...(further.pageInfo?.endCursor === first.pageInfo.endCursor ? further.pages : [])],
    [first, further],
  );
  useLoadedAnew(first?.pageInfo, further, load, setFurther);
  const last = pages.at(-1)?.pageInfo;
  const loadMore = () => {
    if (first === undefined || last?.hasNextPage !== true || isLoadingMore || typeof last.endCursor !== 'string') return;
    setLoadingMore(true);
    setError(undefined);
    load(last.endCursor)
      .then((page) => page !== undefined && setFurther({ pageInfo: first.pageInfo, pages: [...pages.slice(1), page] }))
      .catch((cause: unknown) => setError(readableError(cause)))
      .finally(() => setLoadingMore(false));
  };
  const nodes = useMemo(() => {
    const byId = new Map<string, Node>();
    for (const node of pages.flatMap((page) => page.nodes)) if (!byId.has(node.id)) byId.set(node.id, node);
    return [...byId.values()];
  }, [pages]);
  return { nodes, hasMore: last?.hasNextPage === true, isLoadingMore, error, loadMore };
}

/** Loads the further pages of a list anew when its first page came anew. Those before stay until all are there. */
function useLoadedAnew<Node>(
  pageInfo: PageInfo | undefined,
  further: FurtherPages<Node>,
  load: (after: string) => Promise<Connection<Node> | undefined>,
  take: (change: (now: FurtherPages<Node>) => FurtherPages<Node>) => void,
): void {
  const loadAnew = useEffectEvent(async (first: PageInfo, signal: AbortSignal) => {
    const count = further.pages.length;
    if (further.pageInfo === first || further.pageInfo?.endCursor !== first.endCursor) return;
    const fresh: Connection<Node>[] = [];
    for (let last = first; fresh.length < count && last.hasNextPage === true && typeof last.endCursor === 'string'; ) {
      const page = await load(last.endCursor);
      if (page === undefined || signal.aborted) return;
      fresh.push(page);
      last = page.pageInfo;
    }
    // The reader may have asked for one more meanwhile.
    take((now) => ({ pageInfo: first, pages: [...fresh, ...now.pages.slice(count)] }));
  });
  useEffect(() => {
    if (pageInfo === undefined) return;
    const abort = new AbortController();
    // The list says so itself when it cannot be read: this was nobody's click.
    loadAnew(pageInfo, abort.signal).catch(() => undefined);
    return () => abort.abort();
  }, [pageInfo]);
}
