import { useState } from 'react';
import { run } from '../../../graphql/client.ts';
import { usePage } from '../../../graphql/hooks.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Field, SearchInput, Select } from '../../../ui/form/field.tsx';
import { TextField } from '../../../ui/form/fields.tsx';
import { useDelayed } from '../../../ui/use-delayed.ts';
import { AgentChoiceDocument, MakeAgentForKnowledgeDocument } from '../documents.ts';

/** The agent that knowledge is for: one that exists, a new one, or none yet. `auto`: the first that the reader may edit. */
export type ChosenAgent =
  | { readonly kind: 'auto' | 'none' }
  | { readonly kind: 'agent'; readonly id: string }
  | { readonly kind: 'new'; readonly name: string };

/** Lets the reader choose among the agents that the reader may edit. `mayBeNone`: knowledge without an agent makes sense. */
export function useAgentChoice(initialId: string | undefined, mayBeNone: boolean) {
  const { t } = useText();
  const { may } = useSession();
  const mayMake = may('AGENTS_WRITE');
  const [chosen, setChosen] = useState<ChosenAgent>(
    initialId === undefined ? { kind: 'auto' } : { kind: 'agent', id: initialId },
  );
  const [typed, setTyped] = useState('');
  const search = useDelayed(typed.trim());
  const { data, error } = usePage(AgentChoiceDocument, { search: search === '' ? null : search }, { pause: !may('AGENTS_READ') });
  const agents = (data?.agents.nodes ?? []).filter(({ canEdit }) => canEdit);
  const hasMany = data?.agents.pageInfo.hasNextPage === true || typed !== '';
  const current = resolved(chosen, agents, mayBeNone, mayMake);
  const value = current.kind === 'agent' ? current.id : current.kind;
  const choose = (next: string) => {
    if (next === 'new') setChosen({ kind: 'new', name: '' });
    else setChosen(next === 'none' ? { kind: 'none' } : { kind: 'agent', id: next });
  };
  const picker = (
    <>
      <Field label={t('For which agent')} hint={t('This agent answers from it. You can give it to others later.')}>
        {(control) => (
          <>
            {hasMany ? <SearchInput label={t('Search agents')} value={typed} onChange={setTyped} /> : null}
            <Select {...control} value={value} onChange={({ target }) => choose(target.value)}>
              {agents.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
              {mayMake ? <option value="new">{t('A new agent')}</option> : null}
              {mayBeNone || (agents.length === 0 && !mayMake) ? <option value="none">{t('No agent yet')}</option> : null}
            </Select>
          </>
        )}
      </Field>
      {current.kind === 'new' ? (
        <TextField
          label={t('Name of the new agent')}
          required
          maxLength={200}
          value={current.name}
          onChange={(value) => setChosen({ kind: 'new', name: value })}
        />
      ) : null}
      <ErrorNote error={error} />
    </>
  );
  return { picker, agent: current, isReady: isReady(current, mayBeNone) };
}

function resolved(
  chosen: ChosenAgent,
  agents: readonly { readonly id: string }[],
  mayBeNone: boolean,
  mayMake: boolean,
): ChosenAgent {
  const [first] = agents;
  if (chosen.kind !== 'auto' && !(chosen.kind === 'none' && !mayBeNone)) return chosen;
  if (first !== undefined) return { kind: 'agent', id: first.id };
  return mayMake && !mayBeNone ? { kind: 'new', name: '' } : { kind: 'none' };
}

function isReady(agent: ChosenAgent, mayBeNone: boolean): boolean {
  if (agent.kind === 'new') return agent.name.trim() !== '';
  return agent.kind === 'agent' || mayBeNone;
}

/** The id of the agent; a new one is made now. @returns undefined for none. @throws ParleyError */
export async function getAgentId(agent: ChosenAgent): Promise<string | undefined> {
  if (agent.kind === 'agent') return agent.id;
  if (agent.kind !== 'new') return undefined;
  const name = agent.name.trim();
  const instructions = 'Answer from the knowledge that you have. Say so when it does not hold the answer.';
  return (await run(MakeAgentForKnowledgeDocument, { input: { name, description: name, instructions } })).createAgent.id;
}
