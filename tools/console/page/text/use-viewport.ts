import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Of an element that scrolls: its inner size, and how far it is scrolled, once a frame. */
export function useViewport(element: RefObject<HTMLElement | null>): Size & { readonly scrollTop: number } {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [scrollTop, setScrollTop] = useState(0);
  const frame = useRef(0);
  useLayoutEffect(() => {
    const scrolled = element.current;
    if (scrolled === null) return;
    const measure = () => setSize({ width: scrolled.clientWidth, height: scrolled.clientHeight });
    const onScroll = () => {
      cancelAnimationFrame(frame.current);
      frame.current = requestAnimationFrame(() => setScrollTop(scrolled.scrollTop));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(scrolled);
    scrolled.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      scrolled.removeEventListener('scroll', onScroll);
      cancelAnimationFrame(frame.current);
    };
  }, [element]);
  return { ...size, scrollTop };
}
