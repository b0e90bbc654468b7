import { ArrowDown, ArrowUp, ListChecks, Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useMutate, usePage } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { Badge, EmptyState, ErrorNote, Skeleton } from '../../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../../ui/form/button.tsx';
import { Section } from '../../../../ui/page.tsx';
import { Row, Rows } from '../parts/Rows.tsx';
import { useRemove } from '../parts/use-remove.ts';
import type { SectionProps } from '../section.ts';
import { AgentInputsDocument, DeleteInputDocument, UpdateInputDocument } from './documents.ts';
import { InputDialog } from './InputDialog.tsx';
import { type AgentInput, inputTypeName } from './values.ts';

/** What the agent asks a person for when a chat begins. */
export function Inputs({ agent, form, reload: reloadAgent }: SectionProps) {
  const { t } = useText();
  const { data, error, isLoading, reload: reloadParts } = usePage(AgentInputsDocument, { id: agent.id });
  const reload = () => {
    reloadParts();
    // The editor counts them.
    reloadAgent();
  };
  const update = useMutate(UpdateInputDocument);
  const remove = useRemove(DeleteInputDocument, reload);
  const [edited, setEdited] = useState<AgentInput | 'new'>();
  const inputs = data?.agent?.userInputs ?? [];
  const add = form.isReadOnly ? undefined : (
    <Button icon={<Plus size={16} aria-hidden />} onClick={() => setEdited('new')}>
      {t('Add an input')}
    </Button>
  );
  /** Moves an input, and numbers all of them anew: their places may be equal. */
  const move = async (index: number, step: number) => {
    const order = [...inputs];
    const [moved] = order.splice(index, 1);
    if (moved === undefined) return;
    order.splice(index + step, 0, moved);
    for (const [orderIndex, { id, orderIndex: before }] of order.entries()) {
      if (orderIndex !== before) await update.run({ id, input: { orderIndex } });
    }
    reload();
  };
  return (
    <Section
      title={t('Inputs')}
      lead={t('Asked when a chat begins; answers stand in the instructions where their names are written.')}
      actions={inputs.length > 0 ? add : undefined}
    >
      <ErrorNote error={error ?? update.error} onRetry={reload} />
      {isLoading ? <Skeleton /> : null}
      {data !== undefined && inputs.length === 0 ? (
        <EmptyState icon={<ListChecks size={26} aria-hidden />} title={t('It asks for nothing')} action={add}>
          {t('Ask for a customer, a language or a product once, instead of in each question.')}
        </EmptyState>
      ) : null}
      {inputs.length === 0 ? null : (
        <Rows label={t('Inputs')}>
          {inputs.map((input, index) => (
            <Row
              key={input.id}
              title={input.label}
              note={<code>{`{{${input.variableName}}}`}</code>}
              badges={<InputBadges input={input} />}
              actions={
                form.isReadOnly ? undefined : (
                  <InputActions
                    input={input}
                    isFirst={index === 0}
                    isLast={index === inputs.length - 1}
                    onMove={(step) => void move(index, step)}
                    onEdit={() => setEdited(input)}
                    onRemove={() => void remove(input.id, input.label, t('New chats do not ask for it any more.'))}
                  />
                )
              }
            />
          ))}
        </Rows>
      )}
      {edited === undefined ? null : (
        <InputDialog
          agentId={agent.id}
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
