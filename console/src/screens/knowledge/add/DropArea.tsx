import { type DragEvent, type ReactNode, useRef, useState } from 'react';
import { useText } from '../../../text/text.ts';
import styles from './add.module.css';
import { droppedFiles, type NamedFile } from './dropped.ts';

/** Takes files and folders that are dropped anywhere on it. */
export function DropArea({
  isDisabled = false,
  onFiles,
  children,
}: {
  readonly isDisabled?: boolean;
  readonly onFiles: (files: readonly NamedFile[]) => void;
  readonly children: ReactNode;
}) {
  const { t } = useText();
  // Every element on the way tells that the pointer enters and leaves it.
  const depth = useRef(0);
  const [isOver, setOver] = useState(false);
  const hasFiles = (event: DragEvent) => !isDisabled && event.dataTransfer.types.includes('Files');
  const move = (event: DragEvent, step: 1 | -1) => {
    if (!hasFiles(event)) return;
    depth.current += step;
    setOver(depth.current > 0);
  };
  const drop = async (event: DragEvent) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth.current = 0;
    setOver(false);
    const files = await droppedFiles(event.dataTransfer);
    if (files.length > 0) onFiles(files);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is for pointers; a button does the same
    <div
      className={styles.area}
      onDragEnter={(event) => move(event, 1)}
      onDragLeave={(event) => move(event, -1)}
      onDragOver={(event) => hasFiles(event) && event.preventDefault()}
      onDrop={(event) => void drop(event)}
    >
      {children}
      {isOver ? <div className={styles.over}>{t('Drop files or folders to add them')}</div> : null}
    </div>
  );
}
