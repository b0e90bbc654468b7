'use client';

import { useChat } from '@ai-sdk/react';
import { useState } from 'react';
import type { Agent } from '../parley.ts';
import { Message } from './message.tsx';

/** A chat whose messages stay in the browser. Another agent may be picked between two messages. */
export function Chat({ agents }: { readonly agents: readonly Agent[] }) {
  const [agentId, setAgentId] = useState(agents[0]?.id);
  const { messages, sendMessage, status, stop, error } = useChat();
  const isBusy = status === 'submitted' || status === 'streaming';

  const send = (form: FormData) => {
    const text = String(form.get('text')).trim();
    if (text !== '') sendMessage({ text }, { body: { agentId } });
  };

  if (agents.length === 0) return <main>Your key may use no agent yet: create one first.</main>;
  return (
    <main>
      <label>
        Agent{' '}
        <select value={agentId} onChange={({ target }) => setAgentId(target.value)}>
          {agents.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {messages.map((message) => (
        <Message key={message.id} message={message} />
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form action={send}>
        <input name="text" aria-label="Message" placeholder="Ask something" autoComplete="off" />
        {isBusy ? (
          <button type="button" onClick={stop}>
            Stop
          </button>
        ) : (
          <button type="submit">Send</button>
        )}
      </form>
    </main>
  );
}
