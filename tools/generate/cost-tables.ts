import { type Costs, costs } from '../measure/cost/cost-model.ts';
import { costReport, type ReportBlock, scaleReport } from '../measure/cost/cost-report.ts';
import { readDeployment } from '../measure/cost/deployment.ts';
import { type LineItem, totalDollars } from '../measure/cost/line-item.ts';
import { MEASURED_LOG_BYTES } from '../measure/cost/log-bytes.ts';
import { ACCOUNT_CONCURRENCY, defaultWorkload } from '../measure/cost/workload.ts';
import { fillPlace } from './marked-section.ts';

/**
 * Inserts the output of `npm run cost`, without options and with `--scale`, into the document on scale and cost. One
 * table by service replaces the two of line items.
 */
export function withCostTables(document: string, assembly: string): string {
  const deployment = readDeployment(assembly);
  const [head = '', _items, _fixedHead, _fixedItems, ...rest] = costReport(
    defaultWorkload,
    deployment,
    MEASURED_LOG_BYTES,
  );
  const cost = [head, byService(costs(defaultWorkload, deployment, MEASURED_LOG_BYTES)), ...rest];
  const scale = scaleReport(defaultWorkload, deployment, ACCOUNT_CONCURRENCY);
  return fillPlace(fillPlace(document, 'cost', markdown(cost)), 'scale', markdown(scale));
}

function byService({ deliveries, standing }: Costs): ReportBlock {
  const services = new Set([...deliveries, ...standing].map(({ service }) => service));
  const sum = (items: readonly LineItem[]) => (items.length === 0 ? '' : totalDollars(items).toFixed(2));
  return {
    head: ['Service', '$ for the deliveries', '$ fixed'],
    rows: [
      ...[...services].map((service) => {
        const ofService = (item: LineItem) => item.service === service;
        return [service, sum(deliveries.filter(ofService)), sum(standing.filter(ofService))];
      }),
      ['Sum', sum(deliveries), sum(standing)],
    ],
  };
}

const markdown = (report: readonly ReportBlock[]) => report.map(markdownBlock).join('\n\n');

function markdownBlock(block: ReportBlock): string {
  if (typeof block === 'string') return block;
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(block.head), `|${'---|'.repeat(block.head.length)}`, ...block.rows.map(line)].join('\n');
}
