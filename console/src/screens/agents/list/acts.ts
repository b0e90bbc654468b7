import { useState } from 'react';
import { useLocation } from 'wouter';
import { run } from '../../../graphql/client.ts';
import { addToDraft } from '../../../parts/drafts/change.ts';
import { useText } from '../../../text/text.ts';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { useErrorToast, useToast } from '../../../ui/overlay/toasts.tsx';
import { saveFile } from '../../../ui/save-file.ts';
import {
  AgentFileDocument,
  AttachCopiedSourceDocument,
  DeleteAgentDocument,
  ImportAgentDocument,
  SourcesToCopyDocument,
} from './documents.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

/** What can be done with an agent from its menu, in the list and in the editor. */
export function useAgentActs() {
  const { t } = useText();
  const confirm = useConfirm();
  const toast = useToast();
  const sayError = useErrorToast();
  const [, go] = useLocation();
  const [isBusy, setBusy] = useState(false);
  const attempt = async (act: () => Promise<void>) => {
    setBusy(true);
    try {
      await act();
    } catch (cause) {
      sayError(cause);
    } finally {
      setBusy(false);
    }
  };
  const duplicate = ({ id, name }: Named) =>
    attempt(async () => {
      const copyId = await copyAgent(id, t('Copy of {name}', { name }).slice(0, 200));
      toast(t('The copy is made. It has no secrets: give them again where tools need them.'));
      go(`/agents/${copyId}`);
    });
  const download = ({ id, name }: Named) =>
    attempt(async () => {
      const { agentBundle } = await run(AgentFileDocument, { id });
      const text = JSON.stringify(agentBundle.file, undefined, 2);
      saveFile(new Blob([text], { type: 'application/json' }), `${name}.agent.json`);
      const [warning] = agentBundle.warnings;
      if (warning !== undefined) toast(warning.message, 'warn');
    });
  const remove = async ({ id, name }: Named, onRemoved?: () => void) => {
    const isConfirmed = await confirm({
      title: t('Delete {name}?', { name }),
      body: t('Its instructions, tools, skills and flows are deleted for everybody. This cannot be undone.'),
      action: t('Delete'),
      isDanger: true,
    });
    if (!isConfirmed) return;
    await attempt(async () => {
      await run(DeleteAgentDocument, { id });
      toast(t('{name} is deleted.', { name }));
      onRemoved?.();
    });
  };
  return { duplicate, download, remove, isBusy };
}

/** The same agent again, private and without secrets, with the same knowledge attached. */
async function copyAgent(id: string, name: string): Promise<string> {
  const { agentBundle } = await run(AgentFileDocument, { id, withSources: false });
  const { importAgent } = await run(ImportAgentDocument, { input: { bundle: agentBundle.file, name }, dryRun: false });
  const copyId = importAgent.agentId;
  if (copyId === null) throw new Error('The copy has no id.');
  let after: string | null = null;
  do {
    const page: { agent: SourcePage } = await run(SourcesToCopyDocument, { id, after });
    for (const source of page.agent?.sources.nodes ?? [])
      await addToDraft(copyId, (expectedDraft) =>
        run(AttachCopiedSourceDocument, { agentId: copyId, dataSourceId: source.id, expectedDraft }),
      );
    after = page.agent?.sources.pageInfo.hasNextPage === true ? page.agent.sources.pageInfo.endCursor : null;
  } while (after !== null);
  return copyId;
}

type SourcePage = {
  readonly sources: {
    readonly nodes: readonly { readonly id: string }[];
    readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean };
  };
} | null;
