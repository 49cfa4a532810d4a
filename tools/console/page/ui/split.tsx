import type { ComponentChildren, RefObject } from 'preact';

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
