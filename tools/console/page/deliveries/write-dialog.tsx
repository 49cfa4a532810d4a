import { EditDialog } from '../acting/edit-dialog.tsx';
import { useConsole } from '../shell/context.ts';
import { formatJson, textOf } from '../text/format-json.ts';

interface WriteDialogProps {
  onClose: () => void;
  onSent: (delivery: string) => void;
}

/** A body of one's own, which begins as a sample. */
export function WriteDialog({ onClose, onSent }: WriteDialogProps) {
  const [first] = useConsole().stack.events;
  if (first === undefined) return null;
  return <EditDialog title="Write and send" text={pretty(first.sample)} onClose={onClose} onSent={onSent} />;
}

function pretty(text: string): string {
  const formatted = formatJson(text);
  return formatted.ok ? textOf(formatted.lines) : text;
}
