import { FolderUp, Upload, X } from 'lucide-react';
import { useRef, useState } from 'react';
import { run } from '../../../graphql/client.ts';
import { usePage } from '../../../graphql/hooks.ts';
import { addToDraft } from '../../../parts/drafts/change.ts';
import { useText } from '../../../text/text.ts';
import { Note } from '../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../ui/form/button.tsx';
import { Checkbox } from '../../../ui/form/field.tsx';
import { TextField } from '../../../ui/form/fields.tsx';
import { formatBytes } from '../../../ui/small.tsx';
import { AttachSourceDocument, MakeCollectionDocument, UploadLimitsDocument } from '../documents.ts';
import type { AddFormProps } from './AddForm.tsx';
import { AddForm, useAddSource } from './AddForm.tsx';
import { getAgentId, useAgentChoice } from './AgentPicker.tsx';
import styles from './add.module.css';
import { DropArea } from './DropArea.tsx';
import { chosenFiles, type NamedFile } from './dropped.ts';
import { uploads } from './uploads.ts';

/** Adds files: together as one source with a name, or each as a source of its own. */
export function FilesForm({ files: droppedFiles, agentId, onClose }: AddFormProps & { readonly files: readonly NamedFile[] }) {
  const { t, number } = useText();
  const [files, setFiles] = useState(droppedFiles);
  const [isTogether, setTogether] = useState(true);
  const [typedName, setTypedName] = useState<string>();
  const { data } = usePage(UploadLimitsDocument, {});
  const maxBytes = data?.viewer.limits.sourceFileMaxBytes ?? Number.POSITIVE_INFINITY;
  const { add, isBusy, error } = useAddSource(onClose);
  const large = files.filter(({ file }) => file.size > maxBytes);
  const fittingFiles = files.filter(({ file }) => file.size <= maxBytes);
  const isOne = !(files.length > 1 && isTogether === false);
  const { picker, agent, isReady } = useAgentChoice(agentId, isOne);
  const name = (typedName ?? getName(files, t('{count} files', { count: files.length }))).trim();
  const send = () =>
    add(async () => {
      const id = await getAgentId(agent);
      // A single file of an agent needs no collection around it.
      if (id !== undefined && (!isOne || files.length === 1)) {
        uploads.add(fittingFiles, { kind: 'each', agentId: id });
        return undefined;
      }
      const { id: collectionId, dataSourceId: sourceId } = (await run(MakeCollectionDocument, { name })).createVectorStore;
      if (id !== undefined)
        await addToDraft(id, (expectedDraft) => run(AttachSourceDocument, { agentId: id, sourceId, expectedDraft }));
      uploads.add(fittingFiles, { kind: 'together', collectionId, sourceId });
      return sourceId;
    });
  const more = (additions: readonly NamedFile[]) => setFiles((before) => [...before, ...additions]);
  return (
    <AddForm
      error={error}
      isBusy={isBusy}
      isReady={fittingFiles.length > 0 && isReady && (name !== '' || !isOne)}
      onSubmit={() => void send()}
      onClose={onClose}
    >
      <DropArea onFiles={more}>
        <FileChoice onFiles={more} />
      </DropArea>
      {files.length > 0 ? (
        <FileList files={files} onRemove={(file) => setFiles(files.filter((other) => other !== file))} />
      ) : null}
      {large.length > 0 ? (
        <Note tone="warn">
          {t('{count, plural, one {# file is} other {# files are}} larger than {size}, and left out.', {
            count: large.length,
            size: formatBytes(maxBytes, number),
          })}
        </Note>
      ) : null}
      {files.length > 1 ? (
        <Checkbox
          label={t('One source with all files')}
          hint={t('Otherwise each file becomes a source of its own.')}
          checked={isTogether}
          onChange={({ target }) => setTogether(target.checked)}
        />
      ) : null}
      {files.length > 1 && isTogether ? (
        <TextField
          label={t('Name')}
          maxLength={200}
          value={typedName ?? getName(files, t('{count} files', { count: files.length }))}
          onChange={setTypedName}
        />
      ) : null}
      {picker}
    </AddForm>
  );
}

function FileList({ files, onRemove }: { readonly files: readonly NamedFile[]; readonly onRemove: (file: NamedFile) => void }) {
  const { t, number } = useText();
  return (
    <ul className={styles.files} aria-label={t('Files to add')}>
      {files.slice(0, shownMax).map((each, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same name may come from two folders
        <li key={`${index} ${each.name}`}>
          <span className={styles.fileName}>{each.name}</span>
          <span className={styles.fileSize}>{formatBytes(each.file.size, number)}</span>
          <IconButton label={t('Leave out {name}', { name: each.name })} onClick={() => onRemove(each)}>
            <X size={16} aria-hidden />
          </IconButton>
        </li>
      ))}
      {files.length > shownMax ? <li>{t('and {count} more', { count: files.length - shownMax })}</li> : null}
    </ul>
  );
}

const shownMax = 50;

/** That of the only folder, or of the only file. */
function getName(files: readonly NamedFile[], otherwise: string): string {
  const folders = new Set(files.map(({ folder }) => folder));
  const [folder] = folders;
  if (folders.size === 1 && folder !== undefined) return folder;
  return files.length === 1 ? (files[0]?.name ?? '') : otherwise;
}

function FileChoice({ onFiles }: { readonly onFiles: (files: readonly NamedFile[]) => void }) {
  const { t } = useText();
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const take = (input: HTMLInputElement) => {
    onFiles(chosenFiles(input.files ?? []));
    input.value = '';
  };
  return (
    <div className={styles.choice}>
      <p>{t('Drop files or folders here')}</p>
      <p className={styles.hint}>{t('PDF, Word, Excel, PowerPoint, Markdown, text, HTML, CSV, JSON, mail and EPUB')}</p>
      <div className={styles.choiceButtons}>
        <Button icon={<Upload size={16} aria-hidden />} onClick={() => files.current?.click()}>
          {t('Choose files')}
        </Button>
        <Button icon={<FolderUp size={16} aria-hidden />} onClick={() => folder.current?.click()}>
          {t('Choose a folder')}
        </Button>
      </div>
      <input
        ref={files}
        type="file"
        multiple
        hidden
        data-choice="files"
        aria-label={t('Choose files')}
        onChange={({ target }) => take(target)}
      />
      <input
        ref={folder}
        type="file"
        hidden
        data-choice="folder"
        aria-label={t('Choose a folder')}
        onChange={({ target }) => take(target)}
        {...{ webkitdirectory: '' }}
      />
    </div>
  );
}
