// Tested by src/dialects/argo/scm/services.sim.test.ts
/** Answers of git services and plugins for ApplicationSets, kept until they are asked again. */
import type { Client } from '../../../client/client.ts'
import { findObject } from '../../../client/find-object.ts'
import { fromBase64, fromUtf8 } from '../../../core/bytes.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import { ConfigMap, Secret } from '../../../kinds/builtin/core.ts'
import type { HttpGet } from '../../../source/http-get.ts'
import type { Clock } from '../../../core/time/clock.ts'
import { SECRET_TYPE } from '../repositories/repository-secrets.ts'
import { AnswerBudget } from './answer-budget.ts'
import { askService } from './ask-service.ts'
import type { ServiceAnswer, ServiceQuestion } from './ask-service.ts'
import type { ArgoPorts } from '../served/ports.ts'

/** Argo CD asks services every 30 minutes. */
const KEPT_S = 1800
const LEAST_S = 30
const FAILED_MS = 60_000
/** The number of questions of one set. */
const MAX_QUESTIONS = 200

interface Known {
  readonly answer: ServiceAnswer
  readonly untilMs: number
}

/** The answers of one set in one pass. */
export interface Answers {
  /** The answer; undefined while it was not asked. */
  of(question: ServiceQuestion): ServiceAnswer | undefined
  /** Asks; returns why there are too many questions. */
  ask(questions: readonly ServiceQuestion[], signal: AbortSignal): Promise<string | undefined>
  /** Forgets what was not used; milliseconds until the first answer is asked again. */
  finish(): number | undefined
}

/** The answers of all sets, by `namespace/name`. */
export interface AnswerCache {
  open(set: string, namespace: string, nowMs: number): Answers
  forget(set: string): void
}

/** Creates an empty cache. */
export function createAnswerCache(ports: Pick<ArgoPorts, 'askService'>): AnswerCache {
  const sets = new Map<string, Map<string, Known>>()
  return {
    forget: (set) => void sets.delete(set),
    open(set, namespace, nowMs) {
      const known = new Map([...(sets.get(set) ?? [])].filter(([, { untilMs }]) => untilMs > nowMs))
      const used = new Set<string>()
      return {
        of(question) {
          const key = digestOfJson(question)
          used.add(key)
          return known.get(key)?.answer
        },
        async ask(questions, signal) {
          if (known.size + questions.length > MAX_QUESTIONS)
            return `the generators ask services more than ${MAX_QUESTIONS} questions`
          const budget = new AnswerBudget(
            'the answers for this ApplicationSet have',
            'let the services answer less, or split the ApplicationSet',
          )
          for (const [key, { answer }] of known) if (used.has(key) && !('failure' in answer)) budget.add(answer)
          for (const question of questions) {
            const asked = await ports.askService(namespace, question, signal)
            const problem = 'failure' in asked ? undefined : budget.add(asked)
            const answer = problem === undefined ? asked : { failure: problem, isNotFound: false }
            const keptMs = 'failure' in answer ? FAILED_MS : keptSeconds(question) * 1000
            known.set(digestOfJson(question), { answer, untilMs: nowMs + keptMs })
            sets.set(set, known)
          }
          return undefined
        },
        finish() {
          for (const key of known.keys()) if (!used.has(key)) known.delete(key)
          if (known.size === 0) sets.delete(set)
          else sets.set(set, known)
          const next = Math.min(...[...known.values()].map(({ untilMs }) => untilMs - nowMs))
          return known.size === 0 ? undefined : Math.max(1000, next)
        },
      }
    },
  }
}

function keptSeconds({ generator }: ServiceQuestion): number {
  const asked = generator['requeueAfterSeconds']
  return typeof asked === 'number' && Number.isInteger(asked) && asked > 0 ? Math.max(LEAST_S, asked) : KEPT_S
}

/** The type of Secrets whose values may be sent to a git service. */
const SCM_CREDS = 'scm-creds'
/** The label of what belongs to Argo CD, as the Secrets of plugins have it there. */
const PART_OF = 'app.kubernetes.io/part-of'

/** The port that asks over the network. */
export function createServicePort(
  client: Client,
  { httpGet, clock }: { readonly httpGet?: HttpGet | undefined; readonly clock: Clock },
): Pick<ArgoPorts, 'askService'> {
  return {
    async askService(namespace, question, signal) {
      if (!httpGet) return { failure: 'this hub has no network', isNotFound: false }
      const valueOf = async (name: string, key: string, label: string, meant: string) => {
        const secret = await findObject(client, Secret, { namespace, name }, signal)
        if (!secret) return { problem: `there is no Secret ${name} in namespace ${namespace}` }
        // Users who may write sets choose the address: only Secrets that are meant for it are sent there.
        if (secret.metadata.labels?.[label] !== meant)
          return { problem: `Secret ${name} must have the label ${label}: ${meant}` }
        // Charts put the label of Argo CD's own parts on the Secrets of repositories and clusters, too.
        const type = label === SECRET_TYPE ? undefined : secret.metadata.labels?.[SECRET_TYPE]
        if (type !== undefined)
          return {
            problem: `Secret ${name} has the label ${SECRET_TYPE}: ${type}, and what it holds is not sent to plugins: put the token of the plugin into a Secret of its own`,
          }
        const value = secret.data?.[key]
        if (value === undefined) return { problem: `Secret ${name} has no key ${key}` }
        return { token: fromUtf8(fromBase64(value)).trim() }
      }
      return await askService(question, {
        httpGet,
        clock,
        token: (name, key) => valueOf(name, key, SECRET_TYPE, SCM_CREDS),
        pluginToken: (name, key) => valueOf(name, key, PART_OF, 'argocd'),
        configMap: async (name) => {
          const found = await findObject(client, ConfigMap, { namespace, name }, signal)
          return found && (found.data ?? {})
        },
        signal,
      })
    },
  }
}
