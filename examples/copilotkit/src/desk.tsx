import { CopilotChat, UseAgentUpdate, useAgent, useFrontendTool, useInterrupt } from '@copilotkit/react-core/v2';
import { z } from 'zod';

/** A page that its agent may colour, and a chat with the agent. */
export function Desk() {
  const { agent } = useAgent({ updates: [UseAgentUpdate.OnStateChanged] });
  const { colour } = agent.state as { readonly colour: string };

  // A tool that the browser runs. It changes the state, which the agent reads in its next run.
  useFrontendTool({
    name: 'set_colour',
    description: 'Colours the page.',
    parameters: z.object({ colour: z.string().describe('A colour of CSS.') }),
    handler: async ({ colour }) => {
      agent.setState({ ...agent.state, colour });
      return `The page is ${colour} now.`;
    },
  });

  // A tool of Parley whose calls wait for approval ends the run with an interrupt. The answer begins a run that goes on.
  useInterrupt({
    render: ({ interrupt, resolve, cancel }) => (
      <p id="approval">
        {interrupt?.message}{' '}
        <button type="button" onClick={() => resolve({ approved: true })}>
          Approve
        </button>
        <button type="button" onClick={() => cancel()}>
          Refuse
        </button>
      </p>
    ),
  });

  return (
    <main style={{ height: '100vh', display: 'flex', flexDirection: 'column', background: colour }}>
      <p>
        The page is <output>{colour}</output>.
      </p>
      <div style={{ flex: 1, minHeight: 0 }}>
        <CopilotChat />
      </div>
    </main>
  );
}
