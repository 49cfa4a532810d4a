import { signal } from '@preact/signals';
import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { hasModifier } from '../shortcuts.ts';
import { useKeys } from '../use-keys.tsx';
import { Icon } from './icon.tsx';

const STORAGE_KEY = 'console-split';

/** Width of the list in percent of the page: minimum, maximum and default. */
const MINIMUM = 25;
const MAXIMUM = 75;
const DEFAULT = 45;

/** Percent by which an arrow key moves the splitter. */
const STEP = 2;

const clamp = (percent: number) => Math.min(MAXIMUM, Math.max(MINIMUM, Math.round(percent)));

/** Width of the list in percent of the page. All views share it, and the browser stores it. */
const share = signal(clamp(Number(localStorage.getItem(STORAGE_KEY) ?? DEFAULT) || DEFAULT));

function move(percent: number): void {
  share.value = clamp(percent);
  localStorage.setItem(STORAGE_KEY, String(share.value));
}

interface SplitProps {
  /**
   * Undefined if no row is open: the list then has the full width. On a narrow page the detail replaces the
   * list.
   */
  detail: ComponentChildren | undefined;
  detailLabel: string;
  detailRef?: RefObject<HTMLElement | null>;
  children: ComponentChildren;
}

/** A list, the detail of its open row, and a splitter between them. */
export function Split({ detail, detailLabel, detailRef, children }: SplitProps) {
  const element = useRef<HTMLDivElement>(null);
  const onPointerMove = (event: PointerEvent) => {
    const box = element.current?.getBoundingClientRect();
    const bar = event.currentTarget as HTMLElement;
    if (box === undefined || !bar.hasPointerCapture(event.pointerId)) return;
    move(((event.clientX - box.left) / box.width) * 100);
  };
  if (detail === undefined) return <div class="split">{children}</div>;
  return (
    <div ref={element} class="split is-open" style={{ '--share': `${share.value}%` }}>
      {children}
      {/* biome-ignore lint/a11y/useSemanticElements: a splitter that moves is a widget and no line */}
      <div
        role="separator"
        class="splitter"
        tabIndex={0}
        aria-label="Width of the list"
        aria-orientation="vertical"
        aria-valuenow={share.value}
        aria-valuemin={MINIMUM}
        aria-valuemax={MAXIMUM}
        onPointerDown={(event) => {
          // Prevents text selection while dragging.
          event.preventDefault();
          event.currentTarget.focus();
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={onPointerMove}
        onDblClick={() => move(DEFAULT)}
        onKeyDown={(event) => {
          const to = {
            ArrowLeft: share.value - STEP,
            ArrowRight: share.value + STEP,
            Home: MINIMUM,
            End: MAXIMUM,
          };
          const percent = to[event.key as keyof typeof to];
          if (percent === undefined || hasModifier(event)) return;
          event.preventDefault();
          event.stopPropagation();
          move(percent);
        }}
      />
      <section
        {...(detailRef !== undefined && { ref: detailRef })}
        id="detail"
        class="detail-pane"
        aria-label={detailLabel}
        tabIndex={-1}
      >
        {detail}
      </section>
    </div>
  );
}

/**
 * Milliseconds until the list is drawn again. Then the focus returns to it, unless another element has taken
 * the focus.
 */
const FOCUS_DELAY = 50;

interface PaneProps {
  title: ComponentChildren;
  closeLabel: string;
  list: string;
  link: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/**
 * A detail next to a list whose rows are links. It takes the focus, returns it to the row's link, and closes
 * on Escape.
 */
export function Pane({ title, closeLabel, list, link, actions, children }: PaneProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useKeys('pane', {
    Escape: () => {
      location.hash = list;
    },
  });
  // A layout effect, because other effects run their cleanup after the focused pane is removed.
  useLayoutEffect(() => {
    const pane = heading.current?.closest('section');
    heading.current?.focus();
    return () => {
      if (!pane?.contains(document.activeElement)) return;
      setTimeout(() => {
        if (document.activeElement !== document.body) return;
        document.querySelector<HTMLElement>(`a[href="${CSS.escape(link)}"]`)?.focus();
      }, FOCUS_DELAY);
    };
  }, [link]);
  return (
    <div class="page">
      <div class="stack">
        <header class="row">
          <h2 ref={heading} tabIndex={-1} class="grow wrap">
            {title}
          </h2>
          {actions}
          <a class="icon-button" href={list} aria-label={closeLabel}>
            <Icon name="close" />
          </a>
        </header>
        {children}
      </div>
    </div>
  );
}
