/** Redoc computes with its colours, so that they cannot be variables of a style sheet: these are those of bar.css. */
const LIGHT = {
  ground: '#ffffff',
  sunk: '#f6f7f9',
  selected: '#ebebfb',
  line: '#e3e5ea',
  lineStrong: '#c9cdd6',
  text: '#16191f',
  soft: '#525a68',
  accent: '#4f4bd1',
  good: '#146c3c',
  warning: '#855400',
  bad: '#b3202c',
  info: '#22599c',
};

const DARK: typeof LIGHT = {
  ground: '#131417',
  sunk: '#0e0f11',
  selected: '#2a2a4a',
  line: '#2a2d33',
  lineStrong: '#40444d',
  text: '#eceef2',
  soft: '#a5abb8',
  accent: '#a5a3ff',
  good: '#6bd69a',
  warning: '#e9b857',
  bad: '#ff8f8f',
  info: '#84b9f5',
};

const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Ubuntu, sans-serif';
const MONO =
  'ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

/** Redoc's theme: https://redocly.com/docs/redoc/config#theme-settings. */
export function themeOf(isDark: boolean): object {
  const tone = isDark ? DARK : LIGHT;
  const answer = (color: string) => ({ color, backgroundColor: tone.sunk, tabTextColor: color });
  return {
    spacing: { unit: 4, sectionHorizontal: 32, sectionVertical: 24 },
    colors: {
      primary: { main: tone.accent },
      success: { main: tone.good },
      warning: { main: tone.warning, contrastText: tone.text },
      error: { main: tone.bad },
      gray: { 50: tone.sunk, 100: tone.line },
      text: { primary: tone.text, secondary: tone.soft },
      border: { dark: tone.lineStrong, light: tone.line },
      responses: {
        success: answer(tone.good),
        error: answer(tone.bad),
        redirect: answer(tone.warning),
        info: answer(tone.info),
      },
    },
    schema: {
      linesColor: tone.lineStrong,
      typeNameColor: tone.soft,
      typeTitleColor: tone.soft,
      requireLabelColor: tone.bad,
      labelsTextSize: '0.9em',
      nestedBackground: tone.sunk,
      arrow: { size: '1.1em', color: tone.soft },
    },
    typography: {
      fontSize: '14px',
      lineHeight: '1.6',
      fontFamily: SANS,
      headings: { fontFamily: SANS, fontWeight: '600', lineHeight: '1.4' },
      code: {
        fontSize: '13px',
        fontFamily: MONO,
        lineHeight: '1.6',
        color: tone.text,
        backgroundColor: tone.sunk,
        wrap: true,
      },
      links: { color: tone.accent, visited: tone.accent, hover: tone.accent, textDecoration: 'underline' },
    },
    sidebar: {
      width: '240px',
      backgroundColor: tone.sunk,
      textColor: tone.text,
      activeTextColor: tone.accent,
      arrow: { color: tone.soft },
    },
    rightPanel: { backgroundColor: isDark ? '#0e0f11' : '#1f2229', textColor: '#eceef2', width: '38%' },
    codeBlock: { backgroundColor: isDark ? '#1a1c20' : '#131417' },
  };
}
