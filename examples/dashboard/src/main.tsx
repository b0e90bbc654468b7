import { documents } from '@parley/client';
import { StrictMode, useState, useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';
import { Provider, useQuery } from 'urql';
import { client, typed } from './client.ts';
import { DataSources } from './data-sources.tsx';
import { Figures } from './figures.tsx';
import { RunDetails } from './run.tsx';
import { Runs } from './runs.tsx';
import { isConnected, onConnectionChanged } from './stream.ts';
import { UsageShares } from './usage.tsx';
import './style.css';

const viewerQuery = typed(documents.SidebarQueryDocument);

function Dashboard() {
  const [{ data }] = useQuery({ query: viewerQuery, variables: { agents: 1, chats: 1 } });
  const isLive = useSyncExternalStore(onConnectionChanged, isConnected);
  const [runId, open] = useState<string>();
  return (
    <>
      <header className="top">
        <h1>Parley</h1>
        <span>{data?.viewer.user?.name}</span>
        <span role="status" className={isLive ? 'live' : 'lost'}>
          {isLive ? 'live' : 'connecting…'}
        </span>
      </header>
      <main>
        <Figures />
        <UsageShares />
        <DataSources />
        <Runs onOpen={open} />
      </main>
      {runId !== undefined && <RunDetails runId={runId} onClose={() => open(undefined)} />}
    </>
  );
}

createRoot(document.querySelector('#root') as HTMLElement).render(
  <StrictMode>
    <Provider value={client}>
      <Dashboard />
    </Provider>
  </StrictMode>,
);
