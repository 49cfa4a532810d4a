/** What may stand in a `<script>`: neither its end nor what starts a comment in HTML, and the same in JavaScript. */
export const inlineScript = (script: string): string =>
  script.replace(/<(?=\/script|!--)/gi, String.raw`\x3c`);
