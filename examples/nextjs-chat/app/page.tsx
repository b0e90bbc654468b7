import { connection } from 'next/server';
import { listAgents } from '../parley.ts';
import { Chat } from './chat.tsx';

export default async function Page() {
  // The list is read for each request, not when the page is built.
  await connection();
  return <Chat agents={await listAgents()} />;
}
