import { useEffect, useRef } from 'preact/hooks';

/**
 * The reason why a control is refused. The control refers to it by `aria-describedby`, for screen readers.
 * {@link RefusalTip} shows it to everybody else.
 */
export function Refusal({ id, text }: { id: string; text: string | undefined }) {
  // When the reason no longer applies, its tip must go, and not only when the pointer moves.
  useEffect(
    () => () => {
      const tip = document.querySelector<HTMLElement>('.refusal-tip:popover-open');
      if (tip !== null && tip.textContent === text) tip.hidePopover();
    },
    [text],
  );
  if (text === undefined) return null;
  return (
    <span id={id} data-refusal hidden>
      {text}
    </span>
  );
}

/** Pixels between a control and the tip with its reason, and between the tip and the edge of the window. */
const DISTANCE = 6;

/**
 * A tip with the reason of the refused control that has the pointer or the focus, or was touched. The tip
 * closes when another element has the pointer or the focus, when the page scrolls, and on Escape (WCAG 1.4.13).
 */
export function RefusalTip() {
  const tip = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const hide = () => tip.current?.hidePopover();
    const update = ({ target }: Event) => {
      const element = tip.current;
      if (element === null || !(target instanceof Element) || element.contains(target)) return;
      const reason = target.closest('[aria-disabled]')?.querySelector(':scope > [data-refusal]');
      if (!reason?.parentElement) {
        hide();
        return;
      }
      element.textContent = reason.textContent;
      element.showPopover();
      const control = reason.parentElement.getBoundingClientRect();
      const { width, height } = element.getBoundingClientRect();
      const below = control.bottom + DISTANCE;
      const isOutside = below + height > innerHeight;
      element.style.top = `${isOutside ? control.top - DISTANCE - height : below}px`;
      element.style.left = `${Math.max(DISTANCE, Math.min(control.left, innerWidth - width - DISTANCE))}px`;
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || !tip.current?.matches(':popover-open')) return;
      hide();
      event.preventDefault();
      event.stopPropagation();
    };
    const off = new AbortController();
    const options = { capture: true, signal: off.signal };
    addEventListener('pointerover', update, options);
    addEventListener('focusin', update, options);
    addEventListener('keydown', onKey, options);
    addEventListener('scroll', hide, options);
    return () => off.abort();
  }, []);
  return <div ref={tip} class="refusal-tip" popover="manual" aria-hidden="true" />;
}
