import { ArrowDown, ArrowUp, ListChecks, Pencil, Plus, Trash2 } from 'lucide-react';
import { useRef, useState } from 'react';
import { run } from '../../../../graphql/client.ts';
import { useText } from '../../../../text/text.ts';
import { Badge, EmptyState, ErrorNote, Skeleton } from '../../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../../ui/form/button.tsx';
import { Section } from '../../../../ui/page.tsx';
import { Row, Rows } from '../parts/Rows.tsx';
import { type Parts, useParts } from '../parts/use-parts.ts';
import type { SectionProps } from '../section.ts';
import { AgentInputsDocument, type AgentInputsQuery, DeleteInputDocument, UpdateInputDocument } from './documents.ts';
import { InputDialog } from './InputDialog.tsx';
import { type AgentInput, inputTypeName } from './values.ts';

/** What the agent asks a person for when a chat begins. */
export function Inputs(props: SectionProps) {
  const { form } = props;
  const { t } = useText();
  const parts = useParts(AgentInputsDocument, props, {
    pick: ({ agent }) => agent?.userInputs ?? [],
    list: 'userInputs',
    partName: ({ variableName }: AgentInput) => variableName,
    title: ({ label }) => label,
  });
  const { data, error, isLoading, items: inputs, reload } = parts;
  const [edited, setEdited] = useState<AgentInput | 'new'>();
  const add = form.isReadOnly ? undefined : (
    <Button icon={<Plus size={16} aria-hidden />} onClick={() => setEdited('new')}>
      {t('Add an input')}
    </Button>
  );
  return (
    <Section
      title={t('Inputs')}
      lead={t('Asked when a chat begins; answers stand in the instructions where their names are written.')}
      actions={inputs.length > 0 ? add : undefined}
    >
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton /> : null}
      {data !== undefined && inputs.length === 0 ? (
        <EmptyState icon={<ListChecks size={26} aria-hidden />} title={t('It asks for nothing')} action={add}>
          {t('Ask for a customer, a language or a product once, instead of in each question.')}
        </EmptyState>
      ) : null}
      {inputs.length === 0 ? null : <InputRows parts={parts} isReadOnly={form.isReadOnly} onEdit={setEdited} />}
      {edited === undefined ? null : (
        <InputDialog
          agentId={props.agent.id}
          parts={parts}
          input={edited === 'new' ? undefined : edited}
          orderIndex={inputs.length}
          onClose={() => setEdited(undefined)}
          onSaved={() => {
            setEdited(undefined);
            reload();
          }}
        />
      )}
    </Section>
  );
}

function InputRows({
  parts,
  isReadOnly,
  onEdit,
}: {
  readonly parts: Parts<AgentInputsQuery, AgentInput>;
  readonly isReadOnly: boolean;
  readonly onEdit: (input: AgentInput) => void;
}) {
  const { t } = useText();
  const inputs = parts.items;
  const move = useMove(parts);
  const remove = (input: AgentInput) =>
    parts.remove(input, t('New chats do not ask for it any more.'), ({ revision }) =>
      run(DeleteInputDocument, { id: input.id, expectedDraft: revision }),
    );
  return (
    <Rows label={t('Inputs')}>
      {inputs.map((input, index) => (
        <Row
          key={input.id}
          title={input.label}
          note={<code>{`{{${input.variableName}}}`}</code>}
          badges={<InputBadges input={input} />}
          actions={
            isReadOnly ? undefined : (
              <InputActions
                input={input}
                isFirst={index === 0}
                isLast={index === inputs.length - 1}
                onMove={(step) => void move(index, step)}
                onEdit={() => onEdit(input)}
                onRemove={() => void remove(input)}
              />
            )
          }
        />
      ))}
    </Rows>
  );
}

/** Moves an input, and numbers all of them anew: their places may be equal. */
function useMove({ items, act }: Parts<AgentInputsQuery, AgentInput>) {
  const isMoving = useRef(false);
  const move = async (index: number, step: number) => {
    const order = [...items];
    const [moved] = order.splice(index, 1);
    if (moved === undefined) return;
    order.splice(index + step, 0, moved);
    for (const [orderIndex, input] of order.entries()) {
      if (orderIndex === input.orderIndex) continue;
      const isDone = await act(input, ({ item: { id }, revision }) =>
        run(UpdateInputDocument, { id, input: { orderIndex }, expectedDraft: revision }),
      );
      if (!isDone) return;
    }
  };
  return async (index: number, step: number) => {
    // A second click, while the first one is carried out, would go by the order before it.
    if (isMoving.current) return;
    isMoving.current = true;
    await move(index, step).finally(() => {
      isMoving.current = false;
    });
  };
}

function InputBadges({ input }: { readonly input: AgentInput }) {
  const { t } = useText();
  return (
    <>
      <Badge>{inputTypeName(t, input.type)}</Badge>
      {input.settings.isRequired ? <Badge tone="accent">{t('Required')}</Badge> : null}
      {input.showOnChatCreate ? null : <Badge>{t('Not asked at the start')}</Badge>}
    </>
  );
}

function InputActions({
  input: { label: name },
  isFirst,
  isLast,
  onMove,
  onEdit,
  onRemove,
}: {
  readonly input: AgentInput;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly onMove: (step: number) => void;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}) {
  const { t } = useText();
  return (
    <>
      <IconButton label={t('Move {name} up', { name })} disabled={isFirst} onClick={() => onMove(-1)}>
        <ArrowUp size={16} aria-hidden />
      </IconButton>
      <IconButton label={t('Move {name} down', { name })} disabled={isLast} onClick={() => onMove(1)}>
        <ArrowDown size={16} aria-hidden />
      </IconButton>
      <IconButton label={t('Edit {name}', { name })} onClick={onEdit}>
        <Pencil size={16} aria-hidden />
      </IconButton>
      <IconButton label={t('Delete {name}', { name })} onClick={onRemove}>
        <Trash2 size={16} aria-hidden />
      </IconButton>
    </>
  );
}
