import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useKeys } from '../use-keys.tsx';
import { Icon } from './icon.tsx';

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

/** A list, and the detail of its open row. */
export function Split({ detail, detailLabel, detailRef, children }: SplitProps) {
  if (detail === undefined) return <div class="split">{children}</div>;
  return (
    <div class="split is-open">
      {children}
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
