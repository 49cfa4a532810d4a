import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Action, Confirmation, Task } from '../../api.ts';
import { errorText } from '../shared/error-text.ts';
import { useConsole } from '../shell/context.ts';
import { useLive } from '../stream/use-live.ts';
import { asksFirst, endedCount, isSeenElsewhere, refusalOf } from './action-kind.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';

interface Tasks {
  /** Why nothing can be changed here. */
  readonly refusal: string | undefined;
  /**
   * Begins actions, one after the other; of a stage once somebody has confirmed them.
   * @returns undefined where nobody has
   */
  readonly act: (actions: readonly Action[]) => Promise<readonly Task[] | undefined>;
  /** Whether the tasks are in view. */
  readonly open: boolean;
  readonly setOpen: (open: boolean) => void;
  /** Of the task whose lines are shown; undefined: the newest. */
  readonly selected: string | undefined;
  readonly select: (id: string | undefined) => void;
}

interface Question {
  readonly id: string;
  readonly confirmations: readonly Confirmation[];
  readonly answer: (confirmed: boolean) => void;
}

const TasksContext = createContext<Tasks | undefined>(undefined);

export function useTasks(): Tasks {
  const value = useContext(TasksContext);
  if (value === undefined) throw new Error('A view stands outside of the tasks');
  return value;
}

/** Whatever acts stands within: it asks before it acts, and shows what became of it. */
export function TasksProvider({ children }: { children: ComponentChildren }) {
  const { api, stack, live } = useConsole();
  const { connection } = useLive();
  /** The first of them is asked; the others wait until it is answered. */
  const [questions, setQuestions] = useState<readonly Question[]>([]);
  const [open, setOpen] = useState(false);
  const [selected, setSelected] = useState<string>();

  const isLive = connection.state === 'live';
  useEffect(() => {
    if (!isLive) return;
    // Begun by another page, or ended while the stream was broken. Where it fails, they are missed in the dock alone.
    api.get<readonly Task[]>('/api/tasks').then(
      (tasks) => {
        for (const task of tasks.toReversed()) live.putTask(task);
      },
      () => {},
    );
  }, [api, live, isLive]);

  const value = useMemo<Tasks>(() => {
    const confirmed = async (actions: readonly Action[]) => {
      const confirmations = await Promise.all(actions.map((action) => api.ask(action)));
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const question = { id: crypto.randomUUID(), confirmations, answer: resolve };
      setQuestions((before) => [...before, question]);
      const answer = await promise;
      setQuestions((before) => before.filter((other) => other !== question));
      return answer;
    };
    return {
      refusal: refusalOf(stack),
      open,
      setOpen,
      selected,
      select: setSelected,
      act: async (actions) => {
        if (asksFirst(stack, actions) && !(await confirmed(actions))) return undefined;
        const tasks: Task[] = [];
        for (const action of actions) {
          const task = await api.act(action);
          live.putTask(task);
          tasks.push(task);
          if (isSeenElsewhere(action)) continue;
          setSelected(task.id);
          setOpen(true);
        }
        return tasks;
      },
    };
  }, [api, stack, live, open, selected]);

  const [question] = questions;
  return (
    <TasksContext.Provider value={value}>
      {children}
      {question !== undefined && (
        <ConfirmDialog
          key={question.id}
          confirmations={question.confirmations}
          answer={question.answer}
          title={stack.title}
        />
      )}
    </TasksContext.Provider>
  );
}

/** Calls back whenever a task has come to its end, as what is shown may have changed by it. */
export function useTaskEnds(callback: () => void): void {
  const ended = endedCount(useLive().tasks);
  const before = useRef(ended);
  useEffect(() => {
    if (ended > before.current) callback();
    before.current = ended;
  }, [ended, callback]);
}

/** Begins actions, and knows how that went. */
export function useAct() {
  const { act, refusal } = useTasks();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const run = async (actions: readonly Action[]): Promise<readonly Task[] | undefined> => {
    setBusy(true);
    setError(undefined);
    try {
      return await act(actions);
    } catch (failure) {
      setError(errorText(failure));
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  return { run, busy, error, refusal };
}
