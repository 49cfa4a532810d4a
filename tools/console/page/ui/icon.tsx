export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** SVG paths, drawn as strokes on a grid of 16 by 16 pixels. */
const PATHS = {
  close: 'M4 4l8 8M12 4l-8 8',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.6 10.6 14 14',
  copy: 'M6 5.5h7v8H6zM10 5.5v-3H3v8h3',
  back: 'M9.5 3.5 5 8l4.5 4.5',
  up: 'M8 13V3M3.5 7.5 8 3l4.5 4.5',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  down: 'M4 6l4 4 4-4',
} as const;

export type IconName = keyof typeof PATHS;
