import { afterEach, beforeEach, jest } from '@jest/globals';
import type { InjectedFaults } from 'local-aws/faults';
import type { FunctionLogLine } from 'local-aws/invocation';

type FunctionLine = Readonly<Record<string, unknown>>;

/** One metric of an EMF document. Source: CloudWatch user guide, "Specification: Embedded metric format". */
export interface PublishedMetric {
  readonly name: string;
  readonly dimensions: Readonly<Record<string, unknown>>;
}

interface EmfDocument extends FunctionLine {
  readonly _aws: {
    readonly CloudWatchMetrics: readonly {
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string }[];
    }[];
  };
}

/** Output of functions: their log lines and their metrics. */
export class FunctionLines {
  readonly logged: FunctionLine[] = [];
  readonly metrics: PublishedMetric[] = [];

  /** Captures the output of functions in this process, until mocks are restored. */
  capture(): void {
    this.logged.length = 0;
    this.metrics.length = 0;
    for (const stream of [process.stdout, process.stderr]) {
      jest.spyOn(stream, 'write').mockImplementation((text) => {
        this.add({ text: String(text) });
        return true;
      });
    }
  }

  /** Adds a line. Tests pass this function as `onLog` to the local stack. */
  readonly add = ({ text }: Pick<FunctionLogLine, 'text'>): void => {
    if (!text.startsWith('{')) return;
    const line: FunctionLine = JSON.parse(text);
    if ('_aws' in line) this.#addMetrics(line as EmfDocument);
    else this.logged.push(line);
  };

  /** The log lines of one function, optionally with this message only. */
  of(service: string, message?: string): FunctionLine[] {
    return this.logged.filter(
      (line) => line.service === service && (message === undefined || line.message === message),
    );
  }

  published(name: string): PublishedMetric[] {
    return this.metrics.filter((metric) => metric.name === name);
  }

  #addMetrics(document: EmfDocument): void {
    for (const { Dimensions, Metrics } of document._aws.CloudWatchMetrics) {
      const dimensions = Object.fromEntries(Dimensions.flat().map((name) => [name, document[name]]));
      for (const { Name } of Metrics) this.metrics.push({ name: Name, dimensions });
    }
  }
}

/** During each test, captures the output of functions, and lets the SDK retry at once. Then ends the test's faults. */
export function captureInTests(lines: FunctionLines, faults?: InjectedFaults): void {
  beforeEach(() => {
    lines.capture();
    // With this number, the SDK retries a call at once.
    jest.spyOn(Math, 'random').mockReturnValue(0);
  });
  afterEach(() => {
    jest.restoreAllMocks();
    faults?.clear();
  });
}
