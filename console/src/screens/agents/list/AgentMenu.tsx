import { Copy, Download, Ellipsis, Trash2 } from 'lucide-react';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { IconButton } from '../../../ui/form/button.tsx';
import { Menu } from '../../../ui/overlay/menu.tsx';
import { useAgentActs } from './acts.ts';

interface Props {
  readonly agent: { readonly id: string; readonly name: string; readonly canEdit: boolean; readonly canManage: boolean };
  readonly onRemoved?: () => void;
}

/** Duplicate, export and delete, as far as the reader may. */
export function AgentMenu({ agent, onRemoved }: Props) {
  const { t } = useText();
  const session = useSession();
  const { duplicate, download, remove, isBusy } = useAgentActs();
  const mayWrite = session.may('AGENTS_WRITE');
  return (
    <Menu
      label={t('Acts for {name}', { name: agent.name })}
      items={[
        ...(mayWrite
          ? [
              {
                label: t('Duplicate'),
                icon: <Copy size={16} aria-hidden />,
                isDisabled: isBusy,
                onSelect: () => void duplicate(agent),
              },
            ]
          : []),
        { label: t('Export as a file'), icon: <Download size={16} aria-hidden />, onSelect: () => void download(agent) },
        ...(mayWrite && agent.canManage
          ? [
              'separator' as const,
              {
                label: t('Delete'),
                icon: <Trash2 size={16} aria-hidden />,
                isDanger: true,
                onSelect: () => void remove(agent, onRemoved),
              },
            ]
          : []),
      ]}
    >
      <IconButton label={t('More for {name}', { name: agent.name })}>
        <Ellipsis size={18} aria-hidden />
      </IconButton>
    </Menu>
  );
}
