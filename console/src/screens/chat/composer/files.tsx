import { Paperclip } from 'lucide-react';
import { type ClipboardEvent, useEffect, useRef, useState } from 'react';
import { useText } from '../../../text/text.ts';
import { Note } from '../../../ui/feedback.tsx';
import { IconButton } from '../../../ui/form/button.tsx';
import { formatBytes } from '../../../ui/small.tsx';
import type { Attachments } from './attachments.ts';

/** Files by drop, anywhere on the page, and paste. Those that are too large are named, and the others added. */
export function useFiles(attachments: Attachments, fileMaxBytes: number | undefined) {
  const [tooLarge, setTooLarge] = useState<readonly string[]>([]);
  const addFiles = (files: readonly File[]) => {
    const isTooLarge = ({ size }: File) => fileMaxBytes !== undefined && size > fileMaxBytes;
    setTooLarge(files.filter(isTooLarge).map(({ name }) => name));
    const fitting = files.filter((file) => !isTooLarge(file));
    if (fitting.length > 0) attachments.add(fitting);
  };
  const onPaste = (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files];
    if (files.length === 0) return;
    event.preventDefault();
    addFiles(files);
  };
  const isOver = useDroppedFiles(addFiles);
  return { tooLarge, addFiles, isOver, onPaste };
}

/** Takes files that are dropped anywhere while the box is there. @returns whether some are held over the page. */
function useDroppedFiles(addFiles: (files: readonly File[]) => void): boolean {
  const [isOver, setOver] = useState(false);
  const take = useRef(addFiles);
  take.current = addFiles;
  useEffect(() => {
    // What another part of the page takes, like a dialog with a place for files, is not for the box.
    const isForBox = (event: DragEvent) => !event.defaultPrevented && event.dataTransfer?.types.includes('Files') === true;
    const onDragOver = (event: DragEvent) => {
      if (!isForBox(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const onDragLeave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const onDrop = (event: DragEvent) => {
      setOver(false);
      if (!isForBox(event)) return;
      event.preventDefault();
      take.current([...(event.dataTransfer?.files ?? [])]);
    };
    const listeners = { dragover: onDragOver, dragleave: onDragLeave, drop: onDrop } as const;
    const names = ['dragover', 'dragleave', 'drop'] as const;
    for (const name of names) document.addEventListener(name, listeners[name]);
    return () => {
      for (const name of names) document.removeEventListener(name, listeners[name]);
    };
  }, []);
  return isOver;
}

export function FilePicker({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const { t } = useText();
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = '';
        }}
      />
      <IconButton label={t('Add files')} onClick={() => picker.current?.click()}>
        <Paperclip size={18} aria-hidden />
      </IconButton>
    </>
  );
}

export function TooLargeNote({
  names,
  fileMaxBytes,
}: {
  readonly names: readonly string[];
  readonly fileMaxBytes: number | undefined;
}) {
  const { t, number } = useText();
  if (names.length === 0) return null;
  return (
    <Note tone="warn">
      {t('{names}: a file may have {size} at most.', { names: names.join(', '), size: formatBytes(fileMaxBytes ?? 0, number) })}
    </Note>
  );
}
