import { costReport, type ReportBlock, scaleReport } from '../measure/cost/cost-report.ts';
import { readDeployment } from '../measure/cost/deployment.ts';
import { MEASURED_LOG_BYTES } from '../measure/cost/log-bytes.ts';
import { ACCOUNT_CONCURRENCY, defaultWorkload } from '../measure/cost/workload.ts';
import { fillPlace } from './marked-section.ts';

/** Inserts the output of `npm run cost`, without options and with `--scale`, into the document on scale and cost. */
export function withCostTables(document: string, assembly: string): string {
  const deployment = readDeployment(assembly);
  const cost = costReport(defaultWorkload, deployment, MEASURED_LOG_BYTES);
  const scale = scaleReport(defaultWorkload, deployment, ACCOUNT_CONCURRENCY);
  return fillPlace(fillPlace(document, 'cost', markdown(cost)), 'scale', markdown(scale));
}

const markdown = (report: readonly ReportBlock[]) => report.map(markdownBlock).join('\n\n');

function markdownBlock(block: ReportBlock): string {
  if (typeof block === 'string') return block;
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(block.head), `|${'---|'.repeat(block.head.length)}`, ...block.rows.map(line)].join('\n');
}
