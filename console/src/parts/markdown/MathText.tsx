import { useEffect, useRef, useState } from 'react';
import styles from './markdown.module.css';
import type { MathToken } from './reading/math-rules.ts';

/** Mathematics. Until its library is loaded, and where it is no TeX, it is shown as it is written. */
export function MathText({ math: { tex, raw, isDisplay } }: { readonly math: MathToken }) {
  const place = useRef<HTMLSpanElement>(null);
  const [drawn, setDrawn] = useState<string>();
  useEffect(() => {
    let isLeft = false;
    import('./draw-math.ts')
      .then(({ drawMath }) => {
        if (isLeft || place.current === null) return;
        drawMath(place.current, tex, isDisplay);
        setDrawn(raw);
      })
      // It stays as it is written.
      .catch(() => undefined);
    return () => {
      isLeft = true;
    };
  }, [tex, raw, isDisplay]);
  const isDrawn = drawn === raw;
  const Box = isDisplay ? 'div' : 'span';
  return (
    <Box className={isDisplay ? styles.display : undefined} dir="ltr" data-math={isDrawn ? 'drawn' : 'source'} title={tex}>
      <span ref={place} hidden={!isDrawn} />
      {isDrawn ? null : <code>{raw.trim()}</code>}
    </Box>
  );
}
