import type { ActiveFault } from '../../api.ts';
import { Button } from '../shared/button.tsx';
import { expectation, faultTitle } from './fault-text.ts';

interface ActiveFaultsProps {
  active: readonly ActiveFault[];
  onEnd: (id: string) => void;
}

/** What is on, whom it has hit, and what to expect of it. */
export function ActiveFaults({ active, onEnd }: ActiveFaultsProps) {
  return (
    <section class="stack" aria-labelledby="active-faults">
      <h2 id="active-faults">On now</h2>
      {active.length === 0 ? (
        <p class="soft">Nothing is broken. What goes wrong now goes wrong by itself.</p>
      ) : (
        <table class="table table-flush active-table">
          <caption class="visually-hidden">Faults that are on</caption>
          <thead>
            <tr>
              <th scope="col">Fault</th>
              <th scope="col">Expect</th>
              <th scope="col" class="number">
                Calls hit
              </th>
              <th scope="col">
                <span class="visually-hidden">End</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {active.map((fault) => (
              <tr key={fault.id}>
                <th scope="row" class="active-fault">
                  {faultTitle(fault)}
                </th>
                <td class="soft">{expectation(fault)}</td>
                <td class="number">{fault.hits.toLocaleString('en')}</td>
                <td class="act">
                  <Button aria-label={`End: ${faultTitle(fault)}`} onClick={() => onEnd(fault.id)}>
                    End
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
