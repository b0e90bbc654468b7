import { Pencil, Plus, Trash2, Wrench } from 'lucide-react';
import { useState } from 'react';
import { run } from '../../../../graphql/client.ts';
import { type Text, useText } from '../../../../text/text.ts';
import { Badge, EmptyState, Note } from '../../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../../ui/form/button.tsx';
import { Menu } from '../../../../ui/overlay/menu.tsx';
import { Section } from '../../../../ui/page.tsx';
import { Row, Rows } from '../parts/Rows.tsx';
import type { Parts } from '../parts/use-parts.ts';
import { type AgentToolsQuery, DeleteToolDocument, type OwnToolFragment } from './documents.ts';
import { ToolDialog } from './ToolDialog.tsx';
import { TryDialog } from './TryDialog.tsx';
import type { ToolKind } from './values.ts';

interface Props {
  readonly agentId: string;
  readonly parts: Parts<AgentToolsQuery, OwnToolFragment>;
  readonly secrets: NonNullable<NonNullable<AgentToolsQuery['agent']>['secrets']>;
  readonly isReadOnly: boolean;
}

/** Functions of APIs, functions of the caller and MCP servers of this agent. */
export function OwnTools({ agentId, parts, secrets, isReadOnly }: Props) {
  const { t } = useText();
  const { items: tools } = parts;
  const [edited, setEdited] = useState<OwnToolFragment | ToolKind>();
  const [tried, setTried] = useState<OwnToolFragment>();
  const remove = (tool: OwnToolFragment) =>
    parts.remove(tool, t('The agent cannot call it any more.'), ({ revision }) =>
      run(DeleteToolDocument, { id: tool.id, expectedDraft: revision }),
    );
  const add = isReadOnly ? undefined : <AddTool onChoose={setEdited} />;
  return (
    <Section
      title={t('Own tools')}
      lead={t(
        'Calls of APIs that the service makes, servers of the Model Context Protocol, and functions that a calling program carries out.',
      )}
      actions={tools.length > 0 ? add : undefined}
    >
      {tools.length === 0 ? (
        <EmptyState icon={<Wrench size={26} aria-hidden />} title={t('No tools of its own')} action={add}>
          {t('For example: look up an order in your shop, or open a ticket.')}
        </EmptyState>
      ) : (
        <Rows label={t('Own tools')}>
          {tools.map((tool) => (
            <ToolRow
              key={tool.id}
              tool={tool}
              isReadOnly={isReadOnly}
              onTry={() => setTried(tool)}
              onEdit={() => setEdited(tool)}
              onRemove={() => void remove(tool)}
            />
          ))}
        </Rows>
      )}
      {tried === undefined ? null : <TryDialog tool={tried} onClose={() => setTried(undefined)} />}
      {edited === undefined ? null : (
        <ToolDialog
          agentId={agentId}
          parts={parts}
          tool={typeof edited === 'string' ? undefined : edited}
          kind={typeof edited === 'string' ? edited : undefined}
          secrets={secrets}
          onClose={() => setEdited(undefined)}
          onSaved={() => {
            setEdited(undefined);
            parts.reload();
          }}
        />
      )}
    </Section>
  );
}

const kindWords = (t: Text['t']) => ({
  API_FUNCTION: t('Function of an API'),
  CLIENT_FUNCTION: t('Function of the caller'),
  MCP_SERVER: t('MCP server'),
});

function AddTool({ onChoose }: { readonly onChoose: (kind: ToolKind) => void }) {
  const { t } = useText();
  const words = kindWords(t);
  return (
    <Menu
      label={t('Add a tool')}
      items={[
        { label: words.API_FUNCTION, onSelect: () => onChoose('api') },
        { label: words.MCP_SERVER, onSelect: () => onChoose('mcp') },
        { label: words.CLIENT_FUNCTION, onSelect: () => onChoose('client') },
      ]}
    >
      <Button icon={<Plus size={16} aria-hidden />}>{t('Add a tool')}</Button>
    </Menu>
  );
}

interface ToolActsProps {
  readonly tool: OwnToolFragment;
  readonly onTry: () => void;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

function ToolRow({ isReadOnly, ...acts }: ToolActsProps & { readonly isReadOnly: boolean }) {
  const { t } = useText();
  const { tool } = acts;
  return (
    <Row
      title={<code>{tool.name}</code>}
      badges={<Badge>{kindWords(t)[tool.type]}</Badge>}
      note={<ToolNote tool={tool} />}
      actions={isReadOnly ? undefined : <ToolActs {...acts} />}
    >
      {tool.warnings.map(({ message }) => (
        <Note key={message} tone="warn">
          {message}
        </Note>
      ))}
    </Row>
  );
}

function ToolActs({ tool, onTry, onEdit, onRemove }: ToolActsProps) {
  const { t } = useText();
  return (
    <>
      {tool.type === 'CLIENT_FUNCTION' ? null : (
        <Button size="small" onClick={onTry}>
          {tool.type === 'MCP_SERVER' ? t('Look at its tools') : t('Try it')}
          <span className="visually-hidden"> {tool.name}</span>
        </Button>
      )}
      <IconButton label={t('Edit {name}', { name: tool.name })} onClick={onEdit}>
        <Pencil size={16} aria-hidden />
      </IconButton>
      <IconButton label={t('Delete {name}', { name: tool.name })} onClick={onRemove}>
        <Trash2 size={16} aria-hidden />
      </IconButton>
    </>
  );
}

function ToolNote({ tool: { description, settings } }: { readonly tool: OwnToolFragment }) {
  const place =
    settings?.__typename === 'ApiFunctionSettings'
      ? `${settings.method} ${settings.url}`
      : settings?.__typename === 'McpServerSettings'
        ? (settings.server ?? settings.serverUrl ?? settings.program?.command)
        : undefined;
  return (
    <>
      {description === '' ? null : <p>{description}</p>}
      {place == null ? null : (
        <p>
          <code>{place}</code>
        </p>
      )}
    </>
  );
}
