import * as z from 'zod/mini';
import { resolveIntrinsics } from '../../local/template/intrinsics.ts';

const annotation = z.object({ value: z.number(), yAxis: z.optional(z.enum(['left', 'right'])) });

const axis = z.optional(z.object({ label: z.optional(z.string()) }));

/** A metric is a list of namespace, name, dimensions and at last how it is shown; a formula only that. */
const metric = z.array(z.unknown());

const shownAs = z.object({
  id: z.optional(z.string()),
  label: z.optional(z.string()),
  expression: z.optional(z.string()),
  visible: z.optional(z.boolean()),
  yAxis: z.optional(z.string()),
});

const place = { x: z.number(), y: z.number(), width: z.number(), height: z.number() };

/** Source: CloudWatch user guide, "Dashboard body structure and syntax". */
const dashboardSchema = z.object({
  widgets: z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('text'), ...place, properties: z.object({ markdown: z.string() }) }),
      z.object({
        type: z.literal('alarm'),
        ...place,
        properties: z.object({ title: z.string(), alarms: z.array(z.string()) }),
      }),
      z.object({
        type: z.literal('metric'),
        ...place,
        properties: z.object({
          title: z.string(),
          stacked: z.optional(z.boolean()),
          metrics: z.array(metric),
          yAxis: z.optional(z.object({ left: axis, right: axis })),
          annotations: z.optional(z.object({ horizontal: z.optional(z.array(annotation)) })),
        }),
      }),
    ]),
  ),
});

export type DashboardBody = z.infer<typeof dashboardSchema>;
type Widget = DashboardBody['widgets'][number];
type WidgetOf<Type extends Widget['type']> = Extract<Widget, { type: Type }>;

/**
 * The dashboard of a template, in which a reference to a resource is the resource's logical id.
 * @throws Error where the template has none, or several, or a widget that cannot be drawn
 */
export function readDashboard(template: unknown): { readonly name: string; readonly body: DashboardBody } {
  const { Resources } = template as {
    Resources: Record<string, { Type: string; Properties: Record<string, unknown> }>;
  };
  const [dashboard, ...others] = Object.values(Resources).filter(
    ({ Type }) => Type === 'AWS::CloudWatch::Dashboard',
  );
  if (dashboard === undefined || others.length > 0) {
    throw new Error(`Expected one dashboard in the template, found ${others.length + (dashboard ? 1 : 0)}`);
  }
  const { DashboardName, DashboardBody } = resolveIntrinsics(dashboard.Properties, {
    ref: (name) => name,
    attribute: (resource) => resource,
  }) as Record<string, string>;
  return { name: String(DashboardName), body: dashboardSchema.parse(JSON.parse(String(DashboardBody))) };
}

/** Pixels of one column and of one row of CloudWatch's grid of 24 columns. */
const COLUMN = 54;
const ROW = 26;
const MARGIN = 24;
const GAP = 6;
const LINE = 14;

/** CloudWatch's own sequence begins so: blue, orange, green, red, … */
const SERIES = [
  '#1f77b4',
  '#ff7f0e',
  '#2ca02c',
  '#d62728',
  '#9467bd',
  '#8c564b',
  '#e377c2',
  '#7f7f7f',
  '#17becf',
];

/** Draws the layout of a dashboard: each widget at its place, with its title and what it shows. */
export function drawDashboard(template: unknown): string {
  const { name, body } = readDashboard(template);
  const width = 24 * COLUMN + 2 * MARGIN;
  const rows = Math.max(...body.widgets.map(({ y, height }) => y + height));
  const top = MARGIN + 34;
  const height = top + rows * ROW + MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="Helvetica, Arial, sans-serif">`,
    `<title>${escapeXml(`Layout of the CloudWatch dashboard ${name}`)}</title>`,
    `<rect width="${width}" height="${height}" fill="#f2f3f3"/>`,
    text(MARGIN + GAP, MARGIN + 18, `CloudWatch dashboard ${name}`, { size: 20, weight: 'bold' }),
    ...body.widgets.map((widget) => drawWidget(widget, top)),
    '</svg>',
    '',
  ].join('\n');
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function drawWidget(widget: Widget, top: number): string {
  const box = {
    x: MARGIN + widget.x * COLUMN + GAP / 2,
    y: top + widget.y * ROW + GAP / 2,
    width: widget.width * COLUMN - GAP,
    height: widget.height * ROW - GAP,
  };
  switch (widget.type) {
    case 'text':
      return drawText(widget, box);
    case 'alarm':
      return drawAlarms(widget, box);
    case 'metric':
      return drawGraph(widget, box);
  }
}

/** Headings by their level in markdown; anything else is a small note. */
function drawText({ properties }: WidgetOf<'text'>, { x, y, width, height }: Box): string {
  const [first = '', ...rest] = properties.markdown.split('\n').filter((line) => line !== '');
  const [, hashes = '', heading = first] = /^(#*) ?(.*)$/.exec(first) ?? [];
  if (hashes === '#') {
    return [
      `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="4" fill="#16325c"/>`,
      text(x + 14, y + 21, heading, { size: 18, weight: 'bold', fill: '#ffffff' }),
      ...rest.map((line, index) => text(x + 14, y + 39 + index * LINE, line, { size: 12, fill: '#d5dfec' })),
    ].join('\n');
  }
  return hashes === ''
    ? text(x + 2, y + height - 5, heading, { size: 12, fill: '#545b64' })
    : text(x + 2, y + height - 4, heading, { size: 13.5, weight: 'bold', fill: '#16325c' });
}

/** A chip for each alarm: what the console shows in green, grey and red. */
function drawAlarms({ properties: { title, alarms } }: WidgetOf<'alarm'>, box: Box): string {
  const columns = Math.max(1, Math.ceil(alarms.length / Math.max(1, Math.floor((box.height - 28) / 14))));
  const chip = Math.min(60, (box.width - 20) / columns);
  return [
    frame(box),
    text(box.x + 10, box.y + 18, `${title}: the states of all ${alarms.length}`, {
      size: 12.5,
      weight: 'bold',
    }),
    ...alarms.map(
      (_, index) =>
        `<rect x="${round(box.x + 10 + (index % columns) * chip)}" y="${box.y + 28 + Math.floor(index / columns) * 14}" width="${round(chip - 4)}" height="10" rx="2" fill="#2ca02c" fill-opacity="0.75"/>`,
    ),
  ].join('\n');
}

function drawGraph({ properties }: WidgetOf<'metric'>, box: Box): string {
  const { title, metrics, yAxis, annotations, stacked = false } = properties;
  const shown = describeMetrics(metrics);
  const inColumn = Math.floor((box.height - 46) / LINE);
  const columns = Math.max(1, Math.ceil(shown.length / inColumn));
  const columnWidth = (box.width - 20) / columns;
  const lines = shown.map(({ label, names, right }, index) => {
    const x = round(box.x + 10 + Math.floor(index / inColumn) * columnWidth);
    const y = box.y + 36 + (index % inColumn) * LINE;
    const color = SERIES[index % SERIES.length];
    return [
      stacked
        ? `<rect x="${x}" y="${y - 8}" width="10" height="9" fill="${color}" fill-opacity="0.6"/>`
        : `<rect x="${x}" y="${y - 4}" width="10" height="2.5" fill="${color}"/>`,
      legend(x + 15, y, right ? `${label} (right)` : label, columns === 1 ? names : []),
    ].join('\n');
  });
  const units = [
    yAxis?.left?.label,
    ...(yAxis?.right?.label === undefined ? [] : [`right: ${yAxis.right.label}`]),
    ...(stacked ? ['stacked'] : []),
  ];
  const thresholds = (annotations?.horizontal ?? []).map(({ value }) => value.toLocaleString('en'));
  return [
    frame(box),
    text(box.x + 10, box.y + 18, title, { size: 12.5, weight: 'bold' }),
    ...(columns === 1 ? [] : [note(box, 18, [...new Set(shown.flatMap(({ names }) => names))].join(', '))]),
    ...lines,
    text(box.x + 10, box.y + box.height - 7, units.join(' · '), { size: 10.5, fill: '#687078' }),
    ...(thresholds.length === 0
      ? []
      : [note(box, box.height - 7, `alarm at ${thresholds.join(', ')}`, '#d62728')]),
  ].join('\n');
}

/** What a graph draws: the metrics that are shown, and for a formula those it is made of. */
function describeMetrics(metrics: readonly (readonly unknown[])[]) {
  const read = metrics.map((list) => ({
    name: typeof list[1] === 'string' ? list[1] : '',
    ...z.catch(shownAs, {}).parse(list.at(-1)),
  }));
  return read
    .filter(({ visible = true }) => visible)
    .map(({ name, label = name, expression, yAxis }) => {
      const parts = read.filter(({ id }) => id && new RegExp(`\\b${id}\\b`).test(expression ?? ''));
      const names = expression === undefined ? [name] : parts.map((part) => part.name);
      return { label, names: [...new Set(names)], right: yAxis === 'right' };
    });
}

/** A line of a graph, and after it the names of its metrics. */
function legend(x: number, y: number, label: string, names: readonly string[]): string {
  const [first = '', ...others] = names.filter((name) => !label.startsWith(name));
  const shown = others.length === 0 ? first : `${first} +${others.length}`;
  return `<text x="${x}" y="${y}" font-size="11.5" fill="#16191f">${escapeXml(label)}<tspan dx="6" font-size="10" fill="#7d868e">${escapeXml(shown)}</tspan></text>`;
}

/** A small text at the right of a box. */
function note({ x, y, width }: Box, below: number, content: string, fill = '#7d868e'): string {
  return text(x + width - 10, y + below, content, { size: 10.5, fill, anchor: 'end' });
}

function frame({ x, y, width, height }: Box): string {
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="4" fill="#ffffff" stroke="#d5dbdb"/>`;
}

interface TextStyle {
  readonly size: number;
  readonly weight?: 'bold';
  readonly fill?: string;
  readonly anchor?: 'end';
}

function text(x: number, y: number, content: string, { size, weight, fill = '#16191f', anchor }: TextStyle) {
  const style = [
    `font-size="${size}"`,
    `fill="${fill}"`,
    ...(weight === undefined ? [] : [`font-weight="${weight}"`]),
    ...(anchor === undefined ? [] : [`text-anchor="${anchor}"`]),
  ].join(' ');
  return `<text x="${round(x)}" y="${round(y)}" ${style}>${escapeXml(content)}</text>`;
}

const round = (pixels: number) => Math.round(pixels * 10) / 10;

const escapeXml = (content: string) =>
  content.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
