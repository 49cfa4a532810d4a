import { type ReadonlySignal, type Signal, useSignal } from '@preact/signals';
import { formatRoute } from '../route.ts';
import { Button } from '../ui/button.tsx';
import { copyText } from '../ui/copy.tsx';
import type { JsonField } from './json-field.ts';
import type { MountedText } from './mount-text.ts';
import { Visible } from './visible.tsx';

interface FieldRowProps {
  view: MountedText;
  field: ReadonlySignal<JsonField | undefined>;
}

/** Row below a JSON text: the value at the cursor, and its actions. */
export function FieldRow({ view, field: { value: field } }: FieldRowProps) {
  const isFolded = useSignal(false);
  const copied = useSignal<Copied | undefined>(undefined);
  const fold = () => {
    if (isFolded.value) view.unfoldAll();
    else view.foldAll();
    isFolded.value = !isFolded.value;
  };
  return (
    <div class="field-row row">
      <p class="cut" role="status">
        {field === undefined ? (
          <span class="soft">Select a value to copy it or to filter by it.</span>
        ) : (
          <>
            {copied.value?.field === field && <b>{copied.value.what} copied. </b>}
            <FieldText field={field} />
          </>
        )}
      </p>
      {field !== undefined && <FieldActions field={field} copied={copied} />}
      {view.canFold && (
        <Button kind="quiet" onClick={fold}>
          {isFolded.value ? 'Unfold all' : 'Fold all'}
        </Button>
      )}
    </div>
  );
}

interface Copied {
  readonly field: JsonField;
  readonly what: 'Value' | 'Path';
}

const FieldText = ({ field: { path, source, isContainer } }: { field: JsonField }) => (
  <code>
    <b>{path === '' ? 'The whole text' : <Visible text={path} />}</b>
    {!isContainer && (
      <>
        {' = '}
        <Visible text={source} />
      </>
    )}
  </code>
);

/** Maximum characters of a value that can be searched for. */
const MAX_SEARCHED_LENGTH = 200;

interface FieldActionsProps {
  field: JsonField;
  /** What was copied last. Shown next to the buttons, because a toast would cover them. */
  copied: Signal<Copied | undefined>;
}

function FieldActions({ field, copied }: FieldActionsProps) {
  const { path, source, value, isContainer } = field;
  const copy = async (text: string, what: Copied['what']) => {
    if (await copyText(text)) copied.value = { field, what };
  };
  // The value as JSON writes it, because payloads are searched as text.
  const search = isContainer ? '' : source.replaceAll(/^"|"$/g, '');
  const filter = isContainer ? undefined : FILTERS.get(path);
  return (
    <>
      <Button kind="quiet" onClick={() => copy(value, 'Value')}>
        Copy value
      </Button>
      {path !== '' && (
        <Button kind="quiet" onClick={() => copy(path, 'Path')}>
          Copy path
        </Button>
      )}
      {search !== '' && search.length <= MAX_SEARCHED_LENGTH && (
        <a class="button button-quiet" href={formatRoute({ view: 'deliveries', query: { search } })}>
          Search deliveries
        </a>
      )}
      {filter !== undefined && (
        <a
          class="button button-quiet"
          href={formatRoute({ view: 'deliveries', query: { search: `${filter.name}:${value}` } })}
        >
          {filter.text}
        </a>
      )}
    </>
  );
}

/** Filters of the list that a value can be used for, by its path in the payload. */
const FILTERS = new Map([
  ['event', { name: 'event', text: 'Filter by this event' }],
  ['data.shop_id', { name: 'shop', text: 'Filter by this shop' }],
]);
