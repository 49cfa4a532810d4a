import type { LoadReport } from './report.ts';
export function drawReport(report: LoadReport): string {
  return String(report.run);
}
