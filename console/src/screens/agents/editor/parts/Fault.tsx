import styles from '../editor.module.css';

/** Why a value was refused, for what is not inside a Field. */
export function Fault({ text }: { readonly text: string | undefined }) {
  return text === undefined ? null : (
    <p className={styles.fault} role="alert">
      {text}
    </p>
  );
}
