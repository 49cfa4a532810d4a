import { useMemo } from 'preact/hooks';
import { formatJson } from './format-json.ts';
import { rawLines } from './lines.ts';
import { TextView } from './text-view.tsx';

interface TextBlockProps {
  text: string;
  label: string;
  /** Rows that it is high at most. */
  rows: number;
}

/** A text among other things: formatted where it is JSON, as it is where it is not. */
export function TextBlock({ text, label, rows }: TextBlockProps) {
  const lines = useMemo(() => {
    const json = formatJson(text);
    return json.ok ? json.lines : rawLines(text);
  }, [text]);
  return (
    <div class="text-block">
      <TextView lines={lines} label={label} rows={rows} />
    </div>
  );
}
