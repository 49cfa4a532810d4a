/** The logo in the page's header. `server/page.ts` serves the same shapes as the favicon. */
export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <path d="M3 6.5h6.5M3 10h4M3 13.5h6.5" />
      <circle cx="13.5" cy="10" r="4.5" />
    </svg>
  );
}
