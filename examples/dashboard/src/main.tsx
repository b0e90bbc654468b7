import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Provider } from 'urql';
import { ActiveRuns } from './active-runs.tsx';
import { client } from './client.ts';
import { DataSources } from './data-sources.tsx';
import { Usage } from './usage.tsx';
import './style.css';

createRoot(document.querySelector('#root') as HTMLElement).render(
  <StrictMode>
    <Provider value={client}>
      <h1>What is going on</h1>
      <ActiveRuns />
      <Usage />
      <DataSources />
    </Provider>
  </StrictMode>,
);
