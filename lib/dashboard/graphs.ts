import { GraphWidget, type IMetric, type YAxisProps } from 'aws-cdk-lib/aws-cloudwatch';
import type { AlarmLines } from './alarm-lines.ts';

/** One graph of the dashboard. */
export interface Graph {
  /** In plain words: what the reader sees in it. */
  readonly title: string;
  /** Columns of the 24 that the dashboard has. */
  readonly width: number;
  readonly left: readonly IMetric[];
  /** Unit of the left axis. */
  readonly unit: string;
  /** @default no right axis */
  readonly right?: readonly IMetric[];
  /** Unit of the right axis. */
  readonly rightUnit?: string;
  /** Whether the values of the left axis add up. @default false */
  readonly stacked?: boolean;
}

/** Rows of the dashboard's grid that a graph takes: room for a title, a curve and a legend of two lines. */
const GRAPH_HEIGHT = 6;

/** Draws graphs of one height, with units at their axes and the thresholds of alarms as lines. */
export class Graphs {
  readonly #alarmLines: AlarmLines;

  constructor(alarmLines: AlarmLines) {
    this.#alarmLines = alarmLines;
  }

  draw({ title, width, left, unit, right = [], rightUnit, stacked = false }: Graph): GraphWidget {
    return new GraphWidget({
      title,
      width,
      height: GRAPH_HEIGHT,
      left: [...left],
      leftYAxis: axis(unit),
      leftAnnotations: this.#alarmLines.of(left),
      stacked,
      ...(rightUnit !== undefined && {
        right: [...right],
        rightYAxis: axis(rightUnit),
        rightAnnotations: this.#alarmLines.of(right),
      }),
    });
  }
}

const axis = (label: string): YAxisProps => ({ min: 0, label, showUnits: false });
