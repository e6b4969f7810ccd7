// Tested by src/controllers/rollout-advance/rings.sim.test.ts
/**
 * Checks of gates, in the background: a few at the same time, and each gate once at a time. Each answer has the time of
 * its check.
 */
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import { untilAborted } from '../../core/async/deadline.ts'
import { toError } from '../../core/errors.ts'
import { canonicalJson } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { formatTime } from '../../core/time/time.ts'
import type { Secret } from '../../kinds/builtin/core.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import type { GateAnswer, GateSpec } from '../../plan/rollout/gates/judge-gates.ts'
import type { RingGateQuery } from '../../plan/rollout/types.ts'
import { credentialsFor, readCredentials } from '../../source/credentials.ts'
import type { Credentials } from '../../source/credentials.ts'
import { parseSourceUrl } from '../../source/source-url.ts'

/** The check of a gate; plain data, so that a thread can run it. */
export type GateQuestion = { readonly url: string; readonly credentials?: Credentials } & (
  | { readonly kind: 'Webhook'; readonly body: JsonObject }
  | {
      readonly kind: 'Metric'
      readonly query: string
      readonly startMs: number
      readonly endMs: number
      readonly stepMs: number
    }
)

type WithoutTime<A> = A extends GateAnswer ? Omit<A, 'askedAt'> : never

/** The answer to a check; a check that fails has an answer too. */
export type GateReply = WithoutTime<GateAnswer>

/** Runs a check. */
export type AskGatePort = (question: GateQuestion, signal: AbortSignal) => Promise<GateReply>

/** The checks of all Rollouts and their answers. */
export interface GateChecks {
  answerOf(rollout: Rollout, ring: string, gate: string): GateAnswer | undefined
  ask(rollout: Rollout, asks: readonly RingGateQuery[]): void
  close(): Promise<void>
}

interface GateBookOptions {
  readonly clock: Clock
  readonly ask: AskGatePort
  secret(namespace: string, name: string, signal: AbortSignal): Promise<Secret | undefined>
  /** Called with the key of each Rollout that has a new answer. */
  onAnswer(key: string): void
}

/** Limits: checks at the same time, checks that wait, and the time for which an answer is kept. */
const GATE_LIMITS = { atOnce: 8, waiting: 2000, keptMs: 600_000 } as const

/** Creates the checks; none runs before `ask`. */
export function createGateChecks(options: GateBookOptions): GateChecks {
  const { clock } = options
  const closing = new AbortController()
  const answers = new Map<string, GateAnswer>()
  const waiting = new Map<string, () => Promise<void>>()
  const running = new Map<string, Promise<void>>()

  function pump(): void {
    for (const [key, work] of waiting) {
      if (running.size >= GATE_LIMITS.atOnce || closing.signal.aborted) return
      waiting.delete(key)
      running.set(
        key,
        work().finally(() => {
          running.delete(key)
          pump()
        }),
      )
    }
  }

  async function work(key: string, rollout: Rollout, ask: RingGateQuery): Promise<void> {
    const askedAt = clock.now()
    const reply = await untilAborted(questionAndAsk(rollout, ask), closing.signal).catch(
      (caught: unknown): GateReply => ({
        kind: 'Unreachable',
        message: toError(caught).message,
      }),
    )
    if (closing.signal.aborted) return
    answers.set(key, { ...reply, askedAt })
    options.onAnswer(keyOf(rollout))
  }

  async function questionAndAsk(rollout: Rollout, ask: RingGateQuery): Promise<GateReply> {
    return await options.ask(await questionOf(rollout, ask), closing.signal)
  }

  async function questionOf(rollout: Rollout, { ring, gate, window }: RingGateQuery): Promise<GateQuestion> {
    const { url, credentials: name } = (gate.webhook ?? gate.metric)!
    const known = name === undefined ? undefined : await credentials(rollout, url, name)
    const common = compact({ url, credentials: known })
    if (gate.metric && window) return { ...common, kind: 'Metric', query: gate.metric.query, ...window }
    return { ...common, kind: 'Webhook', body: bodyFor(rollout, ring, gate, clock.now()) }
  }

  async function credentials(rollout: Rollout, url: string, name: string): Promise<Credentials | undefined> {
    const secret = await options.secret(rollout.metadata.namespace ?? '', name, closing.signal)
    if (!secret) throw new Error(`its credentials name Secret ${name}, which does not exist`)
    return credentialsFor(parseSourceUrl(url, ['https', 'http']), readCredentials(secret), false)
  }

  function sweep(): void {
    const oldest = clock.now() - GATE_LIMITS.keptMs
    for (const [key, { askedAt }] of answers) if (askedAt < oldest) answers.delete(key)
  }

  return {
    answerOf: (rollout, ring, name) => {
      const gate = rollout.spec.rings.find((one) => one.name === ring)?.gates?.find((one) => one.name === name)
      return gate && answers.get(bookKey(rollout, ring, gate))
    },
    ask: (rollout, asks) => {
      if (asks.length === 0 || closing.signal.aborted) return
      sweep()
      for (const ask of asks) {
        const key = bookKey(rollout, ask.ring, ask.gate)
        // A check without a place is due again soon.
        if (running.has(key) || waiting.size >= GATE_LIMITS.waiting) continue
        waiting.set(key, () => work(key, rollout, ask))
      }
      // In a later step: an immediate answer must not arrive before the check is recorded.
      queueMicrotask(pump)
    },
    close: async () => {
      closing.abort(new Error('the hub is stopping'))
      waiting.clear()
      await Promise.all(running.values())
    },
  }
}

/** An edited gate, or a Rollout that was created again under the same name, has another key. */
function bookKey({ metadata }: Rollout, ring: string, gate: GateSpec): string {
  return canonicalJson({ uid: metadata.uid ?? '', ring, gate })
}

function bodyFor(rollout: Rollout, ring: string, { name, when }: GateSpec, now: number): JsonObject {
  const { metadata, spec } = rollout
  return compact({
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'GateQuestion',
    namespace: metadata.namespace ?? '',
    rollout: metadata.name,
    release: spec.release,
    plan: spec.plan,
    ring,
    gate: name,
    when,
    askedAt: formatTime(now),
  })
}
