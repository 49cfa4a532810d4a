import { useEffect, useState } from 'preact/hooks';

/** Below this width a row has two lines. As in the stylesheet, and so are the heights, in pixels. */
const NARROW = '(max-width: 1199px)';
const ONE_LINE = 32;
const TWO_LINES = 50;

export function useRowHeight(): number {
  const [isNarrow, setIsNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const update = () => setIsNarrow(query.matches);
    query.addEventListener('change', update);
    return () => query.removeEventListener('change', update);
  }, []);
  return isNarrow ? TWO_LINES : ONE_LINE;
}
