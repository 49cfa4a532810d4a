export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** Strokes on a grid of 16 by 16 pixels. */
const PATHS = {
  help: 'M6 6a2 2 0 1 1 2.8 1.8c-.6.3-.8.7-.8 1.4M8 11.8h.01M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13z',
  close: 'M4 4l8 8M12 4l-8 8',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.6 10.6 14 14',
  copy: 'M6 5.5h7v8H6zM10 5.5v-3H3v8h3',
  check: 'M3 8.5l3.2 3.2L13 5',
  back: 'M9.5 3.5 5 8l4.5 4.5',
  up: 'M8 13V3M3.5 7.5 8 3l4.5 4.5',
  sun: 'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9',
  moon: 'M13.5 9.6A6 6 0 0 1 6.4 2.5a6 6 0 1 0 7.1 7.1z',
  auto: 'M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  send: 'M2.5 8h10M8.5 4l4 4-4 4',
  down: 'M4 6l4 4 4-4',
} as const;

export type IconName = keyof typeof PATHS;
