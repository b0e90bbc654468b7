import { CopilotKitProvider, HttpAgent } from '@copilotkit/react-core/v2';
import '@copilotkit/react-core/v2/styles.css';
import { createRoot } from 'react-dom/client';
import { Desk } from './desk';

/** The server of vite sends it on to the agent, with the key. */
const agents = { default: new HttpAgent({ url: '/agent', initialState: { colour: 'white' } }) };

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element #root');
createRoot(root).render(
  <CopilotKitProvider selfManagedAgents={agents} enableInspector={false}>
    <Desk />
  </CopilotKitProvider>,
);
