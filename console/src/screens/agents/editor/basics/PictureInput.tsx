import { useId, useState } from 'react';
import { useText } from '../../../../text/text.ts';
import { Button } from '../../../../ui/form/button.tsx';
import { useFaultWords } from '../../../../ui/form/faults/words.ts';
import type { FieldError } from '../../../../ui/form/field.tsx';
import styles from '../editor.module.css';

const sidePixels = 128;

/** Chooses the picture of an agent: a file, which is made small in the browser. */
export function PictureInput({
  value,
  onChange,
  error,
}: {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error: FieldError;
}) {
  const { t } = useText();
  const id = useId();
  const [fault, setFault] = useState<string>();
  const choose = async (file: File | undefined) => {
    if (file === undefined) return;
    try {
      onChange(await smallPicture(file));
      setFault(undefined);
    } catch {
      setFault(t('This file cannot be read as a picture.'));
    }
  };
  const { describeFault } = useFaultWords();
  const message = fault ?? (typeof error === 'object' ? describeFault(error) : error);
  return (
    <div className={styles.pictureInput}>
      <label htmlFor={id}>{t('Picture')}</label>
      <div className={styles.choices}>
        <input
          id={id}
          type="file"
          accept="image/png,image/jpeg,image/webp"
          aria-describedby={message === undefined ? undefined : `${id}-error`}
          onChange={(event) => void choose(event.target.files?.[0])}
        />
        {value === '' ? null : (
          <Button size="small" onClick={() => onChange('')}>
            {t('Remove the picture')}
          </Button>
        )}
      </div>
      {message === undefined ? null : (
        <p id={`${id}-error`} className={styles.fault}>
          {message}
        </p>
      )}
    </div>
  );
}

/** The middle of a picture as a small square, as a data URL. */
async function smallPicture(file: File): Promise<string> {
  const bitmap = await createImageBitmap(file);
  const side = Math.min(bitmap.width, bitmap.height);
  const canvas = document.createElement('canvas');
  canvas.width = sidePixels;
  canvas.height = sidePixels;
  const left = (bitmap.width - side) / 2;
  const top = (bitmap.height - side) / 2;
  canvas.getContext('2d')?.drawImage(bitmap, left, top, side, side, 0, 0, sidePixels, sidePixels);
  bitmap.close();
  return canvas.toDataURL('image/webp', 0.85);
}
