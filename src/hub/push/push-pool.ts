/**
 * The threads of agents that the hub runs. Each thread has many agents and a limit on its memory. A thread that ends is
 * started again after a growing pause, and so is a thread that does not answer. Its agents are divided between two
 * threads then: after a few ends, an agent that needs too much memory or time is alone and disturbs no other agent.
 */
import { deadline } from '../../core/async/deadline.ts'
import { toError } from '../../core/errors.ts'
import { jsonEqual } from '../../core/json.ts'
import { backoffMs } from '../../core/time/backoff.ts'
import type { PushState } from '../../controllers/controllers.ts'
import type { HubPorts } from '../ports.ts'
import type { PushCall, PushedClusterState } from '../threads/messages.ts'
import { causeOfDeath } from '../threads/part-records.ts'
import type { Supervisor } from '../threads/supervisor.ts'
import type { Thread } from '../threads/thread.ts'
import type { PlainPushTarget } from '../threads/messages.ts'

export interface PushPoolOptions extends HubPorts {
  readonly startThread: () => Promise<Pick<Thread<'push'>, 'call' | 'death' | 'close' | 'kill'>>
  readonly noteEnd: Supervisor['noteEnd']
  /** Hears of clusters whose state changed. */
  readonly onChange: (name: string) => void
  /** Agents of one thread. Defaults to 50. */
  readonly perThread?: number
}

const PER_THREAD = 50
const ASK_EVERY_MS = 2000
/** A thread that does not answer for this long is stuck in one of its agents, and ends. */
const ANSWER_MS = 60_000
const PAUSE = { baseMs: 1000, maxMs: 60_000, jitter: 0.3 }
/** A thread that ran this long was well. */
const STABLE_MS = 300_000

interface Group {
  readonly targets: Map<string, PlainPushTarget>
  thread: Awaited<ReturnType<PushPoolOptions['startThread']>> | undefined
  /** True while a question about the states is on its way. */
  isAsked: boolean
  /** Ends in a row. */
  ends: number
  startedAtMs: number
  /** Changes of the group happen one at a time. */
  tail: Promise<void>
}

/** A group whose thread has not started. */
function groupAtRest(targets: Iterable<[string, PlainPushTarget]>, ends: number): Group {
  return {
    targets: new Map(targets),
    thread: undefined,
    isAsked: false,
    ends,
    startedAtMs: 0,
    tail: Promise.resolve(),
  }
}

export function createPushPool(options: PushPoolOptions) {
  const { clock, ids, log, startThread, noteEnd, onChange, perThread = PER_THREAD } = options
  const groups = new Set<Group>()
  const states = new Map<string, PushState>()
  let closing = new AbortController()

  const groupOf = (name: string) => [...groups].find(({ targets }) => targets.has(name))

  function newGroup(targets: Iterable<[string, PlainPushTarget]> = [], ends = 0): Group {
    const group = groupAtRest(targets, ends)
    groups.add(group)
    return group
  }

  function groupWithRoom(): Group {
    const [emptiest] = [...groups].toSorted((a, b) => a.targets.size - b.targets.size)
    // A thread that ended lately may end again: it gets no further agents.
    return emptiest && emptiest.targets.size < perThread && emptiest.ends === 0 ? emptiest : newGroup()
  }

  function enqueue(group: Group, work: () => Promise<void>): void {
    group.tail = group.tail.then(work).catch((caught: unknown) => {
      if (!closing.signal.aborted) log.warn({ err: toError(caught) }, 'a thread of agents did not take a change')
    })
  }

  async function tell(group: Group, call: PushCall): Promise<void> {
    if (group.thread) await group.thread.call(call, closing.signal)
    else if (group.targets.size > 0) await start(group)
  }

  /** Starts the thread of a group with all of its agents. */
  async function start(group: Group): Promise<void> {
    if (closing.signal.aborted || !groups.has(group)) return
    const thread = await startThread()
    // The hub closed, or the last agent went, while the thread started: a thread without a group would run on.
    if (closing.signal.aborted || !groups.has(group)) return await thread.kill()
    group.thread = thread
    group.startedAtMs = clock.monotonicMs()
    thread.death.catch((caught: unknown) => {
      if (group.thread === thread) ended(group, toError(caught))
    })
    for (const target of group.targets.values()) await thread.call({ do: 'run', target }, closing.signal)
  }

  function ended(group: Group, error: Error, cause = causeOfDeath(error)): void {
    noteEnd({ name: 'push', cause, error })
    group.thread = undefined
    groups.delete(group)
    if (closing.signal.aborted) return
    const ends = clock.monotonicMs() - group.startedAtMs > STABLE_MS ? 1 : group.ends + 1
    const targets = [...group.targets]
    for (const [name] of targets) note(name, RESTARTING)
    const middle = Math.ceil(targets.length / 2)
    for (const half of [targets.slice(0, middle), targets.slice(middle)]) {
      if (half.length === 0) continue
      const next = newGroup(half, ends)
      enqueue(next, async () => {
        await clock.sleep(backoffMs(ends - 1, ids.fraction(), PAUSE), closing.signal)
        await start(next)
      })
    }
  }

  function note(name: string, state: PushState): void {
    const before = states.get(name)
    if (before?.reason === state.reason && before.message === state.message) return
    states.set(name, { reason: state.reason, message: state.message })
    onChange(name)
  }

  return {
    stateOf: (name: string) => states.get(name),
    /** Runs an agent, or gives it a new credential. */
    run(target: PlainPushTarget): void {
      // A controller may call while the hub closes: no one would end a thread that starts now.
      if (closing.signal.aborted) return
      const known = groupOf(target.name)
      if (known && jsonEqual(known.targets.get(target.name), target)) return
      const group = known ?? groupWithRoom()
      group.targets.set(target.name, target)
      enqueue(group, () => tell(group, { do: 'run', target }))
    },
    /** Stops an agent; resolves when it has stopped. */
    async stop(name: string): Promise<void> {
      states.delete(name)
      const group = groupOf(name)
      if (!group) return
      group.targets.delete(name)
      enqueue(group, async () => {
        if (group.thread) await group.thread.call({ do: 'stop', name }, closing.signal)
        if (group.targets.size > 0) return
        const { thread } = group
        group.thread = undefined
        groups.delete(group)
        await thread?.close()
      })
      await group.tail
    },
    /**
     * Asks the threads for the states of their agents until the signal is aborted, and then stops all agents. Called
     * again by a hub that leads again; the agents of the new term are those that run from now on.
     */
    async serve(signal: AbortSignal): Promise<void> {
      if (closing.signal.aborted) closing = new AbortController()
      try {
        while (!signal.aborted) {
          for (const group of groups) void askGroup(group, { clock, closing, note, ended }).catch(() => {}) // killing a thread that is gone fails
          await clock.sleep(ASK_EVERY_MS, signal).catch(() => {}) // aborted: the loop ends
        }
      } finally {
        closing.abort()
        await Promise.all([...groups].map(async ({ thread }) => await thread?.close().catch(() => thread.kill())))
        groups.clear()
        states.clear()
      }
    },
  }
}

const RESTARTING: PushState = {
  reason: 'Restarting',
  message: 'The thread of the agent ended; the hub starts the agent again.',
}

interface AskScope {
  readonly clock: PushPoolOptions['clock']
  readonly closing: AbortController
  readonly note: (name: string, state: PushState) => void
  readonly ended: (group: Group, error: Error, cause: 'silent') => void
}

/** Asks a thread for the states of its agents. The hub asks the next thread before this one has answered. */
async function askGroup(group: Group, { clock, closing, note, ended }: AskScope): Promise<void> {
  const { thread, isAsked } = group
  if (!thread || isAsked) return
  group.isAsked = true
  try {
    const what = 'a thread of agents did not answer'
    const asked: PushedClusterState[] = await deadline(
      { clock, ms: ANSWER_MS, signal: closing.signal, what },
      async (signal) => await thread.call({ do: 'states' }, signal),
    )
    for (const { name, ...state } of asked) if (group.targets.has(name)) note(name, state)
    if (group.ends > 0 && clock.monotonicMs() - group.startedAtMs > STABLE_MS) group.ends = 0
  } catch (caught) {
    // A thread that ended by itself is started again; one that only hangs would stay.
    if (closing.signal.aborted || group.thread !== thread) return
    ended(group, toError(caught), 'silent')
    await thread.kill()
  } finally {
    group.isAsked = false
  }
}
