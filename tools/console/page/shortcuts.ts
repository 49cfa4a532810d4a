const VIEW = 'Views, left to right';
const NEXT = 'Next';
const PREVIOUS = 'Previous';

/** Text of each shortcut, by part of the page and `KeyboardEvent.key`. The help shows this table. */
export const SHORTCUTS = {
  page: {
    title: 'Everywhere',
    keys: {
      '1': VIEW,
      '2': VIEW,
      '3': VIEW,
      '/': 'Search deliveries',
      '?': 'This help',
    },
  },
  list: {
    title: 'List of deliveries',
    keys: {
      j: NEXT,
      ArrowDown: NEXT,
      k: PREVIOUS,
      ArrowUp: PREVIOUS,
      Enter: 'Go to the detail',
      n: 'Go to the newest and follow',
      Escape: 'Close',
    },
  },
  delivery: {
    title: 'Delivery',
    keys: {
      r: 'Send, redrive or resume, as the state requires',
      e: 'Edit and send',
      c: 'Copy as curl',
    },
  },
} as const;

export type PagePart = keyof typeof SHORTCUTS;
export type KeyOf<P extends PagePart> = keyof (typeof SHORTCUTS)[P]['keys'] & string;
/** Any key that the help lists. */
export type ShortcutKey = { [P in PagePart]: KeyOf<P> }[PagePart];
