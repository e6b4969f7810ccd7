/** Questions to the world, asked in the background: a few at a time, each gate at most once at a time; the answers are facts with times. */
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

/** What a gate asks somebody; plain data. */
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

/** What came back; what cannot be asked is an answer too. */
export type GateReply = WithoutTime<GateAnswer>

/** Asks somebody outside. */
export type AskGatePort = (question: GateQuestion, signal: AbortSignal) => Promise<GateReply>

/** The questions of all Rollouts and what was answered. */
export interface GateChecks {
  answerOf(rollout: Rollout, ring: string, gate: string): GateAnswer | undefined
  ask(rollout: Rollout, asks: readonly RingGateQuery[]): void
  close(): Promise<void>
}

interface GateBookOptions {
  readonly clock: Clock
  readonly ask: AskGatePort
  secret(namespace: string, name: string, signal: AbortSignal): Promise<Secret | undefined>
  /** Hears each Rollout, by its key, that has an answer. */
  onAnswer(key: string): void
}

/** How many are asked at once, how many may wait, and how long an answer is kept at most. */
const GATE_LIMITS = { atOnce: 8, waiting: 2000, keptMs: 600_000 } as const

/** Makes an empty book. */
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
    const common = { url, ...(known ? { credentials: known } : {}) }
    if (gate.metric && window) return { ...common, kind: 'Metric', query: gate.metric.query, ...window }
    return { ...common, kind: 'Webhook', body: bodyFor(rollout, ring, gate, clock.now()) }
  }

  async function credentials(rollout: Rollout, url: string, name: string): Promise<Credentials | undefined> {
    const secret = await options.secret(rollout.metadata.namespace ?? '', name, closing.signal)
    if (!secret) throw new Error(`its credentials name Secret ${name}, and there is none`)
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
        // What finds no place now is due again soon.
        if (running.has(key) || waiting.size >= GATE_LIMITS.waiting) continue
        waiting.set(key, () => work(key, rollout, ask))
      }
      // After the caller's own step: an answer that comes at once must not come before the question was written down.
      queueMicrotask(pump)
    },
    close: async () => {
      closing.abort(new Error('the hub is stopping'))
      waiting.clear()
      await Promise.all(running.values())
    },
  }
}

/** An edited gate, or a Rollout made anew under the same name, is another one. */
function bookKey({ metadata }: Rollout, ring: string, gate: GateSpec): string {
  return canonicalJson({ uid: metadata.uid ?? '', ring, gate })
}

function bodyFor(rollout: Rollout, ring: string, { name, when }: GateSpec, now: number): JsonObject {
  const { metadata, spec } = rollout
  return {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'GateQuestion',
    namespace: metadata.namespace ?? '',
    rollout: metadata.name,
    release: spec.release,
    ...(spec.plan === undefined ? {} : { plan: spec.plan }),
    ring,
    gate: name,
    when,
    askedAt: formatTime(now),
  }
}
